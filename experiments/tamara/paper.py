"""The paper's study: what it leaves open, what it claims, and the parts that judge it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from experiments.tamara import checkpoint, emulated, sensitivity, trees
from experiments.tamara.claims import curves, tables
from experiments.tamara.claims.data import Data
from experiments.tamara.figures import all_figures
from experiments.tamara.points import SCALES, Instance, points
from experiments.tamara.readings import READINGS
from testbed.reproduction.collect import Found
from testbed.reproduction.study import Ask, Case, Part, Study
from testbed.sweep.run import Effort

FIGURES = ("5", "6", "7", "8", "9", "sizes", "table 2", "table 3")
CLAIMS = [*curves.CLAIMS, *tables.CLAIMS]


def cases(ask: Ask[Instance], found: Found) -> Sequence[Case]:
    """A claim is open if a point is missing that it is about."""
    setting = ask.size.setting
    size = f"{setting.users} users, {setting.topics} topics, {len(ask.seeds)} seed(s), by flow"
    if not found.measured:
        return [Case(CLAIMS, None, size, rests_on=tuple(map(str, found.missing)) or ("every point",))]
    missing = {(str(p.labels["scenario"]), str(p.labels["model"])) for p in found.missing}
    full = ask.request.scale == "full"
    data = Data(found.table("curves"), found.table("ends"), full, sorted(missing))
    return [Case(CLAIMS, data, size, all_figures(data, size))]


STUDY = Study(
    "tamara",
    'Milo, Zur, Verbin: "Boosting Topic-Based Publish-Subscribe Systems with Dynamic Clustering" (2007), 5',
    [
        Part(
            SCALES, FIGURES, points, cases, extra=lambda ask: asdict(ask.size),
            effort=Effort(retries=0, timeout_s=3600),
        ),
        sensitivity.PART,
        trees.PART,
        checkpoint.PART,
        emulated.PART,
    ],
    READINGS,
    [*CLAIMS, *trees.CLAIMS, *checkpoint.CLAIMS, *emulated.CLAIMS],
)  # fmt: skip
