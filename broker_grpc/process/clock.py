"""The run clock: microseconds since the epoch, as CLOCK_MONOTONIC plus one offset for the whole run.

Every process of a run adds the same offset, so their logs can be compared with each other and with
packet time stamps, and a step of the wall clock in mid-run changes nothing.
"""

from __future__ import annotations

import time

READINGS = 5  # of two clocks at once; the quickest one counts


class RunClock:
    __slots__ = ("offset_us",)

    def __init__(self, offset_us: int | None = None) -> None:
        """Without an offset, today's: right for a process that stands alone."""
        self.offset_us = epoch_offset_us() if offset_us is None else offset_us

    def now_us(self) -> int:
        return time.monotonic_ns() // 1000 + self.offset_us


def is_virtual() -> bool:
    """Whether this kernel runs in virtual time, where work takes none: there is nothing to measure then."""
    try:
        with open("/proc/cmdline", encoding="utf-8") as file:
            return "time-travel=inf-cpu" in file.read()
    except OSError:
        return False


def epoch_offset_us() -> int:
    """CLOCK_REALTIME - CLOCK_MONOTONIC now; whoever starts a run computes it once."""
    return min(_read_both() for _ in range(READINGS))[1]


def _read_both() -> tuple[int, int]:
    """How long it took, and the difference, which is wrong by as much as the process was interrupted."""
    before = time.monotonic_ns()
    wall = time.time_ns()
    after = time.monotonic_ns()
    return after - before, (wall - (before + after) // 2) // 1000
