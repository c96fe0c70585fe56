"""A verdict: what was checked, how it went, why, on what evidence. What could not be checked is unknown."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from testbed.run.folder import write_atomically

Outcome = Literal["pass", "fail", "unknown"]


class Verdict(msgspec.Struct):
    name: str
    verdict: Outcome
    reason: str
    evidence: list[Any] = []

    @property
    def failed(self) -> bool:
        return self.verdict == "fail"


def write_verdicts(path: Path, verdicts: list[Verdict]) -> None:
    write_atomically(path, msgspec.json.format(msgspec.json.encode(verdicts), indent=1))


def read_verdicts(path: Path) -> list[Verdict]:
    return msgspec.json.decode(path.read_bytes(), type=list[Verdict])
