"""Figures 4 to 6 of one law of the static tree, from the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas

from experiments.ci.claims.data import Data, with_totals
from experiments.ci.claims.deployed import Deployed
from experiments.ci.systems import ADAPTIVE, CI, LAWS, NAMES, STATIC
from testbed.reproduction.figures.plot import Figure, Series
from testbed.reproduction.interval import Interval, intervals

MILLION = 1e6


def drawn(data: Data, law: str, provenance: str) -> Iterator[Figure]:
    where = f"{LAWS[law]}; {provenance}"
    if len(data.samples):
        yield adaptivity(data, law, where)
    if len(data.etas):
        yield neighbourhoods(data, law, where)
    if len(data.alphas):
        yield weights(data, law, where)


def adaptivity(data: Data, law: str, where: str) -> Figure:
    rows = with_totals(data.samples)
    series = [
        _series(NAMES[system], intervals(rows[rows.system == system], "tick", "total"), MILLION, "steps")
        for system in (STATIC, *ADAPTIVE)
    ]
    title = f"Fig. 4: costs of every {data.sample:,} ticks, heuristics' messages included"
    return Figure(f"fig4-{law}", title, "ticks", "cost (million)", series, provenance=where)


def neighbourhoods(data: Data, law: str, where: str) -> Figure:
    rows = with_totals(data.etas).assign(again=data.etas.request + data.etas.exchange)
    ours, etas = rows[rows.system == CI], sorted(set(rows.eta) - {0})
    static = intervals(rows[rows.system == STATIC], "eta", "total")
    level = {eta: one for one in static.values() for eta in etas}
    series = [_series("static", level, MILLION)]
    for label, column in (
        ("CI, all", "total"), ("its broadcasts", "interest"), ("its requests and exchanges", "again"),
    ):  # fmt: skip
        series.append(_series(label, intervals(ours, "eta", column), MILLION))
    title = "Fig. 5: accumulated costs by the size of the neighbourhood"
    return Figure(f"fig5-{law}", title, "eta (hops)", "cost (million)", series, provenance=where)


def weights(data: Data, law: str, where: str) -> Figure:
    rows = with_totals(data.alphas).set_index(["seed", "alpha"])
    static = rows[rows.system == STATIC].total
    saved = rows.assign(saved=100 * (1 - rows.total / static)).reset_index()
    series = [
        _series(NAMES[system], intervals(saved[saved.system == system], "alpha", "saved"))
        for system in ADAPTIVE
    ]
    title = "Fig. 6: improvement over the static network by the weight of processing costs"
    return Figure(f"fig6-{law}", title, "alpha", "improvement (%)", series, provenance=where)


def deployed_figures(data: Deployed, engine: str, where: str) -> Iterator[Figure]:
    series = [
        Series(NAMES[s], list(data.samples.index + 1), list(data.samples[s] / 1e3), style="steps")
        for s in (STATIC, *ADAPTIVE)
    ]
    title = "Costs of each thirtieth of a run, t1 after 10 and t2 after 20, heuristics' messages included"
    yield Figure(f"emulated-{engine}", title, "sample", "cost (thousand)", series, provenance=where)


def _series(label: str, at: Mapping[float, Interval], unit: float = 1.0, style: str = "line") -> Series:
    found = list(at.values())
    return Series(
        label, list(at), [one.mean / unit for one in found], [one.low / unit for one in found],
        [one.high / unit for one in found], style,
    )  # fmt: skip


def of_law(table: pandas.DataFrame, law: str) -> pandas.DataFrame:
    return table[table.law == law] if len(table) else table
