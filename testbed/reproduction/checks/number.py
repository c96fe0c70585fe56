"""Numbers that a paper states: two-sided where it gives a value, one-sided where it gives a bound."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas

from testbed.reproduction.claim import Finding

NO_NUMBER = Finding(None, "", "there is no value")


def near(measured: float, stated: float, tolerance: float, unit: str = "") -> Finding:
    """At most `tolerance` away from what is stated, up or down."""
    _positive(tolerance, "a tolerance")
    if math.isnan(measured):
        return NO_NUMBER
    holds = abs(measured - stated) <= tolerance
    return Finding(holds, f"{measured:.4g}{unit}", f"within {tolerance:.3g}")


def within(measured: float, low: float, high: float, unit: str = "") -> Finding:
    """In a band with two ends."""
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"a band has two ends, not {low} and {high}")
    if math.isnan(measured):
        return NO_NUMBER
    return Finding(low <= measured <= high, f"{measured:.4g}{unit}", f"between {low:.4g} and {high:.4g}")


def factor(measured: float, stated: float, times: float) -> Finding:
    """A ratio of at most `times` what is stated, and at least a `times`-th of it."""
    if not 1 < times < math.inf:
        raise ValueError(f"a factor is above 1, not {times}")
    _positive(stated, "a stated ratio")
    return within(measured, stated / times, stated * times).said(reason=f"within a factor of {times:g}")


def at_most(values: Sequence[float], stated: float, slack: float = 0.0) -> Finding:
    """The largest of them; `slack` is relative."""
    _finite(stated, "a bound")
    if not len(values) or any(math.isnan(v) for v in values):
        return NO_NUMBER
    worst = max(values)
    text = f"{100 * slack:.0f} % more allowed" if slack else ""
    return Finding(worst <= stated * (1 + slack), f"{worst:.4g}", text)


def alike(a: pandas.Series, b: pandas.Series, slack: float) -> Finding:
    """The two differ by at most this share, at every point that both have."""
    _positive(slack, "a slack")
    gaps = (a / b - 1).abs().dropna()
    if gaps.empty:
        return NO_NUMBER
    worst = float(gaps.max())
    return Finding(worst <= slack, f"differ by up to {100 * worst:.0f} %", f"{100 * slack:.0f} % allowed")


def growth(values: Sequence[float], low: float, high: float, relative: bool = False) -> Finding:
    """What is gained from the first value to the last, in a band; as a share of the first if `relative`."""
    if len(values) < 2:
        return NO_NUMBER
    gained = values[-1] / values[0] - 1 if relative else values[-1] - values[0]
    return within(gained, low, high).said(f"{100 * gained:+.1f} %" if relative else f"{gained:+.4g}")


def _positive(value: float, what: str) -> None:
    if not 0 < value < math.inf:
        raise ValueError(f"{what} is above 0 and finite, not {value}")


def _finite(value: float, what: str) -> None:
    if not math.isfinite(value):
        raise ValueError(f"{what} is finite, not {value}")
