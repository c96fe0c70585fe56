"""Exchanges of overlay links, one row each, put together from what the brokers of its cycle said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

COLUMNS = {
    "exchange": "its id: who ordered it, and the how manieth",
    "time_s": "when the last broker of the cycle was through with it, s after the run's first event",
    "outcome": "done (the new link is in the tree, the old one gone), aborted or refused (nothing changed), "
    "or mixed if brokers say different things",
    "added_a": "end of the new link that ordered the exchange",
    "added_b": "other end of the new link",
    "removed_a": "end of the removed link",
    "removed_b": "other end of the removed link",
    "cycle": "brokers on the cycle that the new link closes; 0 = it was refused before one was known",
    "brokers": "of these, how many said how it ended: a killed one does not",
    "duration_us": "longest time at one broker, from its agreement to its end, us",
    "detail": "why it was refused or aborted; of one that is done, what its orderer had to say (costs)",
}
KINDS = ("EXCHANGED",)
Rows = Iterable[dict[str, Any]]


def exchanges(rows: Rows, first_us: int, run: str) -> pd.DataFrame:
    """`rows`: EXCHANGED records of one run, among others."""
    told: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["kind"] in KINDS:
            told.setdefault(row["message"], []).append(row)
    made = [_exchange(id_, said, first_us) for id_, said in told.items()]
    return pd.DataFrame(made, columns=[*COLUMNS]).astype(TYPES).assign(run=run)


TYPES = {"time_s": float, "cycle": "Int64", "brokers": "Int64", "duration_us": "Int64"}


def _exchange(id_: str, said: list[dict[str, Any]], first_us: int) -> dict[str, Any]:
    ordered = next((row for row in said if row["group"] == "ordered"), said[-1])
    outcomes = {row["type"] for row in said}
    ends = (*str(ordered["content"]).split(), "", "", "", "")[:4]
    return {
        "exchange": id_,
        "time_s": (max(row["t_us"] for row in said) - first_us) / 1e6,
        "outcome": outcomes.pop() if len(outcomes) == 1 else "mixed",
        **dict(zip(("added_a", "added_b", "removed_a", "removed_b"), ends, strict=True)),
        "cycle": int(ordered["hops"] or 0),
        "brokers": len({row["node"] for row in said}),
        "duration_us": max(int(row["duration_us"] or 0) for row in said),
        "detail": str(ordered["detail"] or ""),
    }
