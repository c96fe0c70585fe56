"""The paper's study: what it leaves open, what it claims, and the parts that judge it.

Figures 2 to 8 are computed; `emulated` is the same maintenance as a running system; `sensitivity` is only for
who asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import pandas

from experiments.shadow_tco import larger, sensitivity
from experiments.shadow_tco.claims import computed, deployed
from experiments.shadow_tco.claims.rounds import data_of
from experiments.shadow_tco.deployed_figures import deployed_figures
from experiments.shadow_tco.deployment import Churned
from experiments.shadow_tco.figures import all_figures
from experiments.shadow_tco.measures import MEASURES
from experiments.shadow_tco.points import (
    DEPLOYED_SCALES,
    POPULARITIES,
    SCALES,
    Instance,
    deployed_points,
    law_points,
)
from experiments.shadow_tco.readings import READINGS
from experiments.shadow_tco.workload import Setting
from testbed.reproduction.collect import Found
from testbed.reproduction.study import Ask, Case, Part, Study
from testbed.sweep.run import Effort


def laws(ask: Ask[Instance], found: Found) -> Sequence[Case]:
    """A case per law of popularity; the claims about a law that is not there stay open."""
    settings = [replace(ask.size.setting, popularity=law) for law in POPULARITIES]
    return [one_law(ask, found, setting) for setting in settings]


def one_law(ask: Ask[Instance], found: Found, setting: Setting) -> Case:
    """Figures and verdicts of uniform carry the paper's plain numbers, those of another law its name."""
    law = setting.popularity
    claims = computed.of_law(law)
    size = f"{setting.nodes} nodes, {setting.topics} topics, {setting.rounds} rounds"
    provenance = f"{size}, {law}"
    rounds, degrees, scratch = (of_law(found.table(name), law) for name in ("rounds", "degrees", "scratch"))
    if not len(rounds):
        return Case(claims, None, provenance, rests_on=(law,))
    data = data_of(rounds, degrees, scratch, setting.nodes, ask.request.scale == "full")
    provenance = f"{provenance}, {len(data.seeds)} seed(s)"
    drawn = all_figures(data, provenance)
    if law != "uniform":
        drawn = (replace(figure, id=f"{figure.id}-{law}") for figure in drawn)
    return Case(claims, data, provenance, drawn)


def of_law(table: pandas.DataFrame, law: str) -> pandas.DataFrame:
    return table[table.popularity == law] if len(table) else table


def as_deployed(ask: Ask[Churned], found: Found) -> Sequence[Case]:
    """Every claim is about all runs: without one of them none can be judged."""
    size = f"{ask.size.brokers} brokers, {ask.size.rounds} rounds of churn, seed {ask.seeds[0]}"
    data = deployed.Deployed(found.table("churn"), found.table("runs"), ask.size)
    drawn = deployed_figures(data.rounds, size) if len(data.runs) else ()
    lost = tuple(map(str, found.missing))
    return [Case(deployed.CLAIMS, data, f"{size}; {' and '.join(ask.engines)}", drawn, lost)]


STUDY = Study(
    "shadow-tco",
    'Chen, Jacobsen, Vitenberg: "Reinforce Your Overlay with Shadows" (2011), section VI',
    [
        Part(
            SCALES, ("2", "3", "4", "5", "6", "7", "8"), law_points, laws,
            extra=lambda ask: {"setting": asdict(ask.size.setting), "beside_every": ask.size.low_every},
            effort=Effort(retries=1, timeout_s=6 * 3600),
        ),
        Part(
            DEPLOYED_SCALES, ("emulated",), deployed_points, as_deployed, MEASURES, "emulated",
            extra=lambda ask: {"size": ask.size.said(), "engines": list(ask.engines)},
        ),
        sensitivity.PART,
        larger.PART,
    ],
    READINGS,
    [*computed.CLAIMS, *deployed.LARGER],
)  # fmt: skip
