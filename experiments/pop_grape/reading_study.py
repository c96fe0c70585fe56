"""What the report leaves open in the algorithms themselves, read in each other way, one reading at a time.

Every variant is a setting of the relocation layer or of the broker, so what is run is the algorithm read so.
The grid is thinner than the whole: PlanetLab, clustered workload, X = 1 and 16, three seeds. Systems that
a reading does not touch are those of the full set.

    testbed reproduce pop-grape --scale full --figure readings
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import pandas

from experiments.pop_grape import readings
from experiments.pop_grape.claims.data import Data
from experiments.pop_grape.measures import MEASURES
from experiments.pop_grape.points import FULL, SMOKE, Planned, Size, settings
from experiments.pop_grape.sensitivity import CONCLUSIONS, of_variant
from experiments.pop_grape.systems import BASELINE, DELAY100, LOAD100, POP, SYSTEMS
from testbed.reproduction.claim import Claim, judge, undecided
from testbed.reproduction.collect import Found, Groups
from testbed.reproduction.figures.plot import Figure, Series, Stated
from testbed.reproduction.interval import mean_interval
from testbed.reproduction.point import Settings
from testbed.reproduction.reading import Reading
from testbed.reproduction.study import Ask, Case, Part, Scale
from testbed.sweep.run import Effort

NAME = "readings"
ENGINE = "simulate"
DEFAULT = "default"
OPTIONS = "defaults.broker.options"
# Half of a session's time at 30 messages per minute: every link is measured before the first answer, and a
# broker sends as few heartbeats as that allows.
HEARTBEATS: Settings = {f"{OPTIONS}.heartbeat_interval_us": 100_000_000}


@dataclass(frozen=True)
class Variant:
    name: str
    reading: Reading | None = None
    choice: str = ""  # of the reading
    systems: tuple[str, ...] = ()  # that it touches
    algorithm: Mapping[str, object] = field(default_factory=dict)
    changes: Settings = field(default_factory=dict)

    @property
    def told(self) -> str:
        return f"{self.reading.id}: {self.choice}" if self.reading else "the default readings"


GRAPE, ALL = (LOAD100, DELAY100), (POP, LOAD100, DELAY100)
INTERNAL = f"{OPTIONS}.internal_messages"
VARIANTS = (
    Variant(DEFAULT),
    Variant("link latency", readings.OUTPUT_DELAY, "with the link's latency", GRAPE, {"link_latency": True},
            HEARTBEATS),
    Variant("whole ping", readings.PING, "whole", GRAPE, {"ping": "whole"}),
    Variant("own broker out", readings.OWN, "no", GRAPE, {"own_candidate": False}),
    Variant("rows of what came", readings.ROWS, "those that reached it", (POP,), {"absent": "unchanged"}),
    Variant("late rows weighted", readings.LATE_ROW, "weighted with zeros before", (POP,),
            {"late_row": "weighted"}),
    Variant("internal counted", readings.INTERNAL, "matched, and load", ALL, {}, {INTERNAL: "counted"}),
    Variant("internal matched", readings.INTERNAL, "matched, no load", ALL, {}, {INTERNAL: "matched"}),
)  # fmt: skip
SCALES = {"smoke": Scale(SMOKE), "full": Scale(FULL, seeds=3)}


def planned(size: Size, variant: Variant) -> list[Planned]:
    found = []
    for spread in (1, size.spread):
        for system, algorithm in SYSTEMS.items():
            touched = system in variant.systems
            own = algorithm | dict(variant.algorithm) if touched else algorithm
            made = settings(size, "planetlab", own, "clustered", spread)
            changed = made | variant.changes if touched else made
            found.append(Planned("planetlab", system, "clustered", spread, changed))
    return found


def points(ask: Ask[Size]) -> Groups:
    found = {}
    for variant in VARIANTS:
        own = [one.point(ENGINE, seed) for one in planned(ask.size, variant) for seed in ask.seeds]
        found[variant.name] = [replace(p, labels={"variant": variant.name, **p.labels}) for p in own]
    return found


# ---------------------------------------------------------------- verdicts


def read_so(claim: Claim[Data], variant: Variant) -> Claim[Data]:
    """The claim with this reading taken in another way."""
    rests = (variant.reading.id,) if variant.reading else ()
    statement = f"{claim.statement}; {variant.told}"
    return replace(
        claim, id=f"{claim.id}@{variant.name.replace(' ', '-')}", statement=statement,
        readings=tuple(dict.fromkeys((*claim.readings, *rests))),
    )  # fmt: skip


def cases(ask: Ask[Size], found: Found) -> list[Case]:
    """Every conclusion under every reading, and a table of them all."""
    provenance = f"{ENGINE} engine, {ask.request.scale} scale, X = 1 and {ask.size.spread}"
    table = pandas.concat([outcomes(found, v, ask.size.spread) for v in VARIANTS], ignore_index=True)
    made = []
    for variant in VARIANTS:
        data = of_variant(found, variant.name, ask.size.spread)
        claims = [read_so(claim, variant) for claim in CONCLUSIONS]
        some = len(data.runs) > 0
        where = f"{provenance}, {len(set(data.runs.seed)) if some else 0} seed(s)"
        made.append(Case(claims, data, where, rests_on=() if some else ("every run",)))
    runs = found.table("runs")
    drawn = figures(runs, ask.size.spread, provenance) if len(runs) else ()
    return [replace(made[0], figures=tuple(drawn), tables={"verdicts": table}), *made[1:]]


def outcomes(found: Found, variant: Variant, spread: int) -> pandas.DataFrame:
    """A row per conclusion: its verdict with this reading."""
    data = of_variant(found, variant.name, spread)
    some = len(data.runs)
    judged = judge(CONCLUSIONS, data, "") if some else undecided(CONCLUSIONS, ["every run"], "")
    rows = [(variant.name, variant.told, v.claim, v.outcome, v.measured, v.reason) for v in judged]
    return pandas.DataFrame(rows, columns=["variant", "reading", "claim", "outcome", "measured", "reason"])


def turned(table: pandas.DataFrame) -> pandas.DataFrame:
    """Conclusions that have another verdict under some reading, as a table of verdicts by variant."""
    wide = table.pivot(index="claim", columns="variant", values="outcome")
    told = wide.where(wide != "unknown")
    return wide[told.nunique(axis=1) > 1]


# ---------------------------------------------------------------- figures

DRAWN = {
    "message_rate": ("message rate", [Stated("POP and load100: -85 %", 0.15)]),
    "client_delay_ms": ("delivery delay", [Stated("delay100: -68 %", 0.32), Stated("POP: -63 %", 0.37)]),
}


def figures(runs: pandas.DataFrame, spread: int, provenance: str) -> Iterator[Figure]:
    """Each system's value as a share of the baseline's, seed by seed, under each reading: points without
    lines, as readings are no numbers."""
    names = [v.name for v in VARIANTS]
    for x in (1, spread):
        for value, (words, stated) in DRAWN.items():
            at = runs[runs.spread == x]
            series = [s for system in ALL if (s := _shares(at, system, value, names)) is not None]
            if series:
                title = f"Readings: {words} as a share of the baseline's, planetlab, clustered, X = {x}"
                id_ = f"figreadings-{value.removesuffix('_ms').replace('_', '-')}-x{x}"
                ticks = dict(enumerate(names))
                yield Figure(
                    id_, title, "reading", "share of the baseline's", series, stated if x == 1 else (),
                    f"{provenance}; paired by seed", ticks={float(k): v for k, v in ticks.items()},
                )  # fmt: skip


def _shares(rows: pandas.DataFrame, system: str, value: str, names: list[str]) -> Series | None:
    at, seen = [], []
    for number, name in enumerate(names):
        own = rows[rows.variant == name].set_index(["system", "seed"])
        if value not in own or system not in own.index or BASELINE not in own.index:
            continue
        ratio = (own.loc[system][value] / own.loc[BASELINE][value]).dropna()
        if len(ratio):
            at.append(float(number))
            seen.append(mean_interval(ratio.to_list()))
    if not at:
        return None
    return Series(
        system, at, [i.mean for i in seen], [i.low for i in seen], [i.high for i in seen], style="marks"
    )


PART = Part(
    SCALES, (NAME,), points, cases, MEASURES, NAME, by_default=False, only_engine=ENGINE, shares_runs=True,
    tables=("runs", "relocations"), extra=lambda ask: {"engine": ENGINE},
    effort=Effort(retries=1, timeout_s=4 * 3600),
)  # fmt: skip
