"""The paper's study: what it leaves open, what it claims, and the parts that judge it.

Figures 4 to 6 are computed by flow, each under two laws of the static tree; `sensitivity` is only for who
asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from experiments.ci.claims.computed import CLAIMS
from experiments.ci.claims.computed import of_law as claims_of
from experiments.ci.claims.data import Data
from experiments.ci.figures import drawn, of_law
from experiments.ci.points import SCALES, Size, points, varied_points
from experiments.ci.readings import READINGS
from experiments.ci.systems import LAWS
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
    provenance = f"flow, {size.brokers} brokers, {size.types} types, {len(ask.seeds)} network(s)"
    samples, etas, alphas = (of_law(found.table(TABLES[figure]), law) for figure in FIGURES)
    data = Data(samples, etas, alphas, size.ticks, size.sample)
    there = {figure for figure in FIGURES if len(of_law(found.table(TABLES[figure]), law))}
    claims = [claim for claim in claims_of(law) if claim.figure in there]
    lost = tuple(str(point) for point in found.failed if point.labels["law"] == law)
    return Case(claims, data, provenance, drawn(data, law, provenance), lost)


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
    ],
    READINGS,
    CLAIMS,
)  # fmt: skip
