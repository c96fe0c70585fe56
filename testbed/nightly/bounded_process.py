"""A reproduction in a process of its own that is ended, with all it started, when its time is over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from testbed.nightly.choice import Reproduction

State = Literal["done", "failed", "out of time", "interrupted", "not started"]
Tick = Callable[[str, float, str], None]  # reproduction, seconds so far, the last line it said
PATIENCE_S = 20.0  # between asking and forcing
TICK_S = 1.0
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def reproduce(wanted: Reproduction, root: Path, timeout_s: float, tick: Tick) -> tuple[State, str]:
    """In a process group of its own, so that all of it ends when the time is over; results below `root`."""
    root.mkdir(parents=True, exist_ok=True)
    start = [sys.executable, "-c", "from testbed.cli import main; main()", "reproduce"]
    log = root / "log.txt"
    began = time.monotonic()
    with log.open("ab") as out:
        # A Ctrl-C between the start and the `try` would leave the child behind.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        child = subprocess.Popen(
            [*start, *wanted.words(), "--results", str(root)],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before),
        )  # fmt: skip
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            code = _wait(
                child, timeout_s, lambda: tick(wanted.name, time.monotonic() - began, last_line(log))
            )
        except subprocess.TimeoutExpired:
            _end(child)
            return "out of time", f"ended after {timeout_s:.0f} s, at: {last_line(log)}"
        except KeyboardInterrupt:
            _end(child)
            return "interrupted", f"ended after {time.monotonic() - began:.0f} s, at: {last_line(log)}"
        except BaseException:
            _end(child)
            raise
    return ("done", "") if code == 0 else ("failed", f"code {code}: {last_line(log)}")


def _wait(child: subprocess.Popen[bytes], timeout_s: float, tick: Callable[[], None]) -> int:
    deadline = time.monotonic() + timeout_s
    while True:
        left = deadline - time.monotonic()
        try:
            return child.wait(max(0.0, min(TICK_S, left)))
        except subprocess.TimeoutExpired:
            if left <= TICK_S:
                raise
        tick()


def _end(child: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
            child.wait(PATIENCE_S)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue


def last_line(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 4096))
        lines = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
