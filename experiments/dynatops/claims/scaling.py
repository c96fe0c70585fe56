"""Section 6.3.3: figure 10 and table 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pandas

from experiments.dynatops.measures import METRICS, along, by_seed
from experiments.dynatops.points import Sizes
from experiments.dynatops.readings import SCALING, STOPPING
from testbed.reproduction.checks import at_most, below, together
from testbed.reproduction.claim import Claim, Finding
from testbed.reproduction.interval import Interval, mean_interval

Axis = Literal["brokers", "topics"]
PAPER_SECONDS = {("brokers", 10): 0.028, ("brokers", 100): 0.184, ("brokers", 1000): 96.0} | {
    ("topics", 50): 0.098, ("topics", 500): 0.502, ("topics", 5000): 1.9,
}  # fmt: skip


@dataclass(frozen=True)
class Scaling:
    """Rows of `configurations` with their savings."""

    rows: pandas.DataFrame
    sizes: Sizes


def percent(one: Interval) -> str:
    return f"{100 * one.mean:.1f} % ({100 * one.low:.1f} to {100 * one.high:.1f})"


def always_saves(axis: Axis, metric: str) -> Callable[[Scaling], Finding]:
    """Above zero at every size and for both patterns; an interval on both sides of zero cannot tell."""

    def check(data: Scaling) -> Finding:
        groups = along(data.rows, axis, data.sizes).groupby([axis, "pattern"])
        found = {key: mean_interval(group[f"{metric}_saving"].to_list()) for key, group in groups}
        if not found or min(one.n for one in found.values()) < 2:
            return Finding(None, "", "an interval needs two seeds")
        doubtful = {key: one for key, one in found.items() if one.low <= 0}
        told = [f"{size} {axis}, {pattern}: {percent(one)}" for (size, pattern), one in doubtful.items()]
        text = "; ".join(told) or f"at least {100 * min(one.low for one in found.values()):.1f} %"
        outcomes = [False if one.high <= 0 else None if one.low <= 0 else True for one in found.values()]
        return Finding(together(outcomes), text, "95 % intervals over seeds")

    return check


def more_when_skewed(axis: Axis, metric: str) -> Callable[[Scaling], Finding]:
    """Multimodal saves more than uniform, at every size: uniform's saving is below."""

    def check(data: Scaling) -> Finding:
        told, outcomes = [], []
        for size, group in along(data.rows, axis, data.sizes).groupby(axis):
            one, other = (
                by_seed(group[group.pattern == p], f"{metric}_saving") for p in ("uniform", "multimodal")
            )
            found = below(one, other)
            outcomes.append(found.holds)
            told.append(f"{size}: {found.measured}" if found.measured else f"{size}: no interval")
        text = f"uniform less multimodal, by {axis}: " + "; ".join(told)
        return Finding(together(outcomes), text, "paired, 95 % intervals; unknown where one has both signs")

    return check


def grows(axis: Axis) -> Callable[[Scaling], Finding]:
    """Processor time from the smallest size of table 1 to the largest, against the paper's growth."""

    def check(data: Scaling) -> Finding:
        seconds = along(data.rows, axis, data.sizes).groupby(axis).seconds.mean()
        listed = [size for name, size in PAPER_SECONDS if name == axis]
        if not {listed[0], listed[-1]} <= set(seconds.index):
            return Finding(None, "", "the sizes of table 1 are not there")
        theirs = PAPER_SECONDS[axis, listed[-1]] / PAPER_SECONDS[axis, listed[0]]
        ours = seconds[listed[-1]] / seconds[listed[0]]
        text = ", ".join(f"{size}: {1000 * seconds[size]:.0f} ms" for size in listed if size in seconds.index)
        return at_most([ours], theirs).said(
            f"x {ours:.0f} ({text})", f"the paper's time grows {theirs:.0f}-fold"
        )

    return check


def quick(axis: Axis) -> Callable[[Scaling], Finding]:
    def check(data: Scaling) -> Finding:
        seconds = along(data.rows, axis, data.sizes).groupby(axis).seconds.mean()
        shares = {
            size: seconds[size] / PAPER_SECONDS[axis, size]
            for size in seconds.index
            if (axis, size) in PAPER_SECONDS
        }
        text = ", ".join(f"{size}: {share:.2f}" for size, share in shares.items())
        return at_most(list(shares.values()), 1.0).said(f"of the paper's time: {text}", "processors differ")

    return check


NAMES: dict[Axis, str] = {"brokers": "10a", "topics": "10b"}
SAVES = "DYNATOPS configuration always provides improved notification performance against consistent hashing"
SKEWED = "the improvement is larger under skewed subscription patterns than under the uniform pattern"

TIMES: dict[Axis, str] = {"brokers": "28 ms, 184 ms, 96 s", "topics": "98 ms, 502 ms, 1.9 s"}


def savings(axis: Axis, metric: str) -> list[Claim[Scaling]]:
    id_, figure = f"D{NAMES[axis]}", NAMES[axis]
    saves, skewed = f"{SAVES} ({metric})", f"{SKEWED} ({metric})"
    return [
        Claim(f"{id_}-{metric}", figure, saves, "6.3.3", "> 0", always_saves(axis, metric), SCALING),
        Claim(
            f"{id_}-skewed-{metric}",
            figure,
            skewed,
            "6.3.3",
            "M > U",
            more_when_skewed(axis, metric),
            SCALING,
        ),
    ]


def times(axis: Axis) -> list[Claim[Scaling]]:
    """They rest on where the algorithm stops."""
    stated, rests_on = TIMES[axis], (STOPPING.id,)
    growth, enough = f"so the time grows with the {axis}", f"efficient for many {axis}"
    return [
        Claim(f"DT1-{axis}-growth", "table1", growth, "table 1", stated, grows(axis), rests_on),
        Claim(f"DT1-{axis}", "table1", enough, "table 1", f"{stated} or less", quick(axis), rests_on),
    ]


CLAIMS: list[Claim[Scaling]] = [
    *(claim for axis in NAMES for metric in METRICS for claim in savings(axis, metric)),
    *(claim for axis in NAMES for claim in times(axis)),
]
