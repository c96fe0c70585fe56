"""From what the computations return to what figure 10 shows: savings against consistent hashing."""

from __future__ import annotations

import pandas

from experiments.dynatops.points import Sizes

METRICS = ("delay", "overhead")


def with_savings(rows: pandas.DataFrame) -> pandas.DataFrame:
    """A share of what consistent hashing has; 0 where that has none."""
    found = rows.copy()
    for metric in METRICS:
        hashed = found[f"hashed_{metric}"]
        found[f"{metric}_saving"] = (1 - found[metric] / hashed).where(hashed > 0, 0.0)
    return found


def along(rows: pandas.DataFrame, axis: str, sizes: Sizes) -> pandas.DataFrame:
    """The rows of 10a (`brokers` varied) or of 10b (`topics` varied)."""
    other = "topics" if axis == "brokers" else "brokers"
    wanted = sizes.brokers if axis == "brokers" else sizes.topics
    return rows[(rows[other] == sizes.fixed) & rows[axis].isin(wanted)]


def by_seed(rows: pandas.DataFrame, value: str) -> dict[int, float]:
    return {int(seed): float(one) for seed, one in zip(rows.seed, rows[value], strict=True)}
