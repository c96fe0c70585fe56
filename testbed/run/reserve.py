"""Room for the last words: a run that fills the disk can still say that it did."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from testbed.errors import RunFailed, TestbedError

FILE = ".reserve"
RESERVED_BYTES = 128 * 1024  # manifest, fidelity and the end of the harness's log
FULL_BYTES = 1 << 20
GUEST_ROOM_BYTES = 16 << 20  # a guest writes out what it wrote up to a second later
LOOK_SECONDS = 0.25


def reserve(folder: Path) -> None:
    """Take the space now; an OSError when even this much is not there."""
    with (folder / FILE).open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, RESERVED_BYTES)


def release(folder: Path) -> None:
    with contextlib.suppress(OSError):
        (folder / FILE).unlink(missing_ok=True)


def is_full(folder: Path, needed: int = FULL_BYTES) -> bool:
    """Whether nothing of any size can be written there (the reserve does not count)."""
    return shutil.disk_usage(folder).free < needed


class DiskWatch:
    """Looks at the disk from outside a guest, at most every LOOK_SECONDS of real time.

    Inside, a full disk is not seen: the guest's kernel takes what is written, finds only later that the host
    does not, and knows the free space of the host's root only.
    """

    def __init__(self, folder: Path, on_full: Callable[[], None]) -> None:
        self._folder = folder
        self._on_full = on_full
        self._next = 0.0
        self.full = False

    def look(self) -> None:
        now = time.monotonic()
        if self.full or now < self._next:
            return
        self._next = now + LOOK_SECONDS
        if is_full(self._folder, GUEST_ROOM_BYTES):
            self.full = True
            self._on_full()

    def problem(self) -> TestbedError:
        return RunFailed(
            f"the disk is full ({self._folder}): the run was stopped, and what it collected is there",
            hint="remove old runs, or use --results DIR",
        )
