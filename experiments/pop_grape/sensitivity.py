"""Do the conclusions hang on the settings that are lost with figure 4b? One setting at a time is varied.

The same claims are judged by the same checks for every variant; a conclusion that has another verdict with
another setting hangs on it. `testbed reproduce pop-grape --scale full --figure sensitivity`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pandas

from experiments.pop_grape.claims import CLAIMS
from experiments.pop_grape.data import Data
from experiments.pop_grape.runs import Collected, run_all
from experiments.pop_grape.systems import (
    BASELINE,
    DELAY100,
    LOAD100,
    POP,
    SCALES,
    SYSTEMS,
    Planned,
    Settings,
    settings,
)
from testbed.errors import InputError
from testbed.figures.plot import Figure, Series
from testbed.figures.reproduction import Request, ResultFolder
from testbed.figures.verdict import RESTS, Claim, Finding, Undecided, Verdict, judge, undecided

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
# What can be judged from the wide-area runs at X = 1 and 16.
CONCLUSIONS = (
    "G1", "G2", "G3", "G4", "G5", "G6", "F5a", "F5a1", "F5a2", "F5b", "F5b2", "F5c", "F5c2", "F5d2", "F5f2",
    "F6a", "F6b", "F6b2", "F6b3", "F6c", "G16", "G17", "G18", "G20", "G22",
)  # fmt: skip


def points(scale: str, variant: Variant) -> list[Planned]:
    chosen = SCALES[scale]
    spreads = [("clustered", 1), ("clustered", chosen.spread)]
    spreads += [("random", chosen.spread)] if variant.random else []
    found = []
    for workload, spread in spreads:
        for system, algorithm in SYSTEMS.items():
            made = settings(chosen, "planetlab", algorithm, workload, spread)
            found.append(Planned("planetlab", system, workload, spread, made | variant.changes))
    return found


def reproduce_sensitivity(request: Request) -> list[Verdict]:
    if request.engine not in ("", ENGINE):
        raise InputError(
            f"the sensitivity study is run on the simulator only, not on '{request.engine}'",
            hint=f"leave --engine out or say --engine {ENGINE}",
        )
    request = replace(request, engine=ENGINE)
    folder = ResultFolder(request, NAME, whole=True)
    seeds = list(range(1, (request.seeds or 1) + 1))
    provenance = f"{ENGINE} engine, {request.scale} scale, {len(seeds)} seed(s)"
    raw = request.folder / "runs"  # those of our own settings are the figures' own runs
    runs, judged = [], []
    for variant in VARIANTS:
        request.report(f"sensitivity: {variant.name}")
        found = run_all(points(request.scale, variant), ENGINE, seeds, raw, request)
        runs.append(_named(variant, found.runs))
        judged.append(_named(variant, outcomes(found, SCALES[request.scale].spread)))
    table, verdicts = (pandas.concat(parts, ignore_index=True) for parts in (runs, judged))
    folder.table("runs", table)
    folder.table("verdicts", verdicts)
    if len(table):
        for figure in figures(table, SCALES[request.scale].spread, provenance):
            folder.figure(figure)
    folder.extra = {
        "engine": ENGINE, "seeds": seeds, "runs": len(table), "failed": list(request.failed),
    }  # fmt: skip
    final = judge([steady(claim) for claim in CLAIMS if claim.id in CONCLUSIONS], verdicts, provenance)
    folder.close(final)
    return final


def _named(variant: Variant, rows: pandas.DataFrame) -> pandas.DataFrame:
    rows = rows.copy()
    rows.insert(0, "variant", variant.name)
    return rows


def outcomes(found: Collected, spread: int) -> pandas.DataFrame:
    """A row per conclusion: its verdict with these settings."""
    claims = [c for c in CLAIMS if c.id in CONCLUSIONS]
    some = len(found.runs)
    verdicts = judge(claims, found.judged(spread), "") if some else undecided(claims, ["every run"], "")
    return pandas.DataFrame(
        [
            {"claim": v.claim, "outcome": v.outcome, "measured": v.measured, "reason": v.reason}
            for v in verdicts
        ]
    )


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
        changed = [f"{name}: {outcome}" for name, outcome in others.items() if outcome != ours]
        text = f"{ours} with ours; " + ("; ".join(changed) or f"{ours} with all {len(others)} others")
        return Finding(not changed, text)

    statement = f"{claim.statement}: the verdict does not hang on the lost settings"
    return Claim(f"S-{claim.id}", claim.figure, statement, "4b (lost)", "not stated", check)


# ---------------------------------------------------------------- figures

MEASURES = {"message_rate": "message rate", "delay_ms": "delivery delay"}


def figures(runs: pandas.DataFrame, spread: int, provenance: str) -> Iterator[Figure]:
    """A system's value as a share of the baseline's, over each setting."""
    rows = runs[(runs.workload == "clustered") & (runs.spread == spread)]
    for setting, (label, our_value) in AXES.items():
        values = {OURS: our_value} | {v.name: v.value for v in VARIANTS if v.setting == setting}
        chosen = rows[rows.variant.isin(values)]
        chosen = chosen.assign(x=chosen.variant.map(values))
        for measure, words in MEASURES.items():
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
