"""The exactly-once check: every pair of a publication and an interested subscriber, and what became of it."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from testbed.analysis.evidence import journeys

COLUMNS = {
    name: text
    for name, (_, text) in journeys.COLUMNS.items()
    if name not in ("run", "row", "deliveries", "brokers", "relays", *journeys.PARTS, *journeys.OF_FAULTS)
} | {"stretch": "delay / direct; null within one host"}
LOSS_COLUMNS = {
    "outcome": "delivered, missing (demanded and never delivered), duplicate (more than once), phantom (to a "
    "client none of whose subscriptions matches)",
    "settled": "whether the delivery could be demanded: the subscription was settled before the publication, "
    "and no unsubscription, disconnection or fault came in between",
    "pairs": "(publication, subscriber) pairs",
    "copies": "deliveries of these pairs",
    "unpublished": "pairs delivered whose publication no client logged",
    "early": "pairs in which an event precedes its cause",
    "early_max_us": "by how much at most, us",
    "example": "one of them: publication and subscriber",
}


def deliveries(pairs: DataFrame) -> DataFrame:
    stretch = f.when(f.col("direct_us") > 0, f.col("delay_us") / f.col("direct_us")).alias("stretch")
    return pairs.where("row = 'pair'").select(
        "run", *[name for name in COLUMNS if name != "stretch"], stretch
    )


def losses(pairs: DataFrame) -> DataFrame:
    example = f.min(f.concat_ws(" to ", "publication", "subscriber"))
    return (
        pairs.where("row = 'pair'")
        .groupBy("run", "outcome", "settled")
        .agg(
            f.count("*").alias("pairs"),
            f.sum("copies").alias("copies"),
            f.count(f.when(f.col("publisher").isNull(), 1)).alias("unpublished"),
            f.count(f.when(f.col("early_us") > 0, 1)).alias("early"),
            f.max("early_us").alias("early_max_us"),
            example.alias("example"),
        )
    )
