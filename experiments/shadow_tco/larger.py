"""`--figure larger`: the running system at sizes where the paper's factors can show.

100 brokers in the guest and simulated, 500 simulated; the coordinator's computing time is charged as time, as
ours takes it at that size, and for 500 also as the paper states it for 2,000 nodes. Not among "all figures":
100 real brokers take their time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import pandas

from experiments.shadow_tco.claims.deployed import LARGER, Deployed
from experiments.shadow_tco.deployed_figures import deployed_figures
from experiments.shadow_tco.deployment import Churned, plan_of
from experiments.shadow_tco.measures import MEASURES
from experiments.shadow_tco.points import COMPUTING, HERE
from experiments.shadow_tco.systems import DEPLOYED
from experiments.shadow_tco.workload import Setting
from testbed.reproduction.claim import Claim
from testbed.reproduction.collect import Found, Groups
from testbed.reproduction.figures.plot import Figure
from testbed.reproduction.point import Label, Point, computed, run_of_plan
from testbed.reproduction.study import Ask, Case, Part, Scale
from testbed.sweep.run import Effort

NAME = "larger"
DECIDING = (*COMPUTING, *(f"{HERE}.{name}" for name in ("rounds", "systems", "workload")))


@dataclass(frozen=True)
class Set:
    """The three systems under the same churn."""

    name: str
    size: Churned
    engines: tuple[str, ...]  # a set of two has the runs of the set of one, too

    def points(self, seed: int) -> list[Point]:
        return [self.point(engine, system, seed) for engine in self.engines for system in DEPLOYED]

    def point(self, engine: str, system: str, seed: int) -> Point:
        size = self.size
        labels: dict[str, Label] = {
            "brokers": size.brokers, "charged": size.charged, "engine": engine, "system": system,
            "seed": seed,
        }  # fmt: skip
        place = self.name.removesuffix("-guest")
        return run_of_plan(
            f"{engine}-{place}", f"{system}-{seed}", plan_of(size, system, seed),
            {**size.said(), "maintenance": system}, engine, labels, f"{engine} {place} {system}",
        )  # fmt: skip


OF_100 = Churned(
    brokers=100, spare=20, topics=50, smallest=5, largest=23, per_host=5, charged="measured", balanced=True
)
OF_500 = replace(OF_100, brokers=500, spare=50, topics=100, largest=45)
SLOW = replace(OF_500, charged="stated", rounds=4, period_us=30_000_000, publish_every_us=1_000_000)
SMALL = Churned(
    brokers=12,
    spare=3,
    topics=8,
    publishers=2,
    rounds=6,
    smallest=3,
    largest=6,
    per_host=3,
    charged="measured",
)
SIMULATED = ("simulate",)
SCALES: dict[str, Scale[tuple[Set, ...]]] = {
    "smoke": Scale((
        Set("12", SMALL, SIMULATED),
        Set("12-stated", replace(SMALL, charged="stated", period_us=30_000_000, balanced=True), SIMULATED),
    ), engines=SIMULATED),
    "full": Scale((
        Set("500", OF_500, SIMULATED),
        Set("500-stated", SLOW, SIMULATED),
        Set("100", OF_100, SIMULATED),
        Set("100-guest", OF_100, ("simulate", "guest")),
    ), engines=("simulate", "guest")),
}  # fmt: skip
Sets = tuple[Set, ...]


def sets_of(ask: Ask[Sets]) -> list[Set]:
    """Where another engine than the scale's is asked for, each set is run there alone."""
    return [replace(one, engines=tuple(e for e in one.engines if e in ask.engines)) for one in ask.size]


def points(ask: Ask[Sets]) -> Groups:
    sizes = list(dict.fromkeys(one.size.brokers for one in ask.size))
    setting = {one.size.brokers: setting_of(one.size) for one in ask.size}
    timed = [timed_point(n, setting[n], seed) for n in sizes for seed in ask.seeds]
    runs = {one.name: [p for seed in ask.seeds for p in one.points(seed)] for one in sets_of(ask)}
    return {"computing": timed} | runs


def setting_of(size: Churned) -> Setting:
    return Setting(size.brokers, size.topics, size.smallest, size.largest, rounds=100)


def timed_point(brokers: int, setting: Setting, seed: int) -> Point:
    arguments = {"setting": asdict(setting)}
    labels = {"brokers": brokers, "seed": seed}
    name = f"{brokers}-{seed}"
    function = f"{HERE}.computing:computing"
    return computed("computing", name, function, arguments, seed, labels, DECIDING, f"computing {name}")


def cases(ask: Ask[Sets], found: Found) -> Sequence[Case]:
    """Of each set its claims; without one of its runs none can be judged."""
    lost = {str(point) for point in found.missing}
    return [one_set(one, ask, found, lost) for one in sets_of(ask)]


def one_set(one: Set, ask: Ask[Sets], found: Found, lost: set[str]) -> Case:
    size, seeds = one.size, ask.seeds
    data = Deployed(of_set(found.table("churn"), one), of_set(found.table("runs"), one), size)
    claims = [named(claim, one.name) for claim in LARGER]
    where = f"{size.brokers} brokers, {size.rounds} rounds of churn, computing charged: {size.charged}"
    rests_on = tuple(str(p) for seed in seeds for p in one.points(seed) if str(p) in lost)
    drawn = drawings(one, data, where) if len(data.runs) else ()
    return Case(claims, data, f"{where}; {' and '.join(one.engines)}", drawn, rests_on)


def named(claim: Claim[Deployed], name: str) -> Claim[Deployed]:
    return replace(claim, id=f"{claim.id}-{name}")


def of_set(table: pandas.DataFrame, one: Set) -> pandas.DataFrame:
    if not len(table):
        return table
    own = (table.brokers == one.size.brokers) & (table.charged == one.size.charged)
    return table[own & table.engine.isin(one.engines)]


def drawings(one: Set, data: Deployed, where: str) -> Iterator[Figure]:
    for figure in deployed_figures(data.rounds, where):
        yield replace(figure, id=f"{NAME}-{one.name}-{figure.id}")


PART = Part(
    SCALES, (NAME,), points, cases, MEASURES, NAME, by_default=False,
    extra=lambda ask: {"engines": list(ask.engines)}, effort=Effort(retries=1, timeout_s=4 * 3600),
)  # fmt: skip
