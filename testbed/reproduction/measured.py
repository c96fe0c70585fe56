"""The measures of one run, kept beside it: hundreds of runs are measured once, however often they are judged.

They are taken again when the code that measures has changed, or the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

from testbed.reproduction.rows import Rows
from testbed.run.folder import RunFolder, write_atomically
from testbed.sweep.computation import code_of

FILE = "measures.json"
READERS = "testbed.reproduction.evidence"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Measures:
    """How a paper measures a run: rows by table."""

    of: Callable[[RunFolder], Rows]
    sources: tuple[str, ...]  # modules that measure: with other text the measures are taken again
    analysed: Callable[[Sequence[RunFolder], str, Say], Sequence[Rows]] | None = None
    """The same of many runs from Spark's tables, on this master: slower, and every run is checked."""


class Kept(msgspec.Struct):
    """measures.json"""

    code: str  # hash of what measured
    run: str
    rows: dict[str, list[dict[str, Any]]]


def take(
    measures: Measures, runs: Sequence[RunFolder], analysed: bool, master: str, say: Say
) -> Iterator[Rows]:
    """In the order of the runs."""
    if analysed and measures.analysed is not None:
        yield from map(plain, measures.analysed(runs, master, say) if runs else [])
        return
    for at, run in enumerate(runs):
        say(f"measuring run {at + 1} of {len(runs)}")
        yield kept(run, measures)


def kept(run: RunFolder, measures: Measures) -> dict[str, list[dict[str, Any]]]:
    """From the file beside the run if it is this code's of this run, else by reading the run."""
    path, code = run.path.parent / FILE, code_of_measures(measures.sources)
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Kept)
        if (found.code, found.run) == (code, run.path.name):
            return found.rows
    except (OSError, msgspec.DecodeError):
        pass
    rows = plain(measures.of(run))
    write_atomically(path, msgspec.json.encode(Kept(code, run.path.name, rows)))
    return rows


def plain(rows: Rows) -> dict[str, list[dict[str, Any]]]:
    """As a file holds them: what is not a number is not there."""
    return {table: [{name: _known(v) for name, v in row.items()} for row in rows[table]] for table in rows}


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


@cache
def code_of_measures(sources: tuple[str, ...]) -> str:
    return code_of([*sources, READERS])
