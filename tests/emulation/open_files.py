"""What a process holds open, though it opens and closes files while it is asked."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def open_files(process: Path) -> list[str]:
    """`process`: its folder below /proc. Nothing of a process that has ended."""
    found = []
    with contextlib.suppress(OSError):
        for descriptor in (process / "fd").iterdir():
            with contextlib.suppress(OSError):  # this one was closed since it was listed
                found.append(os.readlink(descriptor))
    return found
