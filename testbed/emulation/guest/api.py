"""Boot a guest, run commands in it, stop it; or attach to one that was left running.

    with Guest(GuestSpec(kernel=require())) as guest:
        done = guest.run(["ip", "link"])          # done.code, done.out, done.err
        server = guest.start(["sleep", "100"])    # server.lines(), server.signal(), server.wait()

The guest boots at the first command, which is known to it before its clock starts: a guest that runs one
command does exactly the same every time.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from testbed.emulation.guest import control as control_folders
from testbed.emulation.guest import pinning, preflight
from testbed.emulation.guest.bootline import REPOSITORY, boot_line
from testbed.emulation.guest.client import Connection, Message, connect
from testbed.emulation.guest.control import ControlFolder
from testbed.emulation.guest.errors import GuestDied, GuestTimeout
from testbed.emulation.guest.handle import GuestHandle
from testbed.emulation.guest.inside.mounts import is_hidden
from testbed.emulation.guest.keeper import CONSOLE_FD, LINE_FD
from testbed.emulation.guest.process import Finished, GuestProcess
from testbed.emulation.guest.spec import GuestSpec

__all__ = ["Finished", "Guest", "GuestDied", "GuestProcess", "GuestSpec", "GuestTimeout", "attach"]

FIRST_JOB = 1


class Guest(GuestHandle):
    """One guest machine, owned by this process until `detach`."""

    def __init__(self, spec: GuestSpec) -> None:
        super().__init__(control_folders.create(), spec.env, spec.cwd)
        self.spec = spec
        self._keeper: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.detached:
            self.close()

    def _submit(self, job: Message) -> int:
        if self.connection is not None:
            return super()._submit(job)
        memory = preflight.check(self.spec)
        self.control.job(FIRST_JOB).write_text(json.dumps(job), encoding="utf-8")
        self.control.setup.write_text(json.dumps(self._setup()), encoding="utf-8")
        self._register(FIRST_JOB)
        self._start_keeper(self._launch(memory))
        self.send({"op": "adopt", "id": FIRST_JOB})
        return FIRST_JOB

    def _setup(self) -> Message:
        """What the first process inside reads."""
        shared: list[Path | str] = [REPOSITORY, sys.prefix, sys.base_prefix, self.spec.cwd, *self.spec.shared]
        # Packages of others, with protocols perhaps, can be anywhere; what is not hidden need not be told.
        shared += [folder for folder in sys.path if os.path.isdir(folder) and is_hidden(folder)]
        return {
            "clock": self.spec.clock,
            "hostname": self.spec.hostname,
            # Without entropy the first getrandom in a real-time guest blocks for minutes.
            "seed": self.spec.seed if self.spec.clock == "virtual" else secrets.randbits(62),
            "shared": [os.path.abspath(path) for path in shared],
            "openvswitch": self.spec.openvswitch,
            "first_jobs": [FIRST_JOB],
        }

    def _launch(self, memory: Path) -> Message:
        """What the keeper reads."""
        return {
            "boot_line": boot_line(self.spec, CONSOLE_FD, LINE_FD),
            "environment": self._kernel_environment(memory),
            "clock": self.spec.clock,
            "first_jobs": [FIRST_JOB],
            "cpu": self._cpu(),
            "movable": self.spec.cpu is None,
        }

    def _kernel_environment(self, memory: Path) -> dict[str, str]:
        """What the kernel's process reads: where its memory is, and whether its random numbers repeat."""
        environment = {"TMPDIR": str(memory), "PATH": os.defpath, "HOME": str(self.control.path)}
        if self.spec.clock == "virtual":
            environment["UML_NO_HOST_RANDOM"] = "1"
        return environment

    def _cpu(self) -> int | None:
        if self.spec.cpu is None:
            return pinning.idlest_cpu()
        return None if self.spec.cpu < 0 else self.spec.cpu

    def _start_keeper(self, launch: Message) -> None:
        ours, theirs = socket.socketpair()
        module = "testbed.emulation.guest.keeper"
        with self.control.keeper_log.open("wb") as log, theirs:
            self._keeper = subprocess.Popen(
                [sys.executable, "-m", module, str(self.control.path), str(theirs.fileno())],
                cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=log, stderr=log,
                pass_fds=(theirs.fileno(),), start_new_session=True,
            )  # fmt: skip
        assert self._keeper.stdin is not None
        self._keeper.stdin.write(json.dumps(launch).encode())
        self._keeper.stdin.close()
        self.connection = Connection(ours)

    def detach(self) -> ControlFolder:
        """Leave the guest running when this process ends; `attach` finds it by its control folder."""
        self.send({"op": "detach"})
        while not (self.detached or self.dead):
            self.pump(1.0)
        if self.dead:
            raise self.death()
        return self.control

    def close(self) -> None:
        """Stop the guest if it runs, and remove its control folder. Interrupted, it kills the guest."""
        try:
            self.stop()
        except BaseException:
            self.kill()
            raise
        finally:
            if self.connection is not None:
                self.connection.close()
            if self._keeper is not None:
                self._keeper.wait()
            self.control.remove()


@contextmanager
def attach(control: Path) -> Iterator[GuestHandle]:
    """A client of a guest that another process booted; leaving the block leaves the guest as it is.

    A guest that is gone is a `GuestDied`. After `stop` or `kill` the control folder is removed.
    """
    folder = ControlFolder(control)
    handle = GuestHandle(folder, dict(os.environ), Path.cwd())
    try:
        handle.connection = connect(str(folder.socket))
    except OSError:
        raise handle.death() from None
    try:
        yield handle
    finally:
        handle.connection.close()
        if handle.dead:
            folder.remove()
