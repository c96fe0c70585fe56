"""Load of the brokers over time."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from testbed.analysis.tables.counted import weighed
from testbed.analysis.tables.literals import among, window_s

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
        weighed(events.where(among("node", brokers)))
        .groupBy("run", f.col("node").alias("broker"), window)
        .agg(*_measures(window_us / 1_000_000))
    )


def _measures(seconds: float) -> list[Column]:
    kind, told, weight = f.col("kind"), f.col("told"), f.col("weight")

    def number(*kinds: str) -> Column:
        return f.coalesce(f.sum(f.when(told.isin(*kinds), weight)), f.lit(0))

    def rate(*kinds: str) -> Column:
        return number(*kinds) / seconds

    def sampled(name: str) -> Column:
        return f.when(kind == "SAMPLED", f.col(name))

    def mean(name: str) -> Column:
        # As a decimal: a sum of decimals does not depend on the order in which partitions are added.
        return f.mean(sampled(name).cast("decimal(24,9)")).cast("double").alias(name)

    def processed(name: str) -> Column:
        total = f.sum(f.when(told == "PROCESSED", f.col(name)))
        return f.try_divide(total, number("PROCESSED")).alias(name)

    return [
        rate("PROCESSED", "RECEIVED").alias("received_per_s"),
        rate("FORWARDED", "NOTIFIED", "SENT").alias("sent_per_s"),
        rate("PROCESSED").alias("publications_per_s"),
        processed("matching_us"),
        processed("queueing_us"),
        mean("input_utilisation"),
        mean("output_utilisation"),
        f.mean(sampled("queue")).alias("queue_mean"),
        f.max(sampled("queue")).alias("queue_max"),
        f.max(sampled("memory_bytes")).alias("memory_bytes"),
        f.count(f.when(kind == "DROPPED", 1)).alias("dropped"),
    ]
