"""Checks of the weight runs (5h), the threshold runs (6d to 6h), memory (5e) and overheads over all runs."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import pandas

import broker_grpc.protocols.relocation
from broker_grpc.protocols.relocation.selection import BrokerStatistics, Tree, choose, estimates
from experiments.pop_grape.checks import NEARLY, NUMBER, Check
from experiments.pop_grape.data import Data
from experiments.pop_grape.systems import (
    BASELINE,
    DELAY100,
    GRAPE_THRESHOLDS,
    LOAD100,
    POP,
    POP_THRESHOLDS,
    WEIGHTED,
    WEIGHTS,
    grape_threshold,
    pop_threshold,
)
from testbed.figures.verdict import Finding

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
        steps = list(itertools.pairwise(found.values()))
        up, down = (all(b >= a * (1 - slack) for a, b in steps), all(b <= a * (1 + slack) for a, b in steps))
        text = ", ".join(f"{labels[n]}: {v:.3g}" for n, v in found.items())
        return Finding(up if rises else down, text, f"{100 * slack:.0f} % slack" if slack else "")

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
        return Finding(max(gaps.values()) <= slack, f"differ by {text}", f"{100 * slack:.0f} % allowed")

    return check


def no_effect(workload: str, value: str, slack: float) -> Check:
    """All weights of both metrics lie within a band around their mean."""

    def check(data: Data) -> Finding:
        found = {s: data.curve(CLUSTER, workload, s, value) for s in WEIGHTED}
        table = pandas.DataFrame(found).dropna()
        if table.empty:
            return Finding(None, "", f"the weight runs of the {workload} workload were not made")
        worst = float(((table.max(axis=1) - table.min(axis=1)) / table.mean(axis=1)).max())
        return Finding(
            worst <= slack, f"spread {100 * worst:.0f} % of the mean", f"{100 * slack:.0f} % allowed"
        )

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
        holds = all(b > a for a, b in itertools.pairwise(found.values()))
        return Finding(holds, f"first selection after the earliest one, {text}")

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
        near = abs(low - stated[0]) <= NUMBER and abs(high - stated[1]) <= NUMBER
        return Finding(near, text, f"within 15 points; {named}")

    return check


# ---------------------------------------------------------------- over all runs


def overhead_saved(data: Data) -> Finding:
    """G7: "by up to 91 %", over every pair of runs of GRAPE and POP."""
    data.need(systems=(POP, LOAD100, DELAY100))
    best, where = -1.0, ""
    for (testbed, workload), _ in data.runs.groupby(["testbed", "workload"]):
        pop = data.curve(testbed, workload, POP, "overhead")
        for system in (LOAD100, DELAY100):
            saved = (1 - data.curve(testbed, workload, system, "overhead") / pop).dropna()
            if len(saved) and float(saved.max()) > best:
                best = float(saved.max())
                where = f"{system}, {testbed}, {workload}, X = {int(saved.idxmax())}"
    if not where:
        return Finding(None, "", "GRAPE and POP were not both run")
    return Finding(abs(best - 0.91) <= NUMBER, f"{100 * best:.0f} % ({where})", "largest; within 15 points")


def memory_testbed(data: Data) -> str | None:
    """Memory is measured on real processes only; on whichever testbed has them."""
    data.need(workload="clustered")
    known = data.runs[data.runs.memory_mb.notna()]
    known = known[known.workload == "clustered"]
    return None if not len(known) else str(known.testbed.iloc[0])


def extra_memory(systems: tuple[str, ...], stated: float) -> Check:
    def check(data: Data) -> Finding:
        testbed = memory_testbed(data)
        if testbed is None:
            return Finding(None, "", "memory is measured on real processes only (guest, host)")
        base = data.curve(testbed, "clustered", BASELINE, "memory_mb")
        more = [(data.curve(testbed, "clustered", s, "memory_mb") / base - 1).dropna() for s in systems]
        if not all(len(m) for m in more):
            return Finding(None, "", "not all systems were run")
        worst = max(float(m.max()) for m in more)
        megabytes = worst * float(base.mean())
        return Finding(worst <= stated, f"{100 * worst:+.1f} % ({megabytes:.1f} MB), {testbed}")

    return check


def memory_order(data: Data) -> Finding:
    """5e: baseline < POP < GRAPE, and no difference between load100 and delay100."""
    testbed = memory_testbed(data)
    if testbed is None:
        return Finding(None, "", "memory is measured on real processes only (guest, host)")
    means = {
        s: data.curve(testbed, "clustered", s, "memory_mb").mean() for s in (BASELINE, POP, LOAD100, DELAY100)
    }
    if any(pandas.isna(m) for m in means.values()):
        return Finding(None, "", "not all systems were run")
    text = ", ".join(f"{s} {m:.2f} MB" for s, m in means.items())
    holds = means[BASELINE] < means[POP] < min(means[LOAD100], means[DELAY100])
    return Finding(bool(holds), text)


def baseline_memory(data: Data) -> Finding:
    testbed = memory_testbed(data)
    if testbed is None:
        return Finding(None, "", "memory is measured on real processes only (guest, host)")
    mean = float(data.curve(testbed, "clustered", BASELINE, "memory_mb").mean())
    return Finding(
        53 / 2 <= mean <= 56 * 2, f"{mean:.0f} MB", "within a factor of two; Java there, Python here"
    )


def selection_computation(data: Data) -> Finding:
    """G15: phase 2 with 63 brokers that all have subscribers, computed here and now."""
    random = Random(1)
    brokers = []
    for i in range(63):
        near = [f"B{n}" for n in ((i - 1) // 2, 2 * i + 1, 2 * i + 2) if 0 <= n < 63 and n != i]
        near = near if i else ["B1", "B2"]
        vector = random.getrandbits(100) & random.getrandbits(100)
        brokers.append(BrokerStatistics(f"B{i}", near, vector, vector.bit_count(), 100, 5000))
    pings = {b.id: random.randrange(200_000) for b in brokers}
    took = []
    for _ in range(5):
        start = time.process_time()
        choose(estimates(Tree(brokers), sorted(pings), pings), "delay", 1, "B0")
        took.append(time.process_time() - start)
    return Finding(
        min(took) < 0.07, f"{1e3 * min(took):.2f} ms of processor time", "best of five, this machine"
    )


def code_size(data: Data) -> Finding:
    """G19 is a property of their code; ours is given beside it."""
    folder = Path(broker_grpc.protocols.relocation.__file__).parent
    lines = {p.stem: len(p.read_text(encoding="utf-8").splitlines()) for p in folder.glob("*.py")}
    pop = sum(lines[n] for n in ("pop", "profile", "tagging"))
    grape = sum(lines[n] for n in ("grape", "selection", "tracing"))
    shared = sum(lines.values()) - pop - grape
    text = f"ours: POP {pop}, GRAPE {grape}, shared {shared} lines"
    return Finding(None, text, "a property of the report's own code")
