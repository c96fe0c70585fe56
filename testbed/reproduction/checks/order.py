"""a <= b <= c: orders of systems, point by point. A table has a column per system and a row per point (X)."""

from __future__ import annotations

import itertools

import pandas

from testbed.reproduction.claim import Finding

NOTHING = Finding(None, "", "there is nothing to compare")


def order(table: pandas.DataFrame, slack: float = 0.0, strict: bool = False, axis: str = "X") -> Finding:
    """Columns from left to right, in every row; `slack` is relative. `strict`: equal values do not do."""
    _check(table)
    if table.empty or table.isna().any(axis=None):
        return NOTHING
    bad = [
        f"{axis}={x}: {shown(row)}"
        for x, row in table.iterrows()
        if any(a > b * (1 + slack) or (strict and a == b) for a, b in itertools.pairwise(row))
    ]
    text = f"{100 * slack:.0f} % slack" if slack else ""
    return Finding(not bad, "; ".join(bad) or holds_at(table, axis), text)


def least(table: pandas.DataFrame, share: float = 1.0, axis: str = "X") -> Finding:
    """The first column is below every other one, at this share of the rows at least."""
    _check(table)
    if not 0 < share <= 1:
        raise ValueError(f"a share of the points is above 0 and at most 1, not {share}")
    if table.empty or table.isna().any(axis=None):
        return NOTHING
    below = (table.iloc[:, 1:].min(axis=1) > table.iloc[:, 0]).astype(bool)
    bad = [f"{axis}={x}: {shown(row)}" for x, row in table[~below].iterrows()]
    text = "; ".join(bad) or holds_at(table, axis)
    return Finding(float(below.mean()) >= share, text, f"at {100 * share:.0f} % of the points or more")


def shown(row: pandas.Series) -> str:
    return ", ".join(f"{system} {value:.3g}" for system, value in row.items())


def holds_at(table: pandas.DataFrame, axis: str) -> str:
    return f"holds at {axis} = " + ", ".join(str(x) for x in table.index)


def _check(table: pandas.DataFrame) -> None:
    if table.shape[1] < 2:
        raise ValueError("an order needs two systems or more")
