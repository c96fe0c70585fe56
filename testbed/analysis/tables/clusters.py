"""What channels of topics and clusters decided: every operation with its estimate against its threshold."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pandas as pd

COLUMNS = {
    "time_s": "when, s after the run's first event",
    "channel": "of a topic or of a cluster",
    "broker": "broker that held it then",
    "operation": "created, added, not added, removed, not removed, merged, not merged, destroyed, rebuilt, "
    "handed over or taken over; sampled: once in a round, what an open channel with users is then",
    "topic": "that was added or removed, or was not",
    "topics": "of the channel after it, with spaces between; of two that merge or do not, those of both",
    "users": "subscribers of the channel",
    "estimate": "users that hold the topic directly, are interested in it, or are common to both channels",
    "threshold": "with so many of them it is done (of a removal: not done); null = nothing was estimated, "
    "or no number would do",
}
KIND = "CLUSTERED"
TYPES = {"time_s": float, "users": "Int64", "estimate": float, "threshold": float}
Rows = Iterable[dict[str, Any]]


def clusters(rows: Rows, first_us: int) -> pd.DataFrame:
    """The table `clusters` of one run, without the column `run`."""
    made = [_operation(row, json.loads(row["content"]), first_us) for row in rows]
    return pd.DataFrame(made, columns=[*COLUMNS]).astype(TYPES)


def _operation(row: dict[str, Any], said: dict[str, Any], first_us: int) -> dict[str, Any]:
    numbers = {key: said[key] if said[key] >= 0 else None for key in ("estimate", "threshold")}
    return {
        "time_s": (row["t_us"] - first_us) / 1e6, "channel": row["message"], "broker": row["node"],
        "operation": said["operation"], "topic": said.get("topic", ""), "topics": " ".join(said["topics"]),
        "users": said["users"], **numbers,
    }  # fmt: skip
