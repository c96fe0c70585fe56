"""Checks of curves over X: how a claim about systems becomes a finding.

A comparison is made only at the X that all its systems have; where there is none, the finding is unknown.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import pandas

from experiments.pop_grape.data import Data
from experiments.pop_grape.systems import BASELINE
from testbed.figures.verdict import Finding

Check = Callable[[Data], Finding]
NEARLY = 0.03  # relative: closer than that is equal
ALMOST_ALL = 0.75  # of the values of X
NUMBER = 0.15  # points by which a stated percentage may be missed: the settings it hangs on are lost


def curves(data: Data, where: tuple[str, str], value: str, systems: Sequence[str]) -> pandas.DataFrame:
    """A column per system, a row per X that all of them have."""
    table = pandas.DataFrame({s: data.curve(*where, s, value) for s in systems})
    return table.dropna()


def not_run(where: tuple[str, str]) -> Finding:
    return Finding(None, "", f"{where[0]}, {where[1]} workload: not all systems were run")


def shown(row: pandas.Series) -> str:
    return ", ".join(f"{system} {value:.3g}" for system, value in row.items())


def reduction(where: tuple[str, str], value: str, system: str, stated: float) -> Check:
    """The largest relative reduction over X, within 15 points of the stated one."""

    def check(data: Data) -> Finding:
        table = curves(data, where, value, [BASELINE, system])
        if table.empty:
            return not_run(where)
        saved = 1 - table[system] / table[BASELINE]
        best = float(saved.max())
        text = f"{100 * best:.0f} % at X = {int(saved.idxmax())}"
        return Finding(abs(best - stated) <= NUMBER, text, "within 15 points, largest over X")

    return check


def ordered(where: tuple[str, str], value: str, *systems: str, smallest_x: int = 2) -> Check:
    """Each system's value is at most the next one's (3 % slack), for every X from `smallest_x`."""

    def check(data: Data) -> Finding:
        table = curves(data, where, value, systems)
        table = table[table.index >= smallest_x]
        if table.empty:
            return not_run(where)
        bad = [
            f"X={x}: {shown(row)}"
            for x, row in table.iterrows()
            if any(a > b * (1 + NEARLY) for a, b in itertools.pairwise(row))
        ]
        return Finding(not bad, "; ".join(bad) or f"holds at X = {_xs(table)}", "3 % slack")

    return check


def lowest(
    where: tuple[str, str], value: str, system: str, others: Sequence[str], share: float = 1.0
) -> Check:
    """For X > 1, below each of the others, at this share of the X at least."""

    def check(data: Data) -> Finding:
        table = curves(data, where, value, [system, *others])
        table = table[table.index > 1]
        if table.empty:
            return not_run(where)
        below = (table[list(others)].min(axis=1) > table[system]).astype(bool)
        bad = [f"X={x}: {shown(row)}" for x, row in table[~below].iterrows()]
        text = "; ".join(bad) or f"holds at X = {_xs(table)}"
        return Finding(float(below.mean()) >= share, text, f"at {100 * share:.0f} % of the X > 1 or more")

    return check


def between(where: tuple[str, str], value: str, low: str, middle: str, high: str) -> Check:
    return ordered(where, value, low, middle, high)


def similar(where: tuple[str, str], value: str, a: str, b: str, slack: float) -> Check:
    def check(data: Data) -> Finding:
        table = curves(data, where, value, [a, b])
        if table.empty:
            return not_run(where)
        worst = float((table[a] / table[b] - 1).abs().max())
        return Finding(worst <= slack, f"differ by up to {100 * worst:.0f} %", f"{100 * slack:.0f} % allowed")

    return check


def at_most(where: tuple[str, str], value: str, systems: Sequence[str], stated: float) -> Check:
    """The largest value over X and systems; a quarter more than stated is allowed."""

    def check(data: Data) -> Finding:
        found = [data.curve(*where, s, value) for s in systems]
        if any(c.empty for c in found):
            return not_run(where)
        worst = max(float(c.max()) for c in found)
        return Finding(worst <= stated * 1.25, f"{100 * worst:.1f} %", "a quarter more allowed")

    return check


def _xs(table: pandas.DataFrame) -> str:
    return ", ".join(str(x) for x in table.index)
