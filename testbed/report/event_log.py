"""Event logs, also while they are being written: what is new in them since the last look."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from protos.records import LogEvent


@dataclass
class Tail:
    """What is new in a folder of event logs since the last look; an unfinished line waits for its end."""

    folder: Path
    offsets: dict[str, int] = field(default_factory=dict)

    def lines(self) -> list[bytes]:
        found: list[bytes] = []
        for path in sorted(path for path in self.folder.glob("*.jsonl") if path.is_file()):
            with path.open("rb") as file:
                file.seek(self.offsets.get(path.name, 0))
                text = file.read()
            whole = text[: text.rfind(b"\n") + 1]
            self.offsets[path.name] = self.offsets.get(path.name, 0) + len(whole)
            found += whole.splitlines()
        return found


DECODER = msgspec.json.Decoder(LogEvent)


def decode(lines: list[bytes]) -> list[LogEvent]:
    """Events; a line that is none is left to the analysis, which names it."""
    found = []
    for line in lines:
        try:
            found.append(DECODER.decode(line))
        except msgspec.DecodeError:
            continue
    return found
