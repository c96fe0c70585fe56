"""Do the conclusions hang on the settings that are lost with figure 4b? One setting at a time is varied.

The same claims are judged by the same checks for every variant; a conclusion that has another verdict with
another setting hangs on it. `testbed reproduce pop-grape --scale full --figure sensitivity`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pandas

from experiments.pop_grape.claims.data import Data, Failed
from experiments.pop_grape.claims.declared import CLAIMS
from experiments.pop_grape.measures import MEASURES
from experiments.pop_grape.points import FULL, SMOKE, Planned, Size, settings
from experiments.pop_grape.readings import WIDE_AREA
from experiments.pop_grape.systems import BASELINE, DELAY100, LOAD100, POP, SYSTEMS
from testbed.reproduction.claim import RESTS, Claim, Finding, Undecided, judge, undecided
from testbed.reproduction.collect import Found, Groups
from testbed.reproduction.figures.plot import Figure, Series
from testbed.reproduction.point import Settings
from testbed.reproduction.study import Ask, Case, Part, Scale
from testbed.sweep.run import Effort

NAME = "sensitivity"
ENGINE = "simulate"
OURS = "ours"
PUBLISHERS, RATE = "clients.pub.count", "clients.pub.publish.rate"
OPTIONS = "defaults.broker.options"
BANDWIDTH, MATCHING = f"{OPTIONS}.output_bandwidth", f"{OPTIONS}.matching_us"


@dataclass(frozen=True)
class Variant:
    name: str
    setting: str = ""
    value: float = 0.0  # for the figure's x axis
    changes: Settings = field(default_factory=dict)
    random: bool = False  # the random workload too: only where a broker may become overloaded


VARIANTS = (
    Variant(OURS),
    Variant("5 publishers", "publishers", 5, {PUBLISHERS: 5}),
    Variant("100 ms of matching", "matching", 100, {MATCHING: 100_000}, random=True),
    Variant("0.1 Mbit/s", "bandwidth", 0.1, {BANDWIDTH: 12_500}),
    Variant("10 Mbit/s", "bandwidth", 10, {BANDWIDTH: 1_250_000}),
    Variant("0.5 ms of matching", "matching", 0.5, {MATCHING: 500}),
    Variant("60 per minute", "rate", 60, {RATE: "60/min"}),
    Variant("20 publishers", "publishers", 20, {PUBLISHERS: 20}),
)
AXES = {  # setting -> label of the axis, our own value
    "publishers": ("publishers", 10.0),
    "rate": ("publications per minute and publisher", 30.0),
    "bandwidth": ("output bandwidth of a broker (Mbit/s)", 1.0),
    "matching": ("matching of a publication (ms)", 5.0),
}
CONCLUSIONS = [
    claim for claim in CLAIMS if claim.id.partition("-")[0] in WIDE_AREA
]  # judged from these runs, X = 1 and 16
SCALES = {"smoke": Scale(SMOKE), "full": Scale(FULL)}


def planned(size: Size, variant: Variant) -> list[Planned]:
    spreads = [("clustered", 1), ("clustered", size.spread)]
    spreads += [("random", size.spread)] if variant.random else []
    found = []
    for workload, spread in spreads:
        for system, algorithm in SYSTEMS.items():
            made = settings(size, "planetlab", algorithm, workload, spread)
            found.append(Planned("planetlab", system, workload, spread, made | variant.changes))
    return found


def points(ask: Ask[Size]) -> Groups:
    found = {}
    for variant in VARIANTS:
        own = [one.point(ENGINE, seed) for one in planned(ask.size, variant) for seed in ask.seeds]
        found[variant.name] = [replace(p, labels={"variant": variant.name, **p.labels}) for p in own]
    return found


def cases(ask: Ask[Size], found: Found) -> list[Case]:
    """The claims that conclusions stay as they are, from a table of all verdicts by variant."""
    provenance = f"{ENGINE} engine, {ask.request.scale} scale, {len(ask.seeds)} seed(s)"
    runs, spread = found.table("runs"), ask.size.spread
    verdicts = pandas.concat([outcomes(found, variant, spread) for variant in VARIANTS], ignore_index=True)
    drawn = figures(runs, spread, provenance) if len(runs) else ()
    claims = [steady(claim) for claim in CONCLUSIONS]
    return [Case(claims, verdicts, provenance, drawn, tables={"verdicts": verdicts})]


def outcomes(found: Found, variant: Variant, spread: int) -> pandas.DataFrame:
    """A row per conclusion: its verdict with these settings."""
    data = of_variant(found, variant.name, spread)
    some = len(data.runs)
    judged = judge(CONCLUSIONS, data, "") if some else undecided(CONCLUSIONS, ["every run"], "")
    rows = [(variant.name, v.claim, v.outcome, v.measured, v.reason) for v in judged]
    return pandas.DataFrame(rows, columns=["variant", "claim", "outcome", "measured", "reason"])


def of_variant(found: Found, variant: str, spread: int) -> Data:
    runs, moves = (own(found.table(name), variant) for name in ("runs", "relocations"))
    lost = tuple(Failed.of(point) for point in found.failed if point.labels["variant"] == variant)
    return Data(runs, moves, spread=spread, failed=lost)


def own(table: pandas.DataFrame, variant: str) -> pandas.DataFrame:
    return table[table.variant == variant] if len(table) else table


def steady(claim: Claim[Data]) -> Claim[pandas.DataFrame]:
    """The claim that a conclusion does not hang on the settings that are ours."""

    def check(verdicts: pandas.DataFrame) -> Finding:
        own = verdicts[verdicts.claim == claim.id].set_index("variant")
        lost = [str(name) for name, reason in own.reason.items() if reason.startswith(RESTS)]
        if lost:
            raise Undecided(f"runs with {', '.join(lost)}")
        rows = own.outcome
        ours, others = rows[OURS], rows[rows != "unknown"].drop(OURS, errors="ignore")
        if ours == "unknown":
            text = ", ".join(f"{name}: {outcome}" for name, outcome in others.items())
            return Finding(None, text, "our settings do not decide it")
        if others.empty:
            return Finding(None, "", "no other setting decides it")
        changed = [f"{name}: {outcome}" for name, outcome in others.items() if outcome != ours]
        text = f"{ours} with ours; " + ("; ".join(changed) or f"{ours} with all {len(others)} others")
        return Finding(not changed, text)

    statement = f"{claim.statement}: the verdict does not hang on the lost settings"
    return Claim(f"S-{claim.id}", claim.figure, statement, "4b (lost)", "not stated", check)


# ---------------------------------------------------------------- figures

DRAWN = {
    "message_rate": "message rate",
    "client_delay_ms": "delivery delay",
    "delay_ms": "delivery delay over deliveries",
}


def figures(runs: pandas.DataFrame, spread: int, provenance: str) -> Iterator[Figure]:
    """A system's value as a share of the baseline's, over each setting."""
    rows = runs[(runs.workload == "clustered") & (runs.spread == spread)]
    for setting, (label, our_value) in AXES.items():
        values = {OURS: our_value} | {v.name: v.value for v in VARIANTS if v.setting == setting}
        chosen = rows[rows.variant.isin(values)]
        chosen = chosen.assign(x=chosen.variant.map(values))
        for measure, words in DRAWN.items():
            if measure not in chosen or chosen[measure].isna().any():
                continue  # rows of runs that were measured before
            means = chosen.groupby(["x", "system"])[measure].mean().unstack()
            lines = [
                Series(s, list(means.index), list(means[s] / means[BASELINE]))
                for s in (POP, LOAD100, DELAY100)
                if s in means
            ]
            title = f"Sensitivity: {words} by {setting}, planetlab, clustered workload, X = {spread}"
            yield Figure(
                f"figsensitivity-{setting}-{measure.removesuffix('_ms')}", title, label,
                "share of the baseline's", lines, provenance=provenance, log_x=True,
                ticks={x: f"{x:g}" for x in means.index},
            )  # fmt: skip


PART = Part(
    SCALES, (NAME,), points, cases, MEASURES, NAME, by_default=False, only_engine=ENGINE, shares_runs=True,
    tables=("runs", "relocations"), extra=lambda ask: {"engine": ENGINE},
    effort=Effort(retries=1, timeout_s=4 * 3600),
)  # fmt: skip
