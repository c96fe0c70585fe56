"""events/harness.jsonl: what the harness did and noticed, in the schema of every other event log."""

from __future__ import annotations

from pathlib import Path

import msgspec

from protos.records import LogEvent

HARNESS = "harness"


class Journal:
    """Appends events; every line reaches the file at once, so a killed harness loses none."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)
        self._written = 0
        self._encode = msgspec.json.Encoder().encode

    def write(self, event: LogEvent) -> None:
        event.n, event.node = self._written, HARNESS
        self._file.write(self._encode(event) + b"\n")
        self._written += 1

    def close(self) -> None:
        self._file.close()
