"""The event log of a simulation: one process, one file, the same lines as any other."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import msgspec

from protos.records import LogEvent

FLUSH_BYTES = 1 << 18


class SimulatedLog:
    """Lines in the order of writing; `n` counts them over the whole simulation."""

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = path.open("wb")
        self._encode = msgspec.json.Encoder().encode
        self._lines: list[bytes] = []
        self._size = 0
        self.written = 0

    def write(self, event: LogEvent, now_us: int, node: str) -> None:
        self.written += 1
        event.n = self.written
        if not event.t_us:
            event.t_us = now_us
        if not event.node:
            event.node = node
        line = self._encode(event)
        self._lines.append(line)
        self._size += len(line)
        if self._size > FLUSH_BYTES:
            self.flush()

    def flush(self) -> None:
        if self._lines:
            self._lines.append(b"")
            self._file.write(b"\n".join(self._lines))
            self._lines.clear()
            self._size = 0
        self._file.flush()

    def close(self) -> None:
        self.flush()
        self._file.close()
