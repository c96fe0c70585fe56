"""The command group: exit codes, messages, suggestions, and how little it imports."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import testbed.cli as cli
from testbed.cli import app as application

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def verbs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose modules are verbs, beside none of the real ones."""
    monkeypatch.setattr(cli, "__path__", [str(tmp_path)])
    for name in ("trial", "second_trial", "broken"):
        monkeypatch.delitem(sys.modules, f"testbed.cli.{name}", raising=False)
    return tmp_path


def write_verb(folder: Path, body: str, name: str = "trial") -> None:
    source = "import click\nfrom testbed.errors import InputError, RunFailed, TestbedError\n\n"
    source += "@click.command()\ndef command():\n    '''Try a thing.'''\n" + textwrap.indent(
        textwrap.dedent(body), "    "
    )
    (folder / f"{name}.py").write_text(source)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line; gives exit code, standard output and standard error."""

    def call(*argv: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            application.main(list(argv))
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, captured.out, captured.err

    return call


def test_bad_input_is_exit_2_and_two_lines_with_place_and_fix(verbs: Path, run: Run) -> None:
    write_verb(verbs, "raise InputError('no such broker', file='a.yaml', line=3, column=7, hint='name b1')")
    assert run("trial") == (2, "", "error: a.yaml:3:7: no such broker\nfix: name b1\n")


def test_failed_run_is_exit_1(verbs: Path, run: Run) -> None:
    write_verb(verbs, "raise RunFailed('broker b3 died', hint='see logs/b3.log')")
    assert run("trial") == (1, "", "error: broker b3 died\nfix: see logs/b3.log\n")


def test_an_error_without_a_hint_is_one_line(verbs: Path, run: Run) -> None:
    write_verb(verbs, "raise TestbedError('out of luck')")
    assert run("trial") == (1, "", "error: out of luck\n")


def test_a_defect_is_exit_1_without_traceback(verbs: Path, run: Run) -> None:
    write_verb(verbs, "raise KeyError('b1')")
    code, _, err = run("trial")
    assert code == 1
    assert err.startswith("error: unexpected KeyError: 'b1'\nfix: ")
    assert "Traceback" not in err
    assert len(err.splitlines()) == 2


@pytest.mark.parametrize("argv", [("--debug", "trial"), ("trial", "--debug")])
def test_debug_shows_the_traceback_wherever_it_stands(verbs: Path, run: Run, argv: tuple[str, ...]) -> None:
    write_verb(verbs, "raise RunFailed('broker b3 died')")
    code, _, err = run(*argv)
    assert code == 1
    assert "Traceback" in err
    assert err.endswith("error: broker b3 died\n")


def test_debug_by_environment(verbs: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTBED_DEBUG", "1")
    write_verb(verbs, "raise RunFailed('broker b3 died')")
    assert "Traceback" in run("trial")[2]


def test_debug_behind_a_double_dash_belongs_to_the_verb() -> None:
    assert application.split_debug(["exec", "--", "ls", "--debug"]) == (
        ["exec", "--", "ls", "--debug"],
        False,
    )


@pytest.mark.parametrize(
    ("statement", "code"), [("return None", 0), ("return 1", 1), ("raise SystemExit(2)", 2)]
)
def test_the_verb_decides_the_exit_code(verbs: Path, run: Run, statement: str, code: int) -> None:
    write_verb(verbs, statement)
    assert run("trial")[0] == code


def test_unknown_verb_suggests_the_nearest(verbs: Path, run: Run) -> None:
    write_verb(verbs, "pass")
    assert run("trail") == (2, "", "error: there is no verb 'trail'\nfix: did you mean 'testbed trial'?\n")


def test_unknown_verb_like_no_other_points_to_the_list(verbs: Path, run: Run) -> None:
    write_verb(verbs, "pass")
    assert run("zzzz") == (2, "", "error: there is no verb 'zzzz'\nfix: 'testbed --help' lists the verbs\n")


def test_unknown_option_is_exit_2_and_names_the_help(verbs: Path, run: Run) -> None:
    write_verb(verbs, "pass")
    code, _, err = run("trial", "--nonsense")
    assert code == 2
    assert "--nonsense" in err
    assert "fix: 'testbed trial --help' shows the right use" in err


def test_no_verb_is_wrong_use_and_shows_the_help(run: Run) -> None:
    code, _, err = run()
    assert code == 2
    assert err.startswith("Usage: testbed")


def test_underscores_become_dashes(verbs: Path, run: Run) -> None:
    write_verb(verbs, "click.echo('done')", name="second_trial")
    assert run("second-trial") == (0, "done\n", "")


def test_help_lists_a_verb_that_cannot_be_imported(verbs: Path, run: Run) -> None:
    write_verb(verbs, "pass", name="broken")
    path = verbs / "broken.py"
    path.write_text("import there_is_no_such_module\n" + path.read_text())
    code, out, _ = run("--help")
    assert code == 0
    assert re.search(r"broken\s+Try a thing", out)
    assert run("broken")[0] == 1


def test_a_module_without_command_is_no_verb(verbs: Path) -> None:
    (verbs / "helpers.py").write_text("def something(): ...\n")
    assert application.verb_help() == {}


def test_sections_keep_their_order_and_lose_no_verb() -> None:
    verbs = dict.fromkeys(["zebra", "doctor", "analyze", "deploy"], "help")
    listed = list(application.sections(verbs))
    assert [verb for _, here in listed for verb in here] == ["deploy", "analyze", "doctor", "zebra"]
    assert listed[-1] == ("More", ["zebra"])


def real_verbs() -> list[str]:
    return sorted(application.verb_help())


@pytest.mark.parametrize("verb", real_verbs())
def test_every_verb_has_one_line_help_and_examples(verb: str) -> None:
    assert 10 < len(application.verb_help()[verb]) < 100
    shown = CliRunner().invoke(application.app, [verb, "--help"], prog_name="testbed")
    assert shown.exit_code == 0, shown.output
    assert "Examples:" in shown.output
    assert f"testbed {verb}" in shown.output.partition("Examples:")[2]


def test_help_is_quick_because_it_imports_no_verb_and_nothing_heavy() -> None:
    script = (
        "import json, sys\nfrom testbed.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    print('MODULES' + json.dumps([*sys.modules]))"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    modules = set(json.loads(shown.stdout.partition("MODULES")[2]))
    heavy = {
        "grpc",
        "matplotlib",
        "mininet",
        "msgspec",
        "numpy",
        "pydantic",
        "pyspark",
        "rich",
        "ryu",
        "yaml",
    }
    assert not heavy & modules
    assert {name for name in modules if name.startswith("testbed.cli")} == {"testbed.cli", "testbed.cli.app"}


WAITING = "import time\nprint('waiting', flush=True)\ntime.sleep(600)\n"


def test_interrupt_is_exit_130_without_traceback(tmp_path: Path) -> None:
    write_verb(tmp_path, WAITING)
    script = "import sys, testbed.cli as cli\ncli.__path__.append(sys.argv[1])\ncli.main(['trial'])"
    argv = [sys.executable, "-c", script, str(tmp_path)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err.strip()) == (130, "interrupted")


def test_a_reader_that_goes_away_is_nothing_to_talk_about(repository: Path) -> None:
    command = f"{sys.executable} -c 'from testbed.cli import main; main([\"--help\"])' | true"
    shown = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, cwd=repository, check=True
    )
    assert (shown.stdout, shown.stderr) == ("", "")


def test_ctrl_c_while_it_is_still_being_imported_is_one_word() -> None:
    code = """
import sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from testbed.cli import main
main(["doctor"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
