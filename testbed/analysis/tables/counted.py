"""Records that stand for many: what brokers counted instead of telling it (`log_detail` of a topology file).

A count knows the kind of link, not the peer, and not which of its messages came after the run's end. So
messages of counted types are summed over all peers of a broker, until it stopped, by both witnesses alike.
"""

from __future__ import annotations

from functools import reduce

import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

Types = dict[str, frozenset[str]]  # run -> types of messages that it counted
BROKERS, CLIENTS = "*", ""  # in place of a peer: all brokers, all clients


def weighed(events: DataFrame) -> DataFrame:
    """Every row with the kind of record that it stands for (`told`), and for how many (`weight`)."""
    is_count = f.col("kind") == "COUNTED"
    everybody = f.when(f.col("group") == "overlay", BROKERS).otherwise(CLIENTS)
    return events.withColumns(
        {
            "told": f.when(is_count, f.col("detail")).otherwise(f.col("kind")),
            "weight": f.when(is_count, f.col("count")).otherwise(f.lit(1)),
            "peer": f.when(is_count, everybody).otherwise(f.col("peer")),
        }
    )


def of_counted_type(counted: Types) -> Column:
    """Whether the row's message is of a type that its run counts."""
    some = [(f.col("run") == run) & f.col("type").isin(*types) for run, types in counted.items() if types]
    return reduce(Column.__or__, some, f.lit(False))


def is_counted(rows: pd.DataFrame, counted: Types) -> pd.Series:
    found = [kind in counted.get(run, ()) for run, kind in zip(rows["run"], rows["type"], strict=True)]
    return pd.Series(found, index=rows.index, dtype=bool)


def summed_over_peers(rows: pd.DataFrame, counted: Types, brokers: dict[str, set[str]]) -> pd.DataFrame:
    """`rows`: run, sender, receiver, type, ... -> messages, bytes, late. Of counted types the receiver is
    all brokers or all clients."""
    few = is_counted(rows, counted)
    if not few.any():
        return rows
    ends = zip(rows.loc[few, "run"], rows.loc[few, "receiver"], strict=True)
    everybody = [BROKERS if end == BROKERS or end in brokers[run] else CLIENTS for run, end in ends]
    rows = rows.copy()
    rows.loc[few, "receiver"] = everybody
    numbers = ["messages", "bytes", "late"]
    keys = [name for name in rows.columns if name not in numbers]
    return rows.groupby(keys, as_index=False)[numbers].sum()


def seen_over_peers(directions: pd.DataFrame, brokers: dict[str, set[str]]) -> pd.DataFrame:
    """Run, source, target of every direction that the captures show whole, and of all of a broker's together
    where none is missing. `directions`: the table `wire`."""
    is_whole = directions["state"] == "whole"
    whole = directions[is_whole][["run", "source", "target"]].drop_duplicates()
    ends = zip(directions["run"], directions["target"], strict=True)
    target = [BROKERS if end in brokers.get(run, ()) else CLIENTS for run, end in ends]
    together = directions[["run", "source"]].assign(target=target, whole=is_whole)
    every = together.groupby(["run", "source", "target"], as_index=False)["whole"].all()
    return pd.concat([whole, every[every["whole"]][["run", "source", "target"]]], ignore_index=True)
