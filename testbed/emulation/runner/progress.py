"""Progress as JSON lines on standard output: for the engine that started the runner, or for a person."""

from __future__ import annotations

import sys
from typing import Any, TextIO

import msgspec

from broker_grpc.process.clock import RunClock


class Reporter:
    """`{"t": kind, "clock_us": run clock, ...}`, one line each, flushed at once."""

    def __init__(self, clock: RunClock, stream: TextIO | None = None) -> None:
        self._clock = clock
        self._stream = stream if stream is not None else sys.stdout
        self._broken = False

    def say(self, kind: str, **fields: Any) -> None:
        line = {"t": kind, "clock_us": self._clock.now_us(), **fields}
        if self._broken:
            return
        try:
            self._stream.write(msgspec.json.encode(line).decode() + "\n")
            self._stream.flush()
        except (BrokenPipeError, OSError):
            self._broken = True  # nobody listens any more; the run goes on

    def network(self, step: str, done: int, total: int) -> None:
        """The callback of `EmulatedNetwork.up`."""
        self.say("network", step=step, done=done, total=total)
