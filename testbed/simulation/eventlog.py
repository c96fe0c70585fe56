"""The event log of a simulation: one process, one file, the same lines as any other."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import msgspec

from protos.records import LogEvent

FLUSH_EVENTS = 2000


class SimulatedLog:
    """Lines in the order of writing; `n` counts them over the whole simulation.

    Events are encoded many at once: nobody may change one after writing it.
    """

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = path.open("wb")
        self._encode_lines = msgspec.json.Encoder().encode_lines
        self._events: list[LogEvent] = []
        self.written = 0

    def write(self, event: LogEvent, now_us: int, node: str) -> None:
        self.written = event.n = self.written + 1
        if not event.t_us:
            event.t_us = now_us
        if not event.node:
            event.node = node
        self._events.append(event)
        if len(self._events) == FLUSH_EVENTS:
            self._put()

    def _put(self) -> None:
        self._file.write(self._encode_lines(self._events))
        self._events.clear()

    def flush(self) -> None:
        self._put()
        self._file.flush()

    def close(self) -> None:
        self.flush()
        self._file.close()
