"""The run clock: microseconds since the epoch, from the monotonic clock and one offset for all processes."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class RunClock:
    epoch_offset_us: int

    @classmethod
    def start(cls) -> RunClock:
        return cls((time.time_ns() - time.monotonic_ns()) // 1000)

    def now_us(self) -> int:
        return time.monotonic_ns() // 1000 + self.epoch_offset_us
