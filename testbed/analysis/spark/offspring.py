"""All that this process has started, however deep: found, waited for, ended.

A process whose parent ends would go to init and out of sight: Spark's Python workers when Java ends, points
when their worker does. Within `orphans_kept` it comes to this process instead, so that none is lost.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
PR_GET_CHILD_SUBREAPER = 37
TICK_S = 0.05
KILLED_S = 15.0  # for what was killed: a process that hangs in the kernel must not hold us for ever


@contextlib.contextmanager
def orphans_kept() -> Iterator[frozenset[int]]:
    """Orphans of this process come to it until the end; gives the processes that were there before."""
    libc, was = ctypes.CDLL(None), ctypes.c_int(0)
    libc.prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(was))
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield frozenset(descendants(os.getpid()))
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, was.value)


def end_offspring(besides: Collection[int], patience_s: float) -> list[str]:
    """Returns when all that is not in `besides` has ended; what does not end by itself is killed.

    Gives a line for each process that needed it, and for each that is there even then.
    """
    late = _left(besides, patience_s)
    names = {pid: _name(pid) for pid in late}
    send(late, signal.SIGKILL)
    stuck = _left(besides, KILLED_S) if late else []
    words = [f"process {names[pid]} had not ended after {patience_s:g} s: killed" for pid in late]
    return words + [f"process {_name(pid)} does not end" for pid in stuck]


def _left(besides: Collection[int], seconds: float) -> list[int]:
    """Waits until nothing is, or for so long. Only what has been reaped has ended: a process that has lost
    its memory may still hold its files."""
    limit = time.monotonic() + seconds
    while left := descendants(os.getpid(), besides):
        _reap(left)
        if time.monotonic() > limit:
            return left
        time.sleep(TICK_S)
    return []


def _reap(pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ChildProcessError):  # it has a parent, which has to do this
            os.waitpid(pid, os.WNOHANG)


def descendants(root: int, besides: Collection[int] = ()) -> list[int]:
    """Without those in `besides` and what they have started."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    found, ahead = [], [root]
    while ahead:
        own = [pid for pid in children.get(ahead.pop(), []) if pid not in besides]
        found += own
        ahead += own
    return found


def command_line(pid: int) -> bytes:
    """Empty for a process that has ended, reaped or not."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _name(pid: int) -> str:
    words = command_line(pid).replace(b"\0", b" ").decode(errors="replace").strip()
    return f"{pid} ({words[:120]})" if words else str(pid)
