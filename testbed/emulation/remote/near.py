"""This machine's part of a run on another one."""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
import signal
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

import msgspec

from testbed.emulation.remote.job import Job, packed
from testbed.errors import InputError, TestbedError
from testbed.run.deploy import Outcome, point_latest
from testbed.run.engine import Event
from testbed.run.folder import RunFolder, make_results

FORM = re.compile(r"((?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9_][A-Za-z0-9_.-]*)(?::(.+))?")
FOLDER = "testbed"
UNREACHABLE = 255  # ssh's own failures; everything else is the other side's


@dataclass(frozen=True)
class Place:
    """A machine, and the folder of the testbed there (seen from the home folder)."""

    host: str
    folder: str

    def command(self) -> list[str]:
        far = "exec .venv/bin/python -m testbed.emulation.remote.far"
        return ["ssh", "-T", self.host, f"cd -- {shlex.quote(self.folder)} && {far}"]


def parse_place(text: str) -> Place:
    """[USER@]HOST[:FOLDER]; a host that ssh would take for an option is refused."""
    match = FORM.fullmatch(text)
    if match is None:
        raise InputError(f"{text!r} is no machine", hint="write it like user@host:folder")
    return Place(match[1], (match[2] or FOLDER).removeprefix("~/"))


def deploy_on(place: Place, job: Job, results: Path, on_event: Callable[[Event], None]) -> Outcome:
    """Run the job there and bring its folder here. Ctrl-C ends the run in order, a second one at once."""
    home = results / job.plan.name
    make_results(home)
    with connected(place) as ssh, interrupts(ssh):
        assert ssh.stdin is not None
        assert ssh.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # then it has ended, and says why
            ssh.stdin.write(msgspec.json.encode(packed(job)) + b"\n")
            ssh.stdin.flush()
        outcome = follow(place, ssh, on_event)
        folder = receive(ssh.stdout, home, outcome["run"])
    run = RunFolder(folder)
    return Outcome(run, run.read_manifest(), run.read_fidelity(), int(outcome["code"]), False)


@contextlib.contextmanager
def connected(place: Place) -> Iterator[subprocess.Popen[bytes]]:
    """The connection. It does not hear our Ctrl-C, so that it can still bring the results."""
    try:
        ssh = subprocess.Popen(
            place.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        )  # fmt: skip
    except FileNotFoundError:
        raise TestbedError("there is no ssh", hint="sudo apt-get install -y openssh-client") from None
    try:
        yield ssh
    finally:
        for pipe in (ssh.stdin, ssh.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
        ssh.wait()


@contextlib.contextmanager
def interrupts(ssh: subprocess.Popen[bytes]) -> Iterator[None]:
    came: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        came.append(number)
        if len(came) > 1 or ssh.stdin is None:
            ssh.terminate()
        else:
            ssh.stdin.close()

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def follow(place: Place, ssh: subprocess.Popen[bytes], on_event: Callable[[Event], None]) -> Event:
    """Show the progress until the outcome comes; raises when the other side refuses or goes away."""
    assert ssh.stdout is not None
    for line in ssh.stdout:
        event: Event = msgspec.json.decode(line)
        if event["t"] == "outcome":
            return event
        if event["t"] == "refused":
            kind = InputError if event["code"] == InputError.exit_code else TestbedError
            raise kind(f"{place.host}: {event['message']}", hint=event["hint"])
        on_event(event)
    raise gone(place, ssh.wait())


def gone(place: Place, code: int) -> TestbedError:
    if code == UNREACHABLE:
        return TestbedError(f"the connection to {place.host} failed", hint=f"try: ssh {place.host} true")
    there = f"{place.host}:{place.folder}"
    hint = f"clone the testbed there and run 'make setup' in it (ssh {place.host})"
    return TestbedError(f"the testbed in {there} did not run (exit code {code})", hint=hint)


def receive(stream: IO[bytes], home: Path, run: str) -> Path:
    """The run folder, whole or not at all; `latest` points to it."""
    if not re.fullmatch(r"[A-Za-z0-9-]+", run):
        raise TestbedError(f"the other side names its run {run!r}")
    arriving, folder = home / f".arriving-{run}", (home / run).resolve()
    try:
        with tarfile.open(fileobj=stream, mode="r|gz") as archive:
            unpack(archive, arriving)
        arriving.rename(folder)
    except (OSError, tarfile.TarError, EOFError) as error:
        shutil.rmtree(arriving, ignore_errors=True)
        raise TestbedError(f"the run {run} did not arrive whole: {error}", hint="it is still there") from None
    point_latest(folder)
    return folder


def unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """Only plain files and folders, and only below our own: the other side is not trusted with more.

    (Python's own filter for this is younger than Debian 12's Python.)
    """
    folder.mkdir()
    for member in archive:
        parts = PurePosixPath(member.name)
        if parts.is_absolute() or ".." in parts.parts or not (member.isfile() or member.isdir()):
            raise tarfile.TarError(f"{member.name!r} does not belong into a run folder")
        archive.extract(member, folder, set_attrs=False)
