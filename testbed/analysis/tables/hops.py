"""Hops: overlay and network links per delivery, and brokers that relayed for nobody of their own."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

COLUMNS = {
    "measure": "overlay (links between brokers per delivery), network (links of the emulated network per "
    "delivery, on the planned routes between the hosts on the way), relays (unrelated relays per "
    "publication: brokers that processed it, are not its first broker and notified no client)",
    "count": "deliveries, or publications for relays",
    "mean": "mean",
    "p50": "median",
    "p95": "95th percentile",
    "max": "largest",
}
DISTRIBUTION_COLUMNS = {
    "measure": "overlay, network or relays, as in `hops`",
    "hops": "how many",
    "count": "deliveries (publications for relays) with that many",
    "share": "of all, 0 to 1",
}


def hop_distribution(pairs: DataFrame) -> DataFrame:
    """How many deliveries (or publications) have how many hops; `hops` follows from it exactly."""
    measured = pairs.select(
        "run",
        f.explode(
            f.when(
                f.col("row") == "publication",
                f.array(f.struct(f.lit("relays").alias("measure"), f.col("relays").alias("hops"))),
            ).when(
                f.col("copies") > 0,
                f.array(
                    f.struct(f.lit("overlay").alias("measure"), f.col("overlay_hops").alias("hops")),
                    f.struct(f.lit("network").alias("measure"), f.col("network_hops").alias("hops")),
                ),
            )
        ).alias("m"),
    ).select("run", "m.*")
    counted = (
        measured.where("hops is not null").groupBy("run", "measure", "hops").agg(f.count("*").alias("count"))
    )
    return counted


def with_share(distribution: DataFrame) -> DataFrame:
    total = f.sum("count").over(Window.partitionBy("run", "measure"))
    return distribution.withColumn("share", f.col("count") / total)


def hops(distribution: DataFrame) -> DataFrame:
    """Summary of `hop_distribution`; percentiles are exact, weighted by the counts."""
    weighted = f.percentile(f.col("hops"), f.array(f.lit(0.5), f.lit(0.95)), f.col("count"))
    return (
        distribution.groupBy("run", "measure")
        .agg(
            f.sum("count").alias("count"),
            (f.sum(f.col("hops") * f.col("count")) / f.sum("count")).alias("mean"),
            weighted.alias("p"),
            f.max("hops").alias("max"),
        )
        .select(
            "run", "measure", "count", "mean", f.col("p")[0].alias("p50"), f.col("p")[1].alias("p95"), "max"
        )
    )
