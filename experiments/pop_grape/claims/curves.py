"""Checks of curves over X: how a claim about systems becomes a finding.

A comparison is made only at the X that all its systems have; where there is none, the finding is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas

from experiments.pop_grape.claims.data import Data
from experiments.pop_grape.systems import BASELINE, LOAD100, POP
from testbed.reproduction.checks import alike, at_most, factor, least, near, order, within
from testbed.reproduction.claim import Finding

Check = Callable[[Data], Finding]
Where = tuple[str, str]  # testbed, workload
NEARLY = 0.03  # relative: closer than that is equal
ALMOST_ALL = 0.75  # of the values of X
NUMBER = 0.15  # points by which a stated percentage may be missed: the settings it hangs on are lost
QUARTER = 0.25  # by which a stated largest value may be passed


def curves(data: Data, where: Where, value: str, systems: Sequence[str]) -> pandas.DataFrame:
    """A column per system, a row per X that all of them have."""
    table = pandas.DataFrame({s: data.curve(*where, s, value) for s in systems})
    return table.dropna()


def not_run(where: Where) -> Finding:
    return Finding(None, "", f"{where[0]}, {where[1]} workload: not all systems were run")


def reduction(where: Where, value: str, system: str, stated: float) -> Check:
    """The largest relative reduction over X, within 15 points of the stated one."""

    def check(data: Data) -> Finding:
        table = curves(data, where, value, [BASELINE, system])
        if table.empty:
            return not_run(where)
        saved = 1 - table[system] / table[BASELINE]
        best = float(saved.max())
        text = f"{100 * best:.0f} % at X = {int(saved.idxmax())}"
        return near(best, stated, NUMBER).said(text, "within 15 points, largest over X")

    return check


def reduction_at_each(where: Where, value: str, system: str, stated: float) -> Check:
    """The relative reduction at every X, within 15 points of the stated one."""

    def check(data: Data) -> Finding:
        table = curves(data, where, value, [BASELINE, system])
        if table.empty:
            return not_run(where)
        saved = 1 - table[system] / table[BASELINE]
        text = ", ".join(f"{100 * s:.0f} % at X = {x}" for x, s in saved.items())
        holds = all(near(float(s), stated, NUMBER).holds for s in saved)
        return Finding(holds, text, "within 15 points at every X")

    return check


def reduced(where: Where, values: Sequence[str], system: str) -> Check:
    """Below the baseline's at every X, in each of these."""

    def check(data: Data) -> Finding:
        bad, seen = [], 0
        for value in values:
            table = curves(data, where, value, [BASELINE, system])
            if table.empty:
                return not_run(where)
            more = table[system] / table[BASELINE] - 1
            seen += len(more)
            bad += [f"{value} {100 * m:+.0f} % at X = {x}" for x, m in more.items() if m >= 0]
        return Finding(not bad, "; ".join(bad) or f"reduced at all {seen} points", f"{', '.join(values)}")

    return check


def ordered(where: Where, value: str, *systems: str, smallest_x: int = 2) -> Check:
    """Each system's value is at most the next one's (3 % slack), for every X from `smallest_x`."""

    def check(data: Data) -> Finding:
        table = curves(data, where, value, systems)
        table = table[table.index >= smallest_x]
        return not_run(where) if table.empty else order(table, NEARLY)

    return check


def lowest(where: Where, value: str, system: str, others: Sequence[str], share: float = 1.0) -> Check:
    """For X > 1, below each of the others, at this share of the X at least."""

    def check(data: Data) -> Finding:
        table = curves(data, where, value, [system, *others])
        table = table[table.index > 1]
        if table.empty:
            return not_run(where)
        return least(table, share).said(reason=f"at {100 * share:.0f} % of the X > 1 or more")

    return check


def between(where: Where, value: str, low: str, middle: str, high: str) -> Check:
    return ordered(where, value, low, middle, high)


def similar(where: Where, value: str, a: str, b: str, slack: float) -> Check:
    def check(data: Data) -> Finding:
        table = curves(data, where, value, [a, b])
        return not_run(where) if table.empty else alike(table[a], table[b], slack)

    return check


def largest(where: Where, value: str, systems: Sequence[str], stated: float) -> Check:
    """The largest value over X and systems; a quarter more than stated is allowed."""

    def check(data: Data) -> Finding:
        found = [data.curve(*where, s, value) for s in systems]
        if any(c.empty for c in found):
            return not_run(where)
        worst = max(float(c.max()) for c in found)
        return at_most([worst], stated, QUARTER).said(f"{100 * worst:.1f} %", "a quarter more allowed")

    return check


def greatest(where: Where, value: str, systems: Sequence[str], stated: float) -> Check:
    """The largest value over X and systems is the stated one, a quarter more or less."""

    def check(data: Data) -> Finding:
        found = [data.curve(*where, s, value) for s in systems]
        if any(c.empty for c in found):
            return not_run(where)
        worst = max(float(c.max()) for c in found)
        text = f"{100 * worst:.1f} %, {100 * (worst / stated - 1):+.0f} % of what is stated"
        return factor(worst, stated, 1 + QUARTER).said(text, "a quarter more or less")

    return check


def pop_rate_above_grape(where: Where) -> Check:
    def check(data: Data) -> Finding:
        table = curves(data, where, "message_rate", [POP, LOAD100])
        if table.empty:
            return not_run(where)
        more = float((table[POP] / table[LOAD100] - 1).mean())
        return within(more, 0.25, 0.75).said(f"{100 * more:+.0f} %", "between +25 and +75 %")

    return check
