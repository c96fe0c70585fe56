"""The events of a run, one by one: the reader for whole sets of runs.

Half a million events take about a second; Spark's tables of the same run take about ten times that.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec


class Event(msgspec.Struct, gc=False):
    """A LogEvent as measures need it. Its kind is any text: plug-ins have their own."""

    t_us: int
    kind: str
    n: int = 0
    node: str = ""
    type: str = ""
    peer: str = ""
    message: str = ""
    hops: int = 0
    bytes: int = 0
    published_us: int = 0
    duration_us: int = 0
    content: str = ""
    group: str = ""
    detail: str = ""
    input_utilisation: float = 0.0
    output_utilisation: float = 0.0
    memory_bytes: int = 0
    count: int = 0


def read_events(folder: Path) -> Iterator[Event]:
    """A torn last line, which a killed process leaves, is passed over; any other damage is an error."""
    decode = msgspec.json.Decoder(Event).decode
    for path in sorted(path for path in folder.glob("*.jsonl") if path.is_file()):
        with path.open("rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    yield decode(line)
