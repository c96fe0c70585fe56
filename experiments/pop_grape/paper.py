"""The report's study: what it leaves open, what it claims, and the parts that judge it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.pop_grape import loaded, memory, reading_study, sensitivity, state
from experiments.pop_grape.claims.data import Data
from experiments.pop_grape.claims.declared import CLAIMS
from experiments.pop_grape.figures import all_figures
from experiments.pop_grape.measures import MEASURES
from experiments.pop_grape.points import FIGURE_GROUPS, SCALES, Size, points, wanted_groups
from experiments.pop_grape.readings import READINGS
from testbed.reproduction.collect import Found
from testbed.reproduction.reproduce import seeds_told
from testbed.reproduction.study import Ask, Case, Part, Study
from testbed.sweep.run import Effort

EFFORT = Effort(retries=1, timeout_s=4 * 3600)


def cases(ask: Ask[Size], found: Found) -> Sequence[Case]:
    """All claims from all runs; tables and figures of the runs that there are."""
    where = f"{ask.engine} engine, {ask.request.scale} scale"
    if not found.measured:
        return [Case(CLAIMS, None, where, rests_on=("every run",))]
    provenance = f"{where}, {seeds_told(found)} seed(s)"
    data = Data.of(found, ask.size.spread)
    return [Case(CLAIMS, data, provenance, all_figures(data.drawn(), provenance))]


def extra(ask: Ask[Size]) -> dict[str, Any]:
    return {"engine": ask.engine, "groups": wanted_groups(ask.size, ask.request.figures, ask.engine)}


STUDY = Study(
    "pop-grape",
    'Cheung and Jacobsen: "Publisher Relocation Algorithms ..." (CSRG-597, 2009), section 5',
    [
        Part(SCALES, tuple(FIGURE_GROUPS), points, cases, MEASURES, extra=extra, effort=EFFORT),
        sensitivity.PART,
        memory.PART,
        reading_study.PART,
        loaded.PART,
        state.PART,
    ],
    READINGS,
    CLAIMS,
)
