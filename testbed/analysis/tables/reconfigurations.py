"""Planned changes of all brokers' places on a ring, one row per decision, from what their manager said."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pandas as pd

STEPS = ("init", "overlay", "restore", "repair", "finish", "retire")
COLUMNS = {
    "version": "of ring and trees that it made; null = nothing was begun",
    "time_s": "when it was decided, s after the run's first event",
    "outcome": "done, aborted (rolled back), unfinished; or why nothing was begun: low_demand (it costs too "
    "little to look for something better), not_worth_it, no_reports",
    "moved": "brokers that got another place",
    "brokers": "brokers on the ring",
    "topics": "topics that were published or subscribed to",
    "cost": "notification cost of the places before in the next period: messages, and weighted delays",
    "after": "the same of the new places",
    "benefit": "cost less after",
    "price": "bound of the messages that the change takes",
    **{f"{step}_us": f"step {step}: from its order until all had acknowledged, us" for step in STEPS},
    "duration_us": "from the decision to the end, us",
    "orders": "messages of the manager",
    "acknowledgements": "of brokers",
    "broker_messages": "tables that changed hands, joins and leaves in the new version until the old went",
    "detail": "why it was rolled back, or who did not report",
}
PLACE_COLUMNS = {
    "version": "of ring and trees",
    "broker": "broker",
    "before": "its place on the circle in the version before, 0 to 1",
    "after": "its place in this one",
    "moved": "whether it got another one",
}
KINDS = ("RECONFIGURATION_PLANNED", "STEP_DONE", "RECONFIGURATION_ENDED")
CIRCLE = 1 << 64
COUNTS = ("version", "moved", "brokers", "topics", "duration_us", "orders", "acknowledgements")
NUMBERS = dict.fromkeys((*COUNTS, "broker_messages", *(f"{step}_us" for step in STEPS)), "Int64")
TYPES = {**NUMBERS, "time_s": float, "cost": float, "after": float, "benefit": float, "price": float}
Rows = Iterable[dict[str, Any]]


def reconfigurations(rows: Rows, first_us: int, run: str) -> pd.DataFrame:
    """`rows`: of one run in order of time, records of `KINDS` among others."""
    made: list[dict[str, Any]] = []
    by_version: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["kind"] == "RECONFIGURATION_PLANNED":
            made.append(_decided(row, first_us))
            if row["message"]:
                by_version[row["message"]] = made[-1]
        elif row["kind"] in KINDS and row["message"] in by_version:
            _followed(by_version[row["message"]], row)
    for row in made:
        row.pop("t_us")
    return pd.DataFrame(made, columns=[*COLUMNS]).astype(TYPES).assign(run=run)


def _decided(row: dict[str, Any], first_us: int) -> dict[str, Any]:
    said = json.loads(row["content"] or "{}")
    numbers = ("moved", "brokers", "topics", "cost", "after", "benefit", "price")
    planned = row["type"] == "planned"
    return {
        "t_us": row["t_us"],
        "version": int(row["message"]) if row["message"] else None,
        "time_s": (row["t_us"] - first_us) / 1e6,
        "outcome": "unfinished" if planned else row["type"],
        **{name: said.get(name) for name in numbers},
        "detail": str(row["detail"] or ""),
    }


def _followed(known: dict[str, Any], row: dict[str, Any]) -> None:
    if row["kind"] == "STEP_DONE":
        if row["type"] in STEPS:
            known[f"{row['type']}_us"] = int(row["duration_us"] or 0)
        return
    said = json.loads(row["content"] or "{}")
    known |= {
        "outcome": row["type"],
        "duration_us": row["t_us"] - known["t_us"],
        "orders": said.get("manager"),
        "acknowledgements": said.get("acknowledgements"),
        "broker_messages": said.get("brokers"),
        "detail": str(row["detail"] or ""),
    }


def places(rows: Rows, run: str) -> pd.DataFrame:
    """Of every reconfiguration that was begun."""
    found = [
        (int(row["message"]), broker, before / CIRCLE, after / CIRCLE, before != after)
        for row in rows
        if row["kind"] == "RECONFIGURATION_PLANNED" and row["message"]
        for broker, (before, after) in sorted(json.loads(row["content"])["places"].items())
    ]
    return pd.DataFrame(found, columns=list(PLACE_COLUMNS)).assign(run=run)
