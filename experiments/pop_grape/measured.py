"""The measures of one run, kept beside it: hundreds of runs are measured once, however often they are judged.

They are taken again when the code that measures has changed, or the run.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from experiments.pop_grape.evidence import Evidence
from experiments.pop_grape.measures import measure, relocations, timeline
from testbed.run.folder import RunFolder, write_atomically

FILE = "measures.json"
CODE = ("evidence.py", "logs.py", "measures.py", "measured.py")


class Measured(msgspec.Struct):
    code: str  # hash of what measured
    run: str
    row: dict[str, float | int | None]
    moves: list[dict[str, Any]]
    minutes: list[dict[str, Any]]


def take(evidence: Evidence, run: RunFolder) -> Measured:
    row = {name: None if math.isnan(value) else value for name, value in measure(evidence).items()}
    return Measured(code(), run.path.name, row, relocations(evidence), list(timeline(evidence)))


def kept(run: RunFolder, read: Callable[[RunFolder], Evidence]) -> Measured:
    """From the file beside the run if it is this code's of this run, else by reading the run."""
    path = run.path.parent / FILE
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Measured)
        if (found.code, found.run) == (code(), run.path.name):
            return found
    except (OSError, msgspec.DecodeError):
        pass
    made = take(read(run), run)
    write_atomically(path, msgspec.json.encode(made))
    return made


@cache
def code() -> str:
    text = b"".join((Path(__file__).parent / name).read_bytes() for name in CODE)
    return hashlib.sha256(text).hexdigest()[:16]
