"""Checks of the weight runs (5h) and the threshold runs (6d to 6h)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas

from experiments.pop_grape.claims.curves import NEARLY, NUMBER, Check
from experiments.pop_grape.claims.data import Data
from experiments.pop_grape.systems import (
    BASELINE,
    GRAPE_THRESHOLDS,
    POP_THRESHOLDS,
    WEIGHTED,
    WEIGHTS,
    grape_threshold,
    pop_threshold,
)
from testbed.reproduction.checks import at_most, near, shape
from testbed.reproduction.claim import Finding

CLUSTER = "cluster"
FALLING = tuple(reversed(WEIGHTS))
LOAD_THRESHOLDS = {n: grape_threshold("load", n) for n in GRAPE_THRESHOLDS}
DELAY_THRESHOLDS = {n: grape_threshold("delay", n) for n in GRAPE_THRESHOLDS}
P_THRESHOLDS = {n: pop_threshold(n) for n in POP_THRESHOLDS}


def at_spread(data: Data, labels: Mapping[int, str], value: str) -> dict[int, float] | None:
    """The value of each label at the X of the weight and threshold runs; None if one was not run."""
    found = {n: data.at(CLUSTER, "clustered", label, data.spread, value) for n, label in labels.items()}
    known = {n: value for n, value in found.items() if value is not None}
    return known if len(known) == len(labels) else None


def trend(labels: Mapping[int, str], value: str, rises: bool, slack: float = 0.0) -> Check:
    """From the first to the last label, step by step."""

    def check(data: Data) -> Finding:
        found = at_spread(data, labels, value)
        if found is None:
            return Finding(None, "", "these runs were not made")
        text = ", ".join(f"{labels[n]}: {v:.3g}" for n, v in found.items())
        return shape(list(found.values()), "rises" if rises else "falls", slack).said(text)

    return check


def weights(metric: str, value: str, rises: bool) -> Check:
    """As the weight falls from 100 to 1."""
    return trend({w: f"{metric}{w}" for w in FALLING}, value, rises, NEARLY)


EFFECT = ("delay_ms", "hops", "message_rate")
PLACEMENT = (
    "delay_ms",
    "hops",
    "publication_rate",
)  # not changed by the algorithm's own messages


def twins(a: str, b: str, values: Sequence[str] = EFFECT, slack: float = 0.1) -> Check:
    """Virtually equal in each of these."""

    def check(data: Data) -> Finding:
        gaps = {}
        for value in values:
            found = at_spread(data, {0: a, 1: b}, value)
            if found is None:
                return Finding(None, "", "these runs were not made")
            gaps[value] = abs(found[0] / found[1] - 1)
        text = ", ".join(f"{name} {100 * gap:.0f} %" for name, gap in gaps.items())
        return at_most(list(gaps.values()), slack).said(f"differ by {text}", f"{100 * slack:.0f} % allowed")

    return check


def no_effect(workload: str, value: str, slack: float) -> Check:
    """All weights of both metrics lie within a band around their mean."""

    def check(data: Data) -> Finding:
        found = {s: data.curve(CLUSTER, workload, s, value) for s in WEIGHTED}
        table = pandas.DataFrame(found).dropna()
        if table.empty:
            return Finding(None, "", f"the weight runs of the {workload} workload were not made")
        worst = float(((table.max(axis=1) - table.min(axis=1)) / table.mean(axis=1)).max())
        said = f"spread {100 * worst:.0f} % of the mean", f"{100 * slack:.0f} % allowed"
        return at_most([worst], slack).said(*said)

    return check


# ---------------------------------------------------------------- thresholds


def response_s(data: Data, labels: Mapping[int, str]) -> dict[int, float] | None:
    """Mean time of a publisher's first selection, counted from the run's earliest in any of these systems."""
    data.need(CLUSTER, "clustered", list(labels.values()))
    moves = data.moves
    if not len(moves):
        return None
    chosen = moves[(moves.event == "selected") & (moves.testbed == CLUSTER) & (moves.workload == "clustered")]
    chosen = chosen[(chosen.spread == data.spread) & chosen.system.isin(labels.values())]
    first = chosen.sort_values("t_us").groupby(["system", "seed", "from"]).t_us.first()
    means = first.groupby("system").mean() / 1e6
    origin = float(chosen.t_us.min()) / 1e6
    return {n: float(means[label]) - origin for n, label in labels.items() if label in means}


def slower_response(labels: Mapping[int, str]) -> Check:
    def check(data: Data) -> Finding:
        found = response_s(data, labels)
        if found is None or len(found) < len(labels):
            return Finding(None, "", "these runs were not made")
        text = ", ".join(f"{n}: {v:.0f} s" for n, v in found.items())
        seen = shape(list(found.values()), "rises", strict=True)
        return seen.said(f"first selection after the earliest one, {text}")

    return check


def threshold_10_rate_above_base(labels: Mapping[int, str]) -> Check:
    def check(data: Data) -> Finding:
        found = at_spread(data, {0: BASELINE, 1: labels[10]}, "message_rate")
        if found is None:
            return Finding(None, "", "these runs were not made")
        return Finding(found[1] > found[0], f"baseline {found[0]:.3g}, threshold 10 {found[1]:.3g} per s")

    return check


def threshold_10_most_hops(labels: Mapping[int, str]) -> Check:
    def check(data: Data) -> Finding:
        found = at_spread(data, labels, "hops")
        if found is None:
            return Finding(None, "", "these runs were not made")
        text = ", ".join(f"{n}: {v:.2f}" for n, v in found.items())
        return Finding(all(found[10] > v for n, v in found.items() if n != 10), text)

    return check


def overhead_range(labels: Mapping[int, str], stated: tuple[float, float], named: str) -> Check:
    """The two extremes. Without the report's extreme settings the numbers cannot be compared."""

    def check(data: Data) -> Finding:
        found = at_spread(data, labels, "overhead")
        if found is None:
            return Finding(None, "", "these runs were not made")
        low, high = min(found.values()), max(found.values())
        text = f"{100 * low:.0f} % .. {100 * high:.0f} % over thresholds {', '.join(map(str, found))}"
        ends = [near(low, stated[0], NUMBER), near(high, stated[1], NUMBER)]
        return Finding(all(end.holds for end in ends), text, f"within 15 points; {named}")

    return check
