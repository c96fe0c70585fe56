"""The control folder: on the host's memory disk, and at /run/testbed inside the guest.

guest.json          how the guest is to be set up (read once by the guest's first process)
jobs/<n>.json       a command to run              jobs/<n>.out, jobs/<n>.err   what it printed
jobs/<n>.exit       its exit code, written last
keeper.sock         the keeper's socket           keeper.log                   what the keeper said
console.log         what the kernel said          state.json                   process ids, clock, frozen
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")
CONSOLE_LINES = 20
STACK = re.compile(r"Stack:$|Call Trace:$| [0-9a-f]{8,}( |$)| \[<[0-9a-f]+>\]")  # the console's file keeps it


@dataclass(frozen=True)
class ControlFolder:
    path: Path

    @property
    def setup(self) -> Path:
        return self.path / "guest.json"

    @property
    def jobs(self) -> Path:
        return self.path / "jobs"

    @property
    def socket(self) -> Path:
        return self.path / "keeper.sock"

    @property
    def keeper_log(self) -> Path:
        return self.path / "keeper.log"

    @property
    def console(self) -> Path:
        return self.path / "console.log"

    @property
    def state(self) -> Path:
        return self.path / "state.json"

    def job(self, number: int) -> Path:
        return self.jobs / f"{number}.json"

    def output(self, number: int, stream: str) -> Path:
        """`stream` is out, err or exit."""
        return self.jobs / f"{number}.{stream}"

    def console_tail(self, lines: int = CONSOLE_LINES) -> str:
        """The last lines that the kernel printed, for an error message; without the stack of a panic."""
        try:
            text = self.console.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        said = [line for line in text.replace("\r", "").splitlines() if line and not STACK.match(line)]
        return "\n".join(said[-lines:])

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def base_folder() -> Path:
    """Where this user's control folders are. Short, because a socket's path may have 107 bytes only."""
    memory_disk = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else Path(tempfile.gettempdir())
    return memory_disk / f"pubsub-testbed-{os.getuid()}"


def create() -> ControlFolder:
    """A new, empty control folder that only this user can read."""
    base = base_folder()
    base.mkdir(mode=0o700, exist_ok=True)
    if base.stat().st_uid != os.getuid():
        raise PermissionError(f"{base} belongs to another user")
    folder = ControlFolder(base / secrets.token_hex(4))
    folder.jobs.mkdir(parents=True)
    return folder
