"""Room for the last words: a run that fills the disk can still say that it did."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

FILE = ".reserve"
RESERVED_BYTES = 128 * 1024  # manifest, fidelity and the end of the harness's log
FULL_BYTES = 1 << 20


def reserve(folder: Path) -> None:
    """Take the space now; an OSError when even this much is not there."""
    with (folder / FILE).open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, RESERVED_BYTES)


def release(folder: Path) -> None:
    with contextlib.suppress(OSError):
        (folder / FILE).unlink(missing_ok=True)


def is_full(folder: Path) -> bool:
    """Whether nothing of any size can be written there (the reserve does not count)."""
    return shutil.disk_usage(folder).free < FULL_BYTES
