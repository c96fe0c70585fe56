"""Fidelity: measured round trips against the plan, for the whole run."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

COLUMNS = {
    "source": "probing host, or all",
    "target": "probed host, or all",
    "probes": "round trips tried",
    "lost": "without answer",
    "planned_us": "round trip by the plan, us (mean over all in the row `all`)",
    "measured_p50_us": "median measured round trip, us",
    "error_p50_us": "median of |measured - planned|, us",
    "error_p95_us": "95th percentile, us",
    "error_p99_us": "99th percentile, us",
    "error_max_us": "largest, us",
}


def fidelity(probes: DataFrame) -> DataFrame:
    """One row per pair of hosts, and one for all."""
    answered = f.col("measured_us") >= 0
    error = f.when(answered, f.abs(f.col("measured_us") - f.col("planned_us")))
    pairs = f.array(
        f.struct(f.col("source"), f.col("target")),
        f.struct(f.lit("all").alias("source"), f.lit("all").alias("target")),
    )
    each = probes.select("run", f.explode(pairs).alias("pair"), "planned_us", "measured_us").select(
        "run", "pair.*", "planned_us", "measured_us"
    )
    shares = f.array(f.lit(0.5), f.lit(0.95), f.lit(0.99))
    return (
        each.groupBy("run", "source", "target")
        .agg(
            f.count("*").alias("probes"),
            f.count(f.when(~answered, 1)).alias("lost"),
            f.mean("planned_us").alias("planned_us"),
            f.percentile(f.when(answered, f.col("measured_us")), f.lit(0.5)).alias("measured_p50_us"),
            f.percentile(error, shares).alias("e"),
            f.max(error).alias("error_max_us"),
        )
        .select(
            "run",
            "source",
            "target",
            "probes",
            "lost",
            "planned_us",
            "measured_p50_us",
            f.col("e")[0].alias("error_p50_us"),
            f.col("e")[1].alias("error_p95_us"),
            f.col("e")[2].alias("error_p99_us"),
            "error_max_us",
        )
    )
