"""Locks of the kernel's (flock): they end with the process that holds them, however it ends."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from testbed.errors import InputError
from testbed.run.folder import make_results

LOCK = "lock"


@contextmanager
def hold(file: Path) -> Iterator[None]:
    """Waits for whoever holds it: the process of a sweep that was killed is still ending its run."""
    with file.open("ab") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield


@contextmanager
def only_sweep(folder: Path) -> Iterator[None]:
    """Refuses a second sweep in the folder at the same time, and a folder that cannot be written."""
    make_results(folder)
    with (folder / LOCK).open("ab") as opened:
        if not _try(opened):
            hint = "wait for it or end it, or take another --results; what it has done is not done again"
            raise InputError("another sweep is at work in this folder", file=folder, hint=hint)
        yield


def wait_free(folders: Iterable[Path], seconds: float) -> bool:
    """Until no point's process is in the folders any more."""
    limit = time.monotonic() + seconds
    for folder in folders:
        while not _free(folder / LOCK):
            if time.monotonic() > limit:
                return False
            time.sleep(0.05)
    return True


def _free(file: Path) -> bool:
    try:
        with file.open("ab") as opened:
            return _try(opened)
    except FileNotFoundError:  # no point's folder yet
        return True


def _try(opened: BinaryIO) -> bool:
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
