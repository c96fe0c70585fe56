"""Degree, gap and repair messages over the churn of the deployed system."""

from __future__ import annotations

from collections.abc import Iterator

import pandas

from experiments.shadow_tco.systems import DEPLOYED
from testbed.reproduction.figures.plot import Figure, Series

LEAVES = ("kill", "leave")


def deployed_figures(rounds: pandas.DataFrame, provenance: str) -> Iterator[Figure]:
    """One set per engine; no figure mixes two."""
    for engine in sorted(set(rounds.engine)):
        frame = rounds[rounds.engine == engine]
        where = f"{provenance}, {engine}"
        yield _degree(frame, engine, where)
        yield _gaps(frame, engine, where)
        yield _messages(frame, engine, where)


def _per_system(frame: pandas.DataFrame, column: str, style: str, scale: float = 1.0) -> list[Series]:
    series = []
    for system, label in DEPLOYED.items():
        rows = frame[frame.system == system].reset_index(drop=True)
        x = [at + 1 for at in rows.index]
        series.append(Series(label, x, (rows[column] * scale).to_list(), style=style))
    return series


def _degree(frame: pandas.DataFrame, engine: str, where: str) -> Figure:
    series = [
        *(s for s in _per_system(frame, "max_degree", "steps")),
        *(
            Series(f"{s.label}, average", s.x, s.y, style="steps")
            for s in _per_system(frame, "average_degree", "steps")
        ),
    ]
    title = "Deployed: maximum and average degree"
    return Figure(f"degree-{engine}", title, "churn round", "node degree", series, provenance=where)


def _gaps(frame: pandas.DataFrame, engine: str, where: str) -> Figure:
    series = []
    for kind in LEAVES:
        rows = frame[frame.kind == kind]
        for s in _per_system(rows, "gap_us", "line", 1e-3):
            series.append(Series(f"{s.label}, {kind}", s.x, s.y))
    title = "Deployed: from a leave to the last lost publication"
    return Figure(f"gap-{engine}", title, "leave of its kind", "delivery gap (ms)", series, provenance=where)


def _messages(frame: pandas.DataFrame, engine: str, where: str) -> Figure:
    title = "Deployed: messages of one repair"
    series = _per_system(frame, "repair_messages", "line")
    return Figure(f"messages-{engine}", title, "churn round", "messages", series, provenance=where)
