"""The computations behind the tables: one workload through the systems, one choice of a reading."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pandas

from broker_grpc.protocols.clustering.settings import ClusteringSettings
from experiments.tamara import workload
from experiments.tamara.systems import FROZEN, KMEANS, SC, SCRIBE, TAMARA, k_means, play
from experiments.tamara.workload import Setting, Workload
from testbed.flow.clustering.timeline import PURPOSES, Row

Report = Callable[[str], None]
Tables = dict[str, pandas.DataFrame]


def curve(
    report: Report, kind: str, arguments: dict[str, Any], options: dict[str, Any], points: int,
    rivals: dict[str, int], seed: int,
) -> Tables:  # fmt: skip
    """`rivals`: SC beside Tamara, and how far K-means is taken ("largest_k", "restarts"), if at all."""
    work = made(kind, arguments, seed)
    settings = msgspec.convert(options, ClusteringSettings)
    rows = [{"system": TAMARA, **row} for row in with_overhead(list(play(work, settings, seed, points)))]
    report(f"{len(work.operations)} operations: {rows[-1]['clusters']} clusters")
    ends = [end(TAMARA, rows[-1]), plain_end(rows[-1])]
    if "sc" in rivals:
        frozen = [{"system": SC, **row} for row in with_overhead(list(play(work, FROZEN, seed, points)))]
        rows += frozen
        ends.append(end(SC, frozen[-1]))
    if "largest_k" in rivals:
        best, k = k_means(
            work.final, work.frequencies, settings.costs, seed, rivals["largest_k"], rivals["restarts"]
        )
        ends.append({"system": KMEANS, **best._asdict(), "clusters": k})
    return {"curves": pandas.DataFrame(rows), "ends": pandas.DataFrame(ends)}


def vary(report: Report, setting: dict[str, Any], options: dict[str, Any], seed: int) -> Tables:
    work = made("fresh", setting, seed)
    settings = msgspec.convert(options, ClusteringSettings)
    rows = with_overhead(list(play(work, settings, seed, 10)))
    last, plain = rows[-1], plain_end(rows[-1])
    overhead = sum(row["overhead"] for row in rows[1:]) / len(rows[1:])
    found = {name: 100 * (last[name] / plain[name] - 1) for name in ("maintenance", "dissemination")}
    ours, theirs = (sum(one[name] for name in found) for one in (last, plain))
    found |= {"cost": 100 * (ours / theirs - 1), "overhead": overhead, "clusters": last["clusters"]}
    return {"varied": pandas.DataFrame([found])}


def made(kind: str, arguments: dict[str, Any], seed: int) -> Workload:
    if kind == "packages":
        return workload.packages(**arguments, seed=seed)
    return (workload.shifting if kind == "shift" else workload.fresh)(Setting(**arguments), seed)


def with_overhead(rows: list[Row]) -> list[Row]:
    """`overhead`: messages of clustering per M since the row before."""
    before, at, found = 0, 0.0, []
    for row in rows:
        total = sum(row[f"messages_{purpose}"] for purpose in PURPOSES)
        passed = row["at"] - at
        found.append({**row, "overhead": (total - before) / passed if passed else 0.0})
        before, at = total, row["at"]
    return found


def end(system: str, row: Row) -> Row:
    return {"system": system, **{name: row[name] for name in ("maintenance", "dissemination", "clusters")}}


def plain_end(row: Row) -> Row:
    costs = {name: row[f"plain_{name}"] for name in ("maintenance", "dissemination")}
    return {"system": SCRIBE, **costs, "clusters": 0}
