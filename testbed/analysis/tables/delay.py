"""Delay of deliveries: how long, how much longer than the network alone takes, and where the time went."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from testbed.analysis.tables.literals import window_s
from testbed.analysis.tables.percentiles import method, percentiles

SHARES = [0.5, 0.9, 0.95, 0.99]
WINDOW_US = 10_000_000
# Windows begin a little before the first publication. Whoever publishes once a second from then on would else
# publish at every edge, and a microsecond would decide on which side.
LEAD_US = 5_000
COLUMNS = {
    "group_by": "all, publisher, class (of the subscriber), broker (that notified), window (of publication)",
    "group": "the publisher, class or broker; for a window its start in s after the run's first publication "
    "(windows begin 5 ms early, so that nobody who publishes once a second publishes at every edge)",
    "count": "deliveries (first copies)",
    "mean_us": "mean delay, us",
    "p50_us": "median delay, us",
    "p90_us": "90th percentile, us",
    "p95_us": "95th percentile, us",
    "p99_us": "99th percentile, us",
    "max_us": "largest delay, us",
    "stretch_mean": "mean of delay / planned shortest-path delay from publisher's to subscriber's host; "
    "deliveries within one host (planned delay 0) are left out",
    "stretch_p50": "median stretch",
    "stretch_p95": "95th percentile of stretch",
    "direct_us": "mean planned shortest-path delay, us",
    "propagation_us": "budget: mean planned delay of the way taken, us",
    "processing_us": "budget: mean matching time at the brokers on the way, us",
    "queueing_us": "budget: mean time in the brokers' queues, us",
    "rest_us": "budget: mean of what remains (transmission, gRPC, scheduling), us",
    "percentiles": "exact, or the error of the rank",
}


def delay(pairs: DataFrame, rows: int, starts: dict[str, int], window_us: int = WINDOW_US) -> DataFrame:
    """`pairs`: rows of journeys; `rows`: how many deliveries there are at most; `starts`: run -> time of its
    first publication, us."""
    delivered = pairs.where("row = 'pair' and copies > 0")
    begins = {run: first_us - LEAD_US for run, first_us in starts.items()}
    window = window_s(f.col("published_us"), begins, window_us)
    grouped = delivered.withColumn("window", window).select(
        "run",
        f.explode(_groups()).alias("g"),
        "delay_us",
        "direct_us",
        "propagation_us",
        "processing_us",
        "queueing_us",
        "rest_us",
        _stretch().alias("stretch"),
    )
    return _summary(grouped.select("run", "g.group_by", "g.group", *grouped.columns[2:]), rows)


def _stretch() -> Column:
    """As a decimal: a sum of decimals does not depend on the order in which partitions are added."""
    return f.when(f.col("direct_us") > 0, f.col("delay_us") / f.col("direct_us")).cast("decimal(24,9)")


def _groups() -> Column:
    def entry(group_by: str, group: Column) -> Column:
        return f.struct(f.lit(group_by).alias("group_by"), group.cast("string").alias("group"))

    return f.array(
        entry("all", f.lit("all")),
        entry("publisher", f.col("publisher")),
        entry("class", f.col("group")),
        entry("broker", f.coalesce("broker", f.lit("?"))),
        entry("window", f.col("window")),
    )


def _summary(grouped: DataFrame, rows: int) -> DataFrame:
    means = ["direct_us", "propagation_us", "processing_us", "queueing_us", "rest_us"]
    summed = grouped.groupBy("run", "group_by", "group").agg(
        f.count("*").alias("count"),
        f.mean("delay_us").alias("mean_us"),
        percentiles(f.col("delay_us"), SHARES, rows).alias("p"),
        f.max("delay_us").alias("max_us"),
        f.mean("stretch").cast("double").alias("stretch_mean"),
        percentiles(f.col("stretch").cast("double"), [0.5, 0.95], rows).alias("s"),
        *[f.mean(name).alias(name) for name in means],
    )
    quantiles = [f.col("p")[number].alias(f"p{round(100 * share)}_us") for number, share in enumerate(SHARES)]
    stretch = [f.col("stretch_mean"), f.col("s")[0].alias("stretch_p50"), f.col("s")[1].alias("stretch_p95")]
    before = [f.col(name) for name in ("run", "group_by", "group", "count", "mean_us")]
    after = [*[f.col(name) for name in means], f.lit(method(rows)).alias("percentiles")]
    return summed.select(*before, *quantiles, f.col("max_us"), *stretch, *after)
