"""Means with confidence intervals over seeds, of one system or of the difference between two."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas
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


def intervals(rows: pandas.DataFrame, by: str, value: str, confidence: float = 0.95) -> dict[float, Interval]:
    """The interval of a column at each `by`, in order; what is not known is left out."""
    known = rows[rows[value].notna()]
    groups = {at: group[value].to_list() for at, group in known.groupby(by)}
    return {at: mean_interval(groups[at], confidence) for at in sorted(groups)}


def paired_difference(a: Mapping[int, float], b: Mapping[int, float], confidence: float = 0.95) -> Interval:
    """Of a minus b, seed by seed: what both owe to the seed (seed -> value) is no part of the difference.

    Only seeds that both have count.
    """
    return mean_interval([a[seed] - b[seed] for seed in sorted(a.keys() & b.keys())], confidence)
