"""Means with 95 % confidence intervals over seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from scipy import stats


class Interval(NamedTuple):
    mean: float
    low: float
    high: float
    n: int


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Student's t; one value has no interval, so low and high equal the mean."""
    n = len(values)
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    mean = math.fsum(values) / n
    if n == 1:
        return Interval(mean, mean, mean, 1)
    spread = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1) / n)
    half = float(stats.t.ppf((1 + confidence) / 2, n - 1)) * spread
    return Interval(mean, mean - half, mean + half, n)
