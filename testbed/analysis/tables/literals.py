"""What the driver knows of each run, as a column: cheaper than a join with a tiny table."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as f


def by_run(values: dict[str, int]) -> Column:
    """The value of the row's run; null for a run that is not listed."""
    if len(values) == 1:
        return f.lit(next(iter(values.values())))
    return f.create_map(*[f.lit(part) for pair in values.items() for part in pair])[f.col("run")]


def window_s(time: Column, starts: dict[str, int], window_us: int) -> Column:
    """Start of the row's window in whole seconds after its run's start."""
    passed = f.greatest(time - by_run(starts), f.lit(0))
    return f.floor(passed / window_us) * (window_us // 1_000_000)


def among(column: str, ids: dict[str, list[str]]) -> Column:
    """Whether the row's value is one of its run's. Runs of a sweep have the same brokers: they are asked
    about once, not once per run."""
    runs: dict[tuple[str, ...], list[str]] = {}
    for run, names in ids.items():
        runs.setdefault(tuple(names), []).append(run)
    if len(runs) == 1:
        return f.col(column).isin(list(next(iter(runs))))
    some = [f.col("run").isin(keys) & f.col(column).isin(list(names)) for names, keys in runs.items()]
    return reduce(Column.__or__, some)
