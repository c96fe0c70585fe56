"""Load of the brokers over time."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from testbed.analysis.tables.literals import window_s

WINDOW_US = 10_000_000
COLUMNS = {
    "broker": "broker",
    "window_s": "start of the window, s after the run's first event",
    "received_per_s": "messages received (publications when processed), per s",
    "sent_per_s": "messages sent to brokers and clients, per s",
    "publications_per_s": "publications processed, per s",
    "matching_us": "mean matching time of a publication, us",
    "queueing_us": "mean time of a publication in the input queue, us",
    "input_utilisation": "mean of the samples: incoming rate x matching time; null = no sample",
    "output_utilisation": "mean of the samples: used / available output bandwidth",
    "queue_mean": "mean queue length of the samples, envelopes",
    "queue_max": "longest queue sampled, envelopes",
    "memory_bytes": "largest resident set sampled, bytes",
    "dropped": "messages dropped",
}


def load(
    events: DataFrame, brokers: dict[str, list[str]], starts: dict[str, int], window_us: int = WINDOW_US
) -> DataFrame:
    """`brokers`: run -> ids, to keep clients and the harness out; `starts`: run -> its first event, us."""
    window = window_s(f.col("t_us"), starts, window_us).alias("window_s")
    return (
        events.where(_is_broker(brokers))
        .groupBy("run", f.col("node").alias("broker"), window)
        .agg(*_measures(window_us / 1_000_000))
    )


def _is_broker(brokers: dict[str, list[str]]) -> Column:
    """Runs of a sweep have the same brokers: they are asked about once, not once per run."""
    runs: dict[tuple[str, ...], list[str]] = {}
    for run, ids in brokers.items():
        runs.setdefault(tuple(ids), []).append(run)
    if len(runs) == 1:
        return f.col("node").isin(list(next(iter(runs))))
    among = [f.col("run").isin(keys) & f.col("node").isin(list(ids)) for ids, keys in runs.items()]
    return reduce(Column.__or__, among)


def _measures(seconds: float) -> list[Column]:
    kind = f.col("kind")

    def rate(*kinds: str) -> Column:
        return f.count(f.when(kind.isin(*kinds), 1)) / seconds

    def sampled(name: str) -> Column:
        return f.when(kind == "SAMPLED", f.col(name))

    def mean(name: str) -> Column:
        # As a decimal: a sum of decimals does not depend on the order in which partitions are added.
        return f.mean(sampled(name).cast("decimal(24,9)")).cast("double").alias(name)

    def processed(name: str) -> Column:
        return f.when(kind == "PROCESSED", f.col(name))

    return [
        rate("PROCESSED", "RECEIVED").alias("received_per_s"),
        rate("FORWARDED", "NOTIFIED", "SENT").alias("sent_per_s"),
        rate("PROCESSED").alias("publications_per_s"),
        f.mean(processed("matching_us")).alias("matching_us"),
        f.mean(processed("queueing_us")).alias("queueing_us"),
        mean("input_utilisation"),
        mean("output_utilisation"),
        f.mean(sampled("queue")).alias("queue_mean"),
        f.max(sampled("queue")).alias("queue_max"),
        f.max(sampled("memory_bytes")).alias("memory_bytes"),
        f.count(f.when(kind == "DROPPED", 1)).alias("dropped"),
    ]
