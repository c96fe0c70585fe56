"""results/nightly/history.jsonl: one row per measure, seed and night, only ever added to.

A night that was cut off may have left half a line; it is passed over when read and closed when written.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec


class Row(msgspec.Struct, frozen=True, omit_defaults=True):
    night: str  # 20261116T0300: sorts by time
    reproduction: str  # pop-grape/smoke/simulate
    measure: str  # runs.delay_ms system=POP, or the name of a claim
    value: float
    seed: int = 0
    better: str = "lower"
    smallest: float = 0.02
    commit: str = ""
    claim: bool = False  # then value is 1 for pass and 0 for fail
    timed: bool = False  # a claim about measured time
    seconds: bool = False  # then value is how long the reproduction took


def read_history(path: Path) -> list[Row]:
    if not path.exists():
        return []
    rows = []
    for line in path.read_bytes().splitlines():
        try:
            rows.append(msgspec.json.decode(line, type=Row))
        except msgspec.DecodeError:
            continue  # the torn end of a night that was cut off
    return rows


def append_history(path: Path, rows: Iterable[Row]) -> None:
    torn = path.exists() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
    with path.open("ab") as file:
        file.write(b"\n" if torn else b"")
        file.writelines(msgspec.json.encode(row) + b"\n" for row in rows)
