"""Boot a guest, run commands in it, stop it.

    with Guest(GuestSpec(kernel=require())) as guest:
        done = guest.run(["ip", "link"])          # done.code, done.out, done.err
        server = guest.start(["sleep", "100"])    # server.lines(), server.signal(), server.wait()

The guest boots at the first command, which is known to it before its clock starts: a guest that runs one command
does exactly the same every time. Not for use from several threads.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from testbed.emulation.guest import control as control_folders
from testbed.emulation.guest import preflight
from testbed.emulation.guest.bootline import REPOSITORY, boot_line
from testbed.emulation.guest.client import Connection, Message, connect
from testbed.emulation.guest.control import ControlFolder
from testbed.emulation.guest.errors import GuestDied, died
from testbed.emulation.guest.keeper import CONSOLE_FD, LINE_FD
from testbed.emulation.guest.process import Finished, GuestProcess
from testbed.emulation.guest.spec import GuestSpec

__all__ = ["Finished", "Guest", "GuestDied", "GuestProcess", "GuestSpec"]

STOP_GRACE_SECONDS = 10.0
CONTROL_INSIDE = "/run/testbed"


class Guest:
    """One guest machine, owned by this process until `detach`."""

    def __init__(self, spec: GuestSpec) -> None:
        self.spec = spec
        self.control = control_folders.create()
        self.dead = False
        self.detached = False
        self._code: int | None = None
        self._connection: Connection | None = None
        self._keeper: subprocess.Popen[bytes] | None = None
        self._processes: dict[int, GuestProcess] = {}
        self._started: list[int] = []
        self._inputs = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.detached:
            self.close()

    def run(self, argv: Sequence[str], *, timeout: float | None = None, **options: object) -> Finished:
        """Run a command to its end. The options are those of `start`."""
        return self.start(argv, **options).finish(timeout)  # type: ignore[arg-type]

    def start(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: bytes | None = None,
        terminal: tuple[int, int] | None = None,
    ) -> GuestProcess:
        """Start a command; boots the guest if it is the first. `terminal` gives it one of (rows, columns)."""
        rows, columns = terminal or (0, 0)
        job: Message = {
            "argv": list(argv),
            "env": dict(self.spec.env if env is None else env),
            "cwd": str(cwd or self.spec.cwd),
            "stdin": self._input_file(stdin),
            "tty": terminal is not None,
            "rows": rows,
            "columns": columns,
        }
        number = self._boot(job) if self._connection is None else self._request_start(job)
        process = GuestProcess(self, number)
        self._processes[number] = process
        return process

    def _input_file(self, stdin: bytes | None) -> str | None:
        if stdin is None:
            return None
        self._inputs += 1
        name = f"jobs/input-{self._inputs}"
        (self.control.path / name).write_bytes(stdin)
        return f"{CONTROL_INSIDE}/{name}"

    def _boot(self, job: Message) -> int:
        memory = preflight.check(self.spec)
        self.control.job(1).write_text(json.dumps(job), encoding="utf-8")
        self.control.setup.write_text(json.dumps(self._setup()), encoding="utf-8")
        launch = {
            "boot_line": boot_line(self.spec, self.control.path, CONSOLE_FD, LINE_FD),
            "environment": {"TMPDIR": str(memory), "PATH": os.defpath, "HOME": str(self.control.path)},
            "clock": self.spec.clock,
            "first_jobs": [1],
            "cpu": self._cpu(),
        }
        self._start_keeper(launch)
        self._send({"op": "adopt", "id": 1})
        return 1

    def _setup(self) -> Message:
        shared = [REPOSITORY, sys.prefix, sys.base_prefix, self.spec.cwd, *self.spec.shared]
        return {
            "clock": self.spec.clock,
            "hostname": self.spec.hostname,
            "seed": self.spec.seed if self.spec.clock == "virtual" else None,
            "shared": [os.path.abspath(path) for path in shared],
            "openvswitch": self.spec.openvswitch,
            "first_jobs": [1],
        }

    def _cpu(self) -> int | None:
        if self.spec.cpu is None:
            return preflight.idlest_cpu()
        return None if self.spec.cpu < 0 else self.spec.cpu

    def _start_keeper(self, launch: Message) -> None:
        ours, theirs = socket.socketpair()
        with self.control.keeper_log.open("wb") as log, theirs:
            self._keeper = subprocess.Popen(
                [sys.executable, "-m", "testbed.emulation.guest.keeper", str(self.control.path), str(theirs.fileno())],
                cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=log, stderr=log,
                pass_fds=(theirs.fileno(),), start_new_session=True,
            )  # fmt: skip
        assert self._keeper.stdin is not None
        self._keeper.stdin.write(json.dumps(launch).encode())
        self._keeper.stdin.close()
        self._connection = Connection(ours)

    def _request_start(self, job: Message) -> int:
        self._send({"op": "start", "job": job})
        while not self._started:
            self.pump(1.0)
            if self.dead:
                raise self.death()
        return self._started.pop(0)

    def _send(self, message: Message) -> None:
        assert self._connection is not None
        self._connection.send(message)

    send = _send

    def pump(self, seconds: float) -> None:
        """Wait at most so long for news of the guest, and take in what there is."""
        if self.dead or self._connection is None:
            return
        if not select.select([self._connection], [], [], seconds)[0]:
            return
        messages, open_ = self._connection.receive()
        for message in messages:
            self._news(message)
        if not open_:
            self.dead = True

    def _news(self, message: Message) -> None:
        op = message["op"]
        process = self._processes.get(message.get("id", 0))
        if op == "started":
            self._started.append(message["id"])
        elif op == "exited" and process:
            process.code = message["code"]
        elif op == "output" and process:
            import base64

            process.terminal_output += base64.b64decode(message["data"])
        elif op == "detached":
            self.detached = True
        elif op == "dead":
            self.dead, self._code = True, message["code"]

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
        if self._connection is None or self.dead:
            return
        self._send({"op": "stop", "grace": grace})
        while not self.dead:
            self.pump(1.0)

    def kill(self) -> None:
        """End the guest at once."""
        if self._connection is not None and not self.dead:
            self._send({"op": "kill"})
            while not self.dead:
                self.pump(1.0)

    def detach(self) -> ControlFolder:
        """Leave the guest running when this process ends; `attach` finds it by its control folder."""
        self._send({"op": "detach"})
        while not (self.detached or self.dead):
            self.pump(1.0)
        if self.dead:
            raise self.death()
        return self.control

    def close(self) -> None:
        """Stop, and remove the control folder."""
        try:
            self.stop()
        except BaseException:
            self.kill()
            raise
        finally:
            if self._connection is not None:
                self._connection.close()
            if self._keeper is not None:
                self._keeper.wait()
            shutil.rmtree(self.control.path, ignore_errors=True)
