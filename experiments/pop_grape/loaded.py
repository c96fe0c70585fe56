"""Brokers under load: 5.2 saw "overloads at about 1-3 internal brokers" on PlanetLab, none with load100.

With the other sets' settings no broker is busy. Here 20 publishers send 60 messages per minute, and one sweep
over the lost matching time goes from brokers that are not overloaded to brokers that are: all of it is shown,
and the claim is judged at every matching time at which the baseline has 1 to 3 overloaded brokers. That is
seen at the end, after publishers have moved. `testbed reproduce pop-grape --scale full --figure loaded`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pandas

from experiments.pop_grape.measures import MEASURES
from experiments.pop_grape.points import FULL, SMOKE, Planned, Size, settings
from experiments.pop_grape.readings import AT_THE_END, MATCHING, PUBLISHERS, RATE
from experiments.pop_grape.systems import BASELINE, DELAY100, LOAD100, POP, SYSTEMS
from testbed.reproduction.claim import Claim, Finding, Undecided
from testbed.reproduction.collect import Found, Groups
from testbed.reproduction.figures.plot import Figure, Series, Stated
from testbed.reproduction.interval import intervals
from testbed.reproduction.point import Settings
from testbed.reproduction.study import Ask, Case, Part, Scale
from testbed.sweep.run import Effort

NAME = "loaded"
ENGINE = "simulate"
MATCHING_MS = (30, 45, 60, 75, 90)
OPTIONS = "defaults.broker.options"
# 32 subscribers each and 9 minutes: a point takes as long as one of the other sets. GRAPE's first session is
# over after 100 seconds, POP's first selection after two or three minutes.
LOAD: Settings = {
    "clients.pub.count": 20, "clients.pub.publish.rate": "60/min", "clients.sub.per_publisher": 32,
}  # fmt: skip
ALL = (BASELINE, POP, LOAD100, DELAY100)
SCALES = {
    "smoke": Scale(replace(SMOKE, spread=8)),
    "full": Scale(replace(FULL, duration="9min")),
}


def points(ask: Ask[Size]) -> Groups:
    """By matching time; the systems of one are compared with each other."""
    found = {}
    for matching in MATCHING_MS:
        own = []
        for system, algorithm in SYSTEMS.items():
            made = settings(ask.size, "planetlab", algorithm, "random", ask.size.spread)
            made = made | LOAD | {f"{OPTIONS}.matching_us": 1000 * matching}
            planned = Planned("planetlab", system, "random", ask.size.spread, made)
            own += [planned.point(ENGINE, seed) for seed in ask.seeds]
        found[f"{matching} ms"] = [replace(p, labels={"matching_ms": matching, **p.labels}) for p in own]
    return found


# ---------------------------------------------------------------- claims


@dataclass(frozen=True)
class Loaded:
    runs: pandas.DataFrame
    failed: tuple[str, ...] = ()

    def overloaded(self) -> pandas.DataFrame:
        """Brokers over 100 % at the end: a row per matching time, a column per system; means over seeds."""
        if self.failed:
            raise Undecided("; ".join(self.failed))
        if not len(self.runs):
            return pandas.DataFrame()
        table = self.runs.pivot_table(index="matching_ms", columns="system", values="overloaded_at_end")
        return table.reindex(columns=list(ALL)).dropna()


def overloads(loaded: Loaded) -> Finding:
    """1 to 3 in baseline, POP and delay100, none with load100, wherever the baseline has 1 to 3."""
    table = loaded.overloaded()
    if table.empty:
        return Finding(None, "", "these runs were not made")
    text = told(table)
    chosen = table[table[BASELINE].between(1, 3)]
    if chosen.empty:
        return Finding(None, text, "the baseline has 1 to 3 overloaded brokers at no matching time")
    others = chosen[[POP, DELAY100]]
    holds = bool((chosen[LOAD100] == 0).all() and others.ge(1).all(axis=None) and others.le(3).all(axis=None))
    times = ", ".join(f"{m:g}" for m in chosen.index)
    return Finding(holds, text, f"judged at {times} ms, where the baseline has 1 to 3")


def load100_least(loaded: Loaded) -> Finding:
    """ "load100 setting is effective in minimizing ... the chances of overloading brokers"."""
    table = loaded.overloaded()
    some = table[table[BASELINE] > 0] if len(table) else table
    if some.empty:
        return Finding(None, "", "no matching time at which the baseline has an overloaded broker")
    holds = bool(some.drop(columns=LOAD100).ge(some[LOAD100], axis=0).all(axis=None))
    return Finding(holds and bool((some[LOAD100] < some[BASELINE]).any()), told(some))


def none_with_load100(loaded: Loaded) -> Finding:
    table = loaded.overloaded()
    some = table[table[BASELINE] > 0] if len(table) else table
    if some.empty:
        return Finding(None, "", "no matching time at which the baseline has an overloaded broker")
    return Finding(bool((some[LOAD100] == 0).all()), told(some[[BASELINE, LOAD100]]))


def told(table: pandas.DataFrame) -> str:
    rows = [
        f"{matching:g} ms: " + ", ".join(f"{s} {n:g}" for s, n in row.items())
        for matching, row in table.iterrows()
    ]
    return "; ".join(rows)


RESTS_ON = (PUBLISHERS.id, RATE.id, MATCHING.id, AT_THE_END.id)
CLAIMS = [
    Claim("G20-loaded", "text", "overloaded brokers, random workload, under load", "5.2",
          "1 to 3, none with load100", overloads, RESTS_ON),
    Claim("G20-none", "text", "no overloaded broker with load100 wherever the baseline has some", "5.2",
          "no overloads ever", none_with_load100, RESTS_ON),
    Claim("G20-least", "text", "load100 has the fewest overloaded brokers", "5.2",
          "minimizing the chances of overloading", load100_least, RESTS_ON),
]  # fmt: skip


# ---------------------------------------------------------------- figures

DRAWN: tuple[tuple[str, str, list[Stated]], ...] = (
    (
        "overloaded_at_end",
        "brokers over 100 % at the end",
        [Stated("baseline, POP, delay100: 1", 1.0), Stated("3", 3.0)],
    ),
    ("busiest_at_end", "input utilisation of the busiest broker", [Stated("overloaded", 1.0)]),
    ("client_delay_ms", "delivery delay (ms)", []),
    ("message_rate", "messages per second and broker", []),
)


def figures(runs: pandas.DataFrame, provenance: str) -> Iterator[Figure]:
    for value, label, stated in DRAWN:
        series = []
        for system in ALL:
            seen = intervals(runs[runs.system == system], "matching_ms", value)
            if seen:
                series.append(Series(system, list(seen), [i.mean for i in seen.values()]))
        words = value.removesuffix("_ms").replace("_", "-")
        title = f"Under load: {label}, planetlab, random workload"
        yield Figure(f"figloaded-{words}", title, "matching of a publication (ms)", label, series, stated,
                     provenance, log_y=value == "client_delay_ms")  # fmt: skip


def cases(ask: Ask[Size], found: Found) -> list[Case]:
    provenance = f"{ENGINE} engine, {ask.request.scale} scale, {len(ask.seeds)} seed(s)"
    runs = found.table("runs")
    drawn = figures(runs, provenance) if len(runs) else ()
    return [Case(CLAIMS, Loaded(runs, tuple(map(str, found.failed))), provenance, tuple(drawn))]


PART = Part(
    SCALES, (NAME,), points, cases, MEASURES, NAME, by_default=False, only_engine=ENGINE,
    tables=("runs", "relocations"), extra=lambda ask: {"engine": ENGINE},
    effort=Effort(retries=1, timeout_s=4 * 3600),
)  # fmt: skip
