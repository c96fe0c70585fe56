"""The paper's study: what it leaves open, what it claims, and the parts that judge it.

Figures 4 to 6 are computed by flow, each under two laws of the static tree. Only for who asks: `sensitivity`,
`simulated` (message by message, against flow) and `emulated` (real brokers).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import pandas

from experiments.ci.claims import deployed, simulated
from experiments.ci.claims.computed import CLAIMS
from experiments.ci.claims.computed import of_law as claims_of
from experiments.ci.claims.data import Data
from experiments.ci.figures import deployed_figures, drawn, of_law
from experiments.ci.measures import MEASURES, SAMPLES
from experiments.ci.points import (
    EMULATED_SCALES,
    SCALES,
    SIMULATED_SCALES,
    Size,
    emulated_points,
    points,
    simulated_points,
    varied_points,
)
from experiments.ci.readings import READINGS
from experiments.ci.systems import LAWS
from experiments.ci.workload import Setting
from testbed.reproduction.collect import Found
from testbed.reproduction.study import Ask, Case, Part, Scale, Study
from testbed.sweep.run import Effort

FIGURES = ("4", "5", "6")
TABLES = {"4": "samples", "5": "etas", "6": "alphas"}


def laws(ask: Ask[Size], found: Found) -> Sequence[Case]:
    return [one_law(ask, found, law) for law in LAWS]


def one_law(ask: Ask[Size], found: Found, law: str) -> Case:
    """A figure that was not asked for, or whose points failed, leaves its claims open."""
    size = ask.size.setting
    samples, etas, alphas = tables = [of_law(found.table(TABLES[figure]), law) for figure in FIGURES]
    networks = ", ".join(
        f"{table.seed.nunique()} of figure {figure}"
        for figure, table in zip(FIGURES, tables, strict=True)
        if len(table)
    )
    provenance = f"flow, {size.brokers} brokers, {size.types} types, networks: {networks or 'none'}"
    data = Data(samples, etas, alphas, size.ticks, size.sample)
    there = {figure for figure in FIGURES if len(of_law(found.table(TABLES[figure]), law))}
    claims = [claim for claim in claims_of(law) if claim.figure in there]
    lost = tuple(str(point) for point in found.failed if point.labels["law"] == law)
    return Case(claims, data, provenance, drawn(data, law, provenance), lost)


def as_simulated(ask: Ask[Setting], found: Found) -> Sequence[Case]:
    size = f"{ask.size.brokers} brokers, {ask.size.ticks:,} ticks, uniform spanning tree, seed 1"
    data = simulated.Compared(found.table("compared"), found.table("exchanged"))
    return [Case(simulated.CLAIMS, data, size, (), tuple(map(str, found.missing)))]


def as_deployed(ask: Ask[Setting], found: Found) -> Sequence[Case]:
    """A case per engine."""
    return [one_engine(ask, found, engine) for engine in ask.engines]


def one_engine(ask: Ask[Setting], found: Found, engine: str) -> Case:
    size = f"{engine}, {ask.size.brokers} brokers, {ask.size.ticks:,} ticks of 10 ms, measured costs, seed 1"
    costs, runs = (of_engine(found.table(name), engine) for name in ("costs", "runs"))
    third = SAMPLES // 3
    data = deployed.Deployed(costs, runs, (third, 2 * third))
    lost = tuple(str(point) for point in found.missing if point.labels["engine"] == engine)
    return Case(deployed.CLAIMS, data, size, deployed_figures(data, engine, size) if not lost else (), lost)


def of_engine(table: pandas.DataFrame, engine: str) -> pandas.DataFrame:
    return table[table.engine == engine] if len(table) else table


STUDY = Study(
    "ci",
    'Jaeger, Parzyjegla, Muehl, Herrmann: "Self-Organizing Broker Topologies" (SAC 2007), section 5',
    [
        Part(
            SCALES, FIGURES, points, laws, extra=lambda ask: {"size": asdict(ask.size)},
            effort=Effort(retries=1, timeout_s=3600),
        ),
        Part(
            {name: Scale(scale.size, min(scale.seeds, 5)) for name, scale in SCALES.items()},
            ("sensitivity",), varied_points, lambda ask, found: [], name="sensitivity", by_default=False,
            extra=lambda ask: {"size": asdict(ask.size)}, effort=Effort(retries=1, timeout_s=3600),
        ),
        Part(
            SIMULATED_SCALES, ("simulated",), simulated_points, as_simulated, name="simulated",
            by_default=False, extra=lambda ask: {"size": asdict(ask.size)},
            effort=Effort(retries=0, timeout_s=4 * 3600),
        ),
        Part(
            EMULATED_SCALES, ("emulated",), emulated_points, as_deployed, MEASURES, "emulated",
            by_default=False, extra=lambda ask: {"size": asdict(ask.size), "engines": list(ask.engines)},
            effort=Effort(retries=0, timeout_s=4 * 3600),
        ),
    ],
    READINGS,
    [*CLAIMS, *simulated.CLAIMS, *deployed.CLAIMS],
)  # fmt: skip
