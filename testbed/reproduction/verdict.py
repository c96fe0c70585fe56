"""What a run says about a claim of a paper, as a file: pass, fail or unknown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import msgspec

from testbed.run.folder import write_atomically

Outcome = Literal["pass", "fail", "unknown"]


class Verdict(msgspec.Struct):
    claim: str
    outcome: Outcome
    figure: str
    statement: str
    source: str  # section of the paper
    stated: str  # the paper's value or shape
    measured: str
    reason: str = ""
    readings: list[str] = []  # ids of those it rests on


def write_verdicts(path: Path, verdicts: list[Verdict]) -> None:
    rows = [msgspec.to_builtins(v) for v in verdicts]
    write_atomically(path, (json.dumps(rows, indent=1, ensure_ascii=False) + "\n").encode())


def read_verdicts(path: Path) -> list[Verdict]:
    return msgspec.json.decode(path.read_bytes(), type=list[Verdict])
