"""Checks of memory (5e): of real processes only."""

from __future__ import annotations

import pandas

from experiments.pop_grape.claims.curves import Check
from experiments.pop_grape.claims.data import Data
from experiments.pop_grape.systems import BASELINE, DELAY100, LOAD100, POP
from testbed.reproduction.checks import at_most, within
from testbed.reproduction.claim import Finding

NOT_MEASURED = Finding(None, "", "memory is measured on real processes only (guest, host)")


def measured_on(data: Data) -> str | None:
    """Memory is measured on real processes only; on whichever testbed has them."""
    data.need(workload="clustered")
    known = data.runs[data.runs.memory_mb.notna()]
    known = known[known.workload == "clustered"]
    return None if not len(known) else str(known.testbed.iloc[0])


def extra(systems: tuple[str, ...], stated: float) -> Check:
    def check(data: Data) -> Finding:
        testbed = measured_on(data)
        if testbed is None:
            return NOT_MEASURED
        base = data.curve(testbed, "clustered", BASELINE, "memory_mb")
        more = [(data.curve(testbed, "clustered", s, "memory_mb") / base - 1).dropna() for s in systems]
        if not all(len(m) for m in more):
            return Finding(None, "", "not all systems were run")
        worst = max(float(m.max()) for m in more)
        megabytes = worst * float(base.mean())
        return at_most([worst], stated).said(f"{100 * worst:+.1f} % ({megabytes:.1f} MB), {testbed}")

    return check


def ordered(data: Data) -> Finding:
    """5e: baseline < POP < GRAPE, and no difference between load100 and delay100."""
    testbed = measured_on(data)
    if testbed is None:
        return NOT_MEASURED
    means = {
        s: data.curve(testbed, "clustered", s, "memory_mb").mean() for s in (BASELINE, POP, LOAD100, DELAY100)
    }
    if any(pandas.isna(m) for m in means.values()):
        return Finding(None, "", "not all systems were run")
    text = ", ".join(f"{s} {m:.2f} MB" for s, m in means.items())
    holds = means[BASELINE] < means[POP] < min(means[LOAD100], means[DELAY100])
    return Finding(bool(holds), text)


def of_baseline(data: Data) -> Finding:
    testbed = measured_on(data)
    if testbed is None:
        return NOT_MEASURED
    mean = float(data.curve(testbed, "clustered", BASELINE, "memory_mb").mean())
    said = f"{mean:.0f} MB", "within a factor of two; Java there, Python here"
    return within(mean, 53 / 2, 56 * 2).said(*said)
