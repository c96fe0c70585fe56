"""What messages between brokers cost, where brokers tell what they pay (PRICED): c of each link that one
crosses, p of each broker that it comes to, and p of the broker at which a publication begins.

Each is priced as its broker priced it last before.
"""

from __future__ import annotations

import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from protos.purposes import UNKNOWN, purpose_of
from testbed.analysis.tables.literals import among, by_run, window_s

PRICED = "PRICED"
WINDOW_US = 10_000_000
COLUMNS = {
    "window_s": "start of the window, s after the run's first event",
    "purpose": "what the messages are for, as in the table purposes",
    "messages": "messages between brokers, each over one link",
    "links": "sum of the costs of the links",
    "processing": "sum of the processing costs of brokers",
    "cost": "both together",
    "unpriced": "of the messages, those over a link whose cost was not told before: they are not in `links`",
}
KEY = ["run", "window_s"]
SUMS = ["messages", "links", "processing", "unpriced"]


def paid_by_type(
    events: DataFrame, brokers: dict[str, list[str]], starts: dict[str, int], ended_us: dict[str, int],
    window_us: int = WINDOW_US,
) -> DataFrame:  # fmt: skip
    """What was paid until the run's end, per window, type and leg."""
    in_time = f.col("t_us") < by_run(ended_us)
    told = events.where(among("node", brokers) & in_time)
    sent = told.where(f.col("kind").isin("FORWARDED", "SENT") & among("peer", brokers))
    begun = told.where((f.col("kind") == "PROCESSED") & ~among("peer", brokers))
    crossed = sent.select(*_payment("node", "peer", 1))
    entered = begun.select(*_payment("", "node", 0))
    prices = events.where((f.col("kind") == PRICED) & among("node", brokers))
    of_link = f.length(f.coalesce("peer", f.lit(""))) > 0
    on_links = prices.where(of_link).select(*_price("node", "peer"))
    at_brokers = prices.where(~of_link).select(*_price("", "node"))
    paid = _priced(crossed.unionByName(entered), on_links, ["run", "from", "to"], "link")
    paid = _priced(paid, at_brokers, ["run", "to"], "processed")
    start = window_s(f.col("t_us"), starts, window_us).alias("window_s")
    return paid.groupBy("run", start, "type", "leg").agg(
        f.sum("messages").alias("messages"),
        f.sum(f.coalesce("link", f.lit(0.0))).alias("links"),
        f.sum(f.coalesce("processed", f.lit(0.0))).alias("processing"),
        f.sum(f.when(f.col("link").isNull(), f.col("messages")).otherwise(0)).alias("unpriced"),
    )


def _payment(source: str, target: str, messages: int) -> list[Column]:
    return [*_ends(source, target), f.col("type"), f.col("leg"), f.lit(messages).alias("messages")]


def _price(source: str, target: str) -> list[Column]:
    return [*_ends(source, target), f.col("content").cast("double").alias("price")]


def _ends(source: str, target: str) -> list[Column]:
    end = f.col(source) if source else f.lit("")
    return [f.col("run"), f.col("t_us"), end.alias("from"), f.col(target).alias("to")]


def _priced(paid: DataFrame, prices: DataFrame, key: list[str], name: str) -> DataFrame:
    """With the last price of the same key, as a column."""
    together = paid.withColumn("is_price", f.lit(0)).unionByName(
        prices.withColumn("is_price", f.lit(1)), allowMissingColumns=True
    )
    before = Window.partitionBy(*key).orderBy("t_us", f.desc("is_price")).rowsBetween(
        Window.unboundedPreceding, Window.currentRow
    )  # fmt: skip
    known = together.withColumn(name, f.last("price", ignorenulls=True).over(before))
    return known.where("is_price = 0").drop("is_price", "price")


def costs(paid: pd.DataFrame, known: dict[str, dict[str, str]]) -> pd.DataFrame:
    """`paid`: what `paid_by_type` found; `known`: run -> type -> purpose."""
    rows = zip(paid["run"], paid["type"], paid["leg"], strict=True)
    found = [purpose_of(known[run].get(kind, UNKNOWN), leg) for run, kind, leg in rows]
    named = paid.assign(purpose=pd.Series(found, index=paid.index, dtype=object))
    summed = named.groupby([*KEY, "purpose"], as_index=False)[SUMS].sum()
    return summed.assign(cost=summed["links"] + summed["processing"])
