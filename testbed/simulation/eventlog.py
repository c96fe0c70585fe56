"""The event log of a simulation: one process, one file, the same lines as any other."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import msgspec

from broker_grpc.core.counted import Counting, Tally
from protos.records import LogEvent

SPILL_EVENTS = 250  # few enough to be still in the processor's cache when they are encoded


class SimulatedLog:
    """Lines in the order of writing; `n` counts them over the whole simulation.

    Events are encoded many at once: nobody may change one after writing it.
    """

    def __init__(self, path: Path, counting: Counting | None = None) -> None:
        self._file: BinaryIO = path.open("wb")
        self._encode_lines = msgspec.json.Encoder().encode_lines
        self.waiting: list[LogEvent] = []  # stamped with time and node, in order; `spill` when it is long
        self.written = 0
        self._tally = Tally(counting) if counting is not None else None

    def write(self, event: LogEvent, now_us: int, node: str) -> None:
        event.t_us = event.t_us or now_us
        event.node = event.node or node
        self.waiting.append(event)
        self.spill()

    def spill(self, least: int = SPILL_EVENTS) -> None:
        """Encode what waits, if there is enough of it."""
        if len(self.waiting) < least:
            return
        self._encode(self.waiting if self._tally is None else self._tally.kept(self.waiting))
        self.waiting.clear()

    def _encode(self, events: list[LogEvent]) -> None:
        for number, event in enumerate(events, self.written + 1):
            event.n = number
        self.written += len(events)
        self._file.write(self._encode_lines(events))

    def flush(self) -> None:
        self.spill(1)
        self._file.flush()

    def close(self) -> None:
        self.spill(1)
        if self._tally is not None:
            self._encode(self._tally.ended())
        self._file.close()
