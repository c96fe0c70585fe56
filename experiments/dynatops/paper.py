"""The paper's study: figures 5 to 9 by flow, figure 10 and table 1 computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from experiments.dynatops import deployed, models
from experiments.dynatops.claims import location, poisson
from experiments.dynatops.claims import visits as seen
from experiments.dynatops.claims.data import Data, with_values
from experiments.dynatops.claims.scaling import CLAIMS, Scaling
from experiments.dynatops.figures import model_figures, scaling_figures
from experiments.dynatops.measures import with_savings
from experiments.dynatops.points import SCALES, VARIED_SCALES, Sizes, scaling_points, varied_points
from experiments.dynatops.readings import READINGS
from testbed.reproduction.collect import Found
from testbed.reproduction.study import Ask, Case, Part, Study
from testbed.sweep.run import Effort


def as_configured(ask: Ask[Sizes], found: Found) -> Sequence[Case]:
    """Every claim is about all sizes: without one of them none can be judged."""
    provenance = f"computed, {len(ask.seeds)} seed(s), 95 % intervals"
    lost = tuple(map(str, found.missing))
    rows = found.table("configurations")
    if rows.empty:
        return [Case(CLAIMS, None, provenance, rests_on=lost or ("nothing was computed",))]
    rows = with_savings(rows)
    drawn = scaling_figures(rows, ask.size, provenance)
    return [Case(CLAIMS, Scaling(rows, ask.size), provenance, drawn, lost)]


def as_flowed(ask: Ask[models.Instance], found: Found) -> Sequence[Case]:
    """A claim whose points are not all there says so itself: many points, and most claims need few."""
    size = f"by flow, {len(found.measured)} of {len(found.asked)} points, up to {len(ask.seeds)} seed(s)"
    tables = {name: found.table(name) for name in ("poisson", "location")}
    data = Data(*(with_values(rows) if len(rows) else rows for rows in tables.values()))
    visits = found.table("visits")
    rests_on = () if len(visits) else ("the visits",)
    drawn = model_figures(data, found.table("distributions"), size)
    return [
        Case([*location.CLAIMS, *poisson.CLAIMS], data, size, drawn),
        Case(seen.CLAIMS, visits, size, rests_on=rests_on),
    ]


STUDY = Study(
    "dynatops",
    'Zhao, Kim, Venkatasubramanian: "DYNATOPS" (DEBS 2013), section 6',
    [
        Part(
            models.SCALES, ("5", "6", "7", "8", "9"), models.points, as_flowed,
            extra=lambda ask: asdict(ask.size), effort=Effort(retries=0, timeout_s=7200),
        ),
        Part(
            SCALES, ("10a", "10b", "table1"), scaling_points, as_configured, name="scaling",
            extra=lambda ask: {"sizes": asdict(ask.size)},
        ),
        Part(
            VARIED_SCALES, ("sensitivity",), varied_points, lambda ask, found: [], name="sensitivity",
            by_default=False,
        ),
        deployed.PART,
    ],
    READINGS,
    [*seen.CLAIMS, *location.CLAIMS, *poisson.CLAIMS, *CLAIMS],
)  # fmt: skip
