"""What brokers said of their rings: who came into their tables, who went, and why."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pandas as pd

COLUMNS = {
    "time_s": "when, s after the run's first event",
    "plane": "version of ring and trees",
    "broker": "broker whose tables changed",
    "change": "joined, left (itself), neighbour in, entry in, or out (another broker)",
    "peer": "the other broker",
    "reason": "why it is out",
    "id": "of the broker on the ring, 16 hexadecimal digits",
    "predecessor": "its neighbour afterwards, counter-clockwise; itself = nobody",
    "successor": "its neighbour afterwards, clockwise; itself = nobody",
}
KIND = "RING_CHANGED"
Rows = Iterable[dict[str, Any]]


def ring_changes(rows: Rows, first_us: int, ended_us: int) -> pd.DataFrame:
    """Of one run, without the column `run`. When brokers stop they leave their rings: that does not count."""
    made = [_change(row, json.loads(row["content"]), first_us) for row in rows if row["t_us"] < ended_us]
    return pd.DataFrame(made, columns=list(COLUMNS)).astype({"time_s": float, "plane": "int64"})


def _change(row: dict[str, Any], said: dict[str, Any], first_us: int) -> dict[str, Any]:
    change, _, reason = str(row["detail"]).partition(": ")
    return {
        "time_s": (row["t_us"] - first_us) / 1e6, "plane": said["plane"], "broker": row["node"],
        "change": change, "peer": row["peer"], "reason": reason, "id": said["id"],
        "predecessor": said["predecessor"], "successor": said["successor"],
    }  # fmt: skip
