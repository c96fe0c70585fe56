"""Percentiles: exact while the data fits, approximate with a stated error beyond."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as f

# `percentile` keeps every distinct value of a group in memory: a million deliveries, all with different delay
# and stretch, took 1.9 GB in five kinds of group.
EXACT_ROWS = 2_000_000
ACCURACY = 10_000  # percentile_approx: the rank is off by at most count / ACCURACY


def percentiles(value: Column, shares: list[float], rows: int) -> Column:
    """An array of percentiles of `value`; `rows` is how many values there are at most."""
    wanted = f.array(*[f.lit(share) for share in shares])
    if rows <= EXACT_ROWS:
        return f.percentile(value, wanted)
    return f.transform(f.percentile_approx(value, wanted, f.lit(ACCURACY)), lambda v: v.cast("double"))


def method(rows: int) -> str:
    """What to say about it in the table."""
    return "exact" if rows <= EXACT_ROWS else f"rank error at most 1/{ACCURACY}"
