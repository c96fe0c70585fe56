"""`testbed deploy --on`: the same file on another machine. ssh is a stand-in that runs the command here."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from testbed.cli.deploy import command
from testbed.emulation.remote.near import parse_place, receive
from testbed.errors import InputError, TestbedError
from testbed.run.folder import RunFolder

TOPOLOGY = """\
name: far-away
duration: {duration}
network: {{generator: chain, nodes: 2}}
brokers: {{B: {{count: 2}}}}
clients:
  p: {{broker: B1, publish: {{source: stock, rate: {rate}, parameters: {{symbol: YHOO}}}}}}
  s: {{broker: B2, subscribe: ["[class,eq,'STOCK']"]}}
"""
# ssh -T HOST COMMAND: the login's home is a folder of the test's.
SSH = '#!/bin/sh\n[ "$1" = -T ] || exit 9\ncd "$FAR_HOME" || exit 9\n{before}\nexec sh -c "$3"\n'


class Two:
    """Two machines: this one in `near`, the other in `far`, where the testbed is set up in ~/testbed."""

    def __init__(self, folder: Path, repository: Path) -> None:
        self.near, self.far, self.bin = folder / "near", folder / "far", folder / "bin"
        for place in (self.near, self.far / "testbed", self.bin):
            place.mkdir(parents=True)
        (self.far / "testbed" / ".venv").symlink_to(repository / ".venv")
        self.ssh("")
        self.topology()

    def ssh(self, before: str) -> None:
        path = self.bin / "ssh"
        path.write_text(SSH.replace("{before}", before))
        path.chmod(0o755)

    def topology(self, duration: str = "5s", rate: str = "60/min") -> None:
        (self.near / "t.yaml").write_text(TOPOLOGY.format(duration=duration, rate=rate))

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        environment = {
            **os.environ,
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "FAR_HOME": str(self.far),
        }
        argv = [sys.executable, "-c", "from testbed.cli import main; main()", "deploy", "t.yaml", *arguments]
        return subprocess.Popen(
            argv, cwd=self.near, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def refused(self, *arguments: str) -> tuple[int, str]:
        """In this process: exit code, and message with its fix."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", f"{self.bin}:{os.environ['PATH']}")
            patch.setenv("FAR_HOME", str(self.far))
            patch.chdir(self.near)
            error = CliRunner().invoke(command, ["t.yaml", *arguments], standalone_mode=False).exception
        assert isinstance(error, TestbedError | click.UsageError), error
        hint = error.hint if isinstance(error, TestbedError) else ""
        return error.exit_code, f"{error}\nfix: {hint}"

    def here(self) -> RunFolder:
        return RunFolder((self.near / "results" / "far-away" / "latest").resolve())


@pytest.fixture
def two(tmp_path: Path, repository: Path) -> Two:
    return Two(tmp_path, repository)


def test_a_run_elsewhere_comes_back_whole(two: Two) -> None:
    started = two.start("--on", "me@other", "--engine", "simulate", "--seed", "7")
    out, err = started.communicate(timeout=300)
    assert started.returncode == 0, err
    run = two.here()
    assert str(run.path) in out
    manifest = run.read_manifest()
    assert (manifest.status, manifest.engine, manifest.seed) == ("done", "simulate", 7)
    assert "--on me@other" in manifest.command
    assert run.topology.read_text() == (two.near / "t.yaml").read_text()
    there = two.far / "testbed" / "results" / "far-away" / run.path.name
    assert {p.relative_to(run.path) for p in run.path.rglob("*")} == {
        p.relative_to(there) for p in there.rglob("*")
    }
    assert not list(run.path.parent.glob(".arriving*"))


def test_a_bad_file_is_refused_before_anything_is_sent(two: Two) -> None:
    two.ssh("touch called")
    (two.near / "t.yaml").write_text("name: x\n")
    code, err = two.refused("--on", "other")
    assert code == 2
    assert "'network' is missing" in err
    assert not (two.far / "called").exists()


def test_what_the_other_side_cannot_do_is_told_in_its_words(two: Two) -> None:
    code, err = two.refused("--on", "other", "--engine", "simulate", "--clock", "real")
    assert code == 2
    assert "other: the simulate engine has no real clock" in err


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("exit 255", "the connection to other failed\nfix: try: ssh other true"),
        ("rm testbed/.venv", "the testbed in other:testbed did not run (exit code 127)\nfix: clone"),
    ],
)
def test_a_machine_that_cannot_be_used(two: Two, before: str, expected: str) -> None:
    two.ssh(before)
    code, err = two.refused("--on", "other")
    assert code == 1
    assert expected in err


def test_ctrl_c_ends_the_run_there_and_brings_what_there_is(two: Two) -> None:
    two.topology(duration="10h", rate="50/s")
    started = two.start("--on", "other", "--engine", "simulate")
    assert started.stderr is not None
    for line in started.stderr:
        if "ready" in line:
            break
    time.sleep(0.2)
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=300)
    assert started.returncode == 1, err
    assert two.here().read_manifest().status == "aborted"


def test_options_that_make_no_sense_elsewhere(two: Two) -> None:
    for option in ("--keep", "--watch", "--dry-run"):
        assert two.refused("--on", "other", option)[0] == 2


@pytest.mark.parametrize(
    "text",
    ["-oProxyCommand=x", "", "a b", "host;ls", ":folder", "user@-x", "-oProxyCommand=x@host", "-x@host"],
)
def test_a_host_that_ssh_could_misunderstand(text: str) -> None:
    with pytest.raises(InputError, match="is no machine"):
        parse_place(text)


def test_a_folder_never_reaches_the_shell_unquoted() -> None:
    command = parse_place("me@host:~/a b; rm -rf x").command()
    assert command[:3] == ["ssh", "-T", "me@host"]
    assert command[3].startswith("cd -- 'a b; rm -rf x' && exec ")


def test_files_of_this_machine_travel_with_the_plan(two: Two) -> None:
    (two.near / "quotes.txt").write_text("[class,'STOCK'],[symbol,'FAR']\n")
    text = TOPOLOGY.format(duration="3s", rate="60/min")
    text = text.replace("source: stock", "source: trace").replace("symbol: YHOO", "file: quotes.txt")
    (two.near / "t.yaml").write_text(text)
    started = two.start("--on", "other", "--engine", "simulate")
    _, err = started.communicate(timeout=300)
    assert started.returncode == 0, err
    assert "[symbol,'FAR']" in (two.here().events / "simulation.jsonl").read_text()
    (copy,) = (two.here().path / "inputs").iterdir()
    assert copy.read_text() == (two.near / "quotes.txt").read_text()


def packed(name: str, kind: bytes = tarfile.REGTYPE) -> io.BytesIO:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w|gz") as archive:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, "/etc/passwd"
        archive.addfile(member)
    out.seek(0)
    return out


@pytest.mark.parametrize(
    "stream",
    [packed("../up"), packed("/etc/x"), packed("link", tarfile.SYMTYPE), io.BytesIO(b"half a tar")],
)
def test_an_archive_that_is_no_run_folder_leaves_nothing(tmp_path: Path, stream: io.BytesIO) -> None:
    with pytest.raises(TestbedError, match="did not arrive whole"):
        receive(stream, tmp_path, "20260101T000000-abcd")
    assert list(tmp_path.iterdir()) == []
