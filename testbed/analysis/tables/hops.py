"""Hops: overlay and network links per delivery, and brokers that relayed for nobody of their own."""

from __future__ import annotations

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

COLUMNS = {
    "measure": "overlay (links between brokers per delivery), network (links of the emulated network per "
    "delivery, on the planned routes between the hosts on the way), relays (unrelated relays per "
    "publication: brokers that processed it, are not its first broker and notified no client); where "
    "publications go to the root of a tree first, relays_to_root (brokers that only carried it there, the "
    "root not counted) and relays_in_tree (brokers that got it from a parent and notified no client)",
    "count": "deliveries, or publications for relays",
    "mean": "mean",
    "p50": "median",
    "p95": "95th percentile",
    "max": "largest",
}
DISTRIBUTION_COLUMNS = {
    "measure": "overlay, network, relays or one of its parts, as in `hops`",
    "hops": "how many",
    "count": "deliveries (publications for relays) with that many",
    "share": "of all, 0 to 1",
}

RELAYS = ("relays", "relays_to_root", "relays_in_tree")


def hop_distribution(pairs: DataFrame) -> DataFrame:
    """How many deliveries (or publications) have how many hops; `hops` follows from it exactly."""
    measured = pairs.select(
        "run",
        f.explode(
            f.when(
                f.col("row") == "publication",
                f.array(*[_measured(name, name) for name in RELAYS]),
            ).when(
                f.col("copies") > 0,
                f.array(
                    _measured("overlay", "overlay_hops"),
                    _measured("network", "network_hops"),
                ),
            )
        ).alias("m"),
    ).select("run", "m.*")
    counted = (
        measured.where("hops is not null").groupBy("run", "measure", "hops").agg(f.count("*").alias("count"))
    )
    return counted


def _measured(measure: str, column: str) -> Column:
    return f.struct(f.lit(measure).alias("measure"), f.col(column).alias("hops"))


def with_share(distribution: pd.DataFrame) -> pd.DataFrame:
    total = distribution.groupby(["run", "measure"])["count"].transform("sum")
    return distribution.assign(share=distribution["count"] / total)


def hops(distribution: pd.DataFrame) -> pd.DataFrame:
    """Summary of `hop_distribution`; percentiles are exact."""
    rows = []
    for (run, measure), own in distribution.sort_values("hops").groupby(["run", "measure"]):
        count = own["count"].to_numpy(np.int64)
        value = own["hops"].to_numpy(np.int64)
        rows.append(
            (run, measure, count.sum(), (value * count).sum() / count.sum(), *_ranks(value, count), value[-1])
        )
    return pd.DataFrame(rows, columns=["run", *COLUMNS])


def _ranks(value: np.ndarray, count: np.ndarray) -> list[float]:
    """Median and 95th percentile of `value` repeated `count` times, between ranks as everywhere here."""
    ends = np.cumsum(count)
    out = []
    for share in (0.5, 0.95):
        rank = share * (ends[-1] - 1)
        low, high = (value[np.searchsorted(ends, at, side="right")] for at in (np.floor(rank), np.ceil(rank)))
        out.append(float(low + (high - low) * (rank - np.floor(rank))))
    return out
