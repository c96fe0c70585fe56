"""`testbed validate` and `testbed topology`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from testbed.cli import main
from testbed.topology.load import load_plan_file

PANDA = "0 ADD A 10.0.0.1 bin/startbroker -uri socket://10.0.0.1:10000/A\n"


def run(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as caught:
        main([str(argument) for argument in arguments])
    assert isinstance(caught.value.code, int)
    return caught.value.code


def test_validate_all_shipped_files(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted((repository / "topologies").glob("*.yaml"))
    assert run("validate", *files) == 0
    assert capsys.readouterr().out.count(": good (") == len(files)


def test_validate_tells_every_problem_and_exits_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("name: x\nnetwrok: {}\nseed: y\n")
    assert run("validate", bad) == 2
    lines = capsys.readouterr().out.splitlines()
    assert f"{bad}:2:1: unknown key 'netwrok'; did you mean 'network'?" in lines
    assert f"{bad}:3:7: seed must be a whole number, not a text; write a whole number" in lines
    assert len(lines) == 4  # and two missing sections


def test_validate_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("- no mapping\n")
    assert run("validate", "--json", bad) == 2
    problem = json.loads(capsys.readouterr().out)
    assert (problem["line"], problem["message"]) == (1, "the file is not a mapping")


def test_show_draws_and_summarises(
    tmp_path: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "picture.svg"
    assert run("topology", "show", repository / "topologies" / "quickstart.yaml", "--out", out) == 0
    text = capsys.readouterr().out
    for word in ("7 brokers", "7 hosts, 10 switches, 16 links", "RTT", "longest path 4 hops"):
        assert word in text
    svg = out.read_text()
    assert svg.startswith("<?xml")
    assert svg.count("<use") > 40  # letters and markers
    again = tmp_path / "again.svg"
    assert run("topology", "show", repository / "topologies" / "quickstart.yaml", "--out", again) == 0
    assert again.read_text() == svg


def test_show_refuses_unknown_pictures(
    tmp_path: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = repository / "topologies" / "quickstart.yaml"
    assert run("topology", "show", file, "--out", tmp_path / "x.doc") == 2
    assert "name it .svg" in capsys.readouterr().err


def test_import_rtt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    matrix, out = tmp_path / "m.txt", tmp_path / "t.yaml"
    matrix.write_text("0 10 20\n10 0 30\n20 30 0\n")
    assert run("topology", "import-rtt", matrix, "--sites", "2", "--seed", "4", "--out", out) == 0
    assert len(load_plan_file(out).brokers) == 2
    assert run("topology", "import-rtt", matrix, "--out", out) == 2  # does not overwrite
    matrix.write_text("0 10\n")
    assert run("topology", "import-rtt", matrix) == 2
    assert "m.txt: a matrix needs two sites or more; a matrix of round trips is" in capsys.readouterr().err
    matrix.write_text("0 10\n10 zero\n")
    assert run("topology", "import-rtt", matrix) == 2
    assert "m.txt:2:4: 'zero' is no number of milliseconds" in capsys.readouterr().err
    assert run("topology", "import-rtt", tmp_path / "absent.txt") == 2
    assert "absent.txt: there is no such file" in capsys.readouterr().err


def test_import_and_export_panda(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old file.txt", tmp_path / "new.yaml"
    old.write_text(PANDA)
    assert run("topology", "import-panda", old, "--out", new) == 0
    assert load_plan_file(new).name == "old-file"
    capsys.readouterr()
    assert run("topology", "export-panda", new) == 0
    assert PANDA.strip() in capsys.readouterr().out
    old.write_text("what\n")
    assert run("topology", "import-panda", old) == 2


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("topology", "schema") == 0
    assert json.loads(capsys.readouterr().out)["title"] == "TopologyFile"


def test_a_bad_file_starts_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("name: x\n")
    assert run("deploy", bad, "--results", tmp_path / "results") == 2
    assert not (tmp_path / "results").exists()
    assert "'network' is missing" in capsys.readouterr().err
