"""What every client of a running guest can do: start commands, hear of them, stop the guest."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path

from testbed.emulation.guest.client import Connection, Message
from testbed.emulation.guest.control import ControlFolder
from testbed.emulation.guest.errors import GuestDied, died
from testbed.emulation.guest.process import Finished, GuestProcess
from testbed.emulation.readable import readable

STOP_GRACE_SECONDS = 10.0
CONTROL_INSIDE = "/run/testbed"


class GuestHandle:
    """A connection to a guest's keeper. Not for use from several threads."""

    def __init__(self, control: ControlFolder, env: Mapping[str, str], cwd: Path) -> None:
        self.control = control
        self.env = env
        self.cwd = cwd
        self.dead = False
        self.detached = False
        self.connection: Connection | None = None
        self._code: int | None = None
        self._processes: dict[int, GuestProcess] = {}
        self._started: list[int] = []

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: bytes | None = None,
        timeout: float | None = None,
    ) -> Finished:
        """Run a command to its end; `timeout` is in real seconds."""
        return self.start(argv, env=env, cwd=cwd, stdin=stdin).finish(timeout)

    def start(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: bytes | None = None,
        terminal: tuple[int, int] | None = None,
    ) -> GuestProcess:
        """Start a command. `terminal` gives it a terminal of (rows, columns) instead of files."""
        rows, columns = terminal or (0, 0)
        job: Message = {
            "argv": list(argv),
            "env": dict(self.env if env is None else env),
            "cwd": str(cwd or self.cwd),
            "stdin": self._input_file(stdin),
            "tty": terminal is not None,
            "rows": rows,
            "columns": columns,
        }
        return self._processes[self._submit(job)]

    def _input_file(self, stdin: bytes | None) -> str | None:
        if stdin is None:
            return None
        name = f"jobs/input-{sum(1 for _ in self.control.jobs.glob('input-*')) + 1}"
        (self.control.path / name).write_bytes(stdin)
        return f"{CONTROL_INSIDE}/{name}"

    def _submit(self, job: Message) -> int:
        """Hand a job to the guest; returns its number."""
        self.send({"op": "start", "job": job})
        while not self._started:
            self.pump(1.0)
            if self.dead:
                raise self.death()
        return self._started.pop(0)

    def send(self, message: Message) -> None:
        if self.connection is not None:
            self.connection.send(message)

    def pump(self, seconds: float) -> None:
        """Wait at most so long for news of the guest, and take in what there is."""
        if self.dead or self.connection is None:
            return
        if not readable([self.connection], seconds):
            return
        messages, open_ = self.connection.receive()
        for message in messages:
            self._news(message)
        if not open_:
            self.dead = True

    def _news(self, message: Message) -> None:
        op = message["op"]
        process = self._processes.get(message.get("id", 0))
        if op == "started":
            self._register(message["id"])
            self._started.append(message["id"])
        elif op == "exited" and process:
            process.code = message["code"]
        elif op == "output" and process:
            process.terminal_output += base64.b64decode(message["data"])
        elif op == "detached":
            self.detached = True
        elif op == "dead":
            self.dead, self._code = True, message["code"]

    def _register(self, number: int) -> None:
        """Before anything is heard of it: its output and its end may come with the same news."""
        self._processes[number] = GuestProcess(self, number)

    def recorded_exit(self, number: int) -> int | None:
        """The exit code that the guest wrote down, if it came so far."""
        path = self.control.output(number, "exit")
        text = path.read_text(encoding="ascii") if path.exists() else ""
        return int(text) if text else None

    def death(self) -> GuestDied:
        """The error that says why this guest is gone."""
        return died(self.control, self._code)

    def stop(self, grace: float = STOP_GRACE_SECONDS) -> None:
        """Ask the commands to end and power off; after `grace` real seconds everything is killed."""
        self.send({"op": "stop", "grace": grace})
        self._until_dead()

    def kill(self) -> None:
        """End the guest at once."""
        self.send({"op": "kill"})
        self._until_dead()

    def _until_dead(self) -> None:
        while self.connection is not None and not self.dead:
            self.pump(1.0)
