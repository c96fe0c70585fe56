"""Overhead: messages and bytes by type, as the brokers logged them and as the wire showed them."""

from __future__ import annotations

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from protos.purposes import UNKNOWN, is_data, purpose_of
from testbed.analysis.tables.counted import BROKERS, Types, of_counted_type, weighed
from testbed.analysis.tables.literals import by_run

COLUMNS = {
    "link": "overlay (between brokers) or client (broker to client; clients do not log what they send)",
    "class": "data (purpose data or data_…) or control (everything else); all in the sum over both",
    "type": "message type (name of the Envelope's body field), or all",
    "purpose": "what the type is for, by the run's catalogue; unknown if it has no such type, all in sums. "
    "Publications on their way to the root of a tree have a row of their own, data_to_root",
    "log_messages": "messages sent until the run's end (stopping is not counted, but of types that the logs "
    "count), by the brokers' logs",
    "log_bytes": "encoded Envelopes sent, bytes, by the logs",
    "wire_messages": "the same from the captures; null = not known, see `wire`",
    "wire_bytes": "encoded Envelopes, bytes, from the captures",
    "difference": "wire - log, messages",
    "difference_bytes": "wire - log, bytes",
    "messages_per_delivery": "logged messages per delivered notification",
    "bytes_per_delivery": "logged bytes per delivered notification",
}
LINK_COLUMNS = {
    "source": "sending broker",
    "target": "receiving broker; * = all, of a type that the logs count",
    "type": "message type",
    "log_messages": "messages, by the log of the sender",
    "wire_messages": "messages, from the captures; null = that direction was not captured or not read whole",
    "log_bytes": "encoded Envelopes, bytes, by the log",
    "wire_bytes": "encoded Envelopes, bytes, from the captures",
    "late_log": "messages logged after the run's end, while the processes stop; not in the counts before",
    "late_wire": "the same from the captures",
}
PAIR = ["run", "sender", "receiver", "type"]
COUNTS = ["messages", "bytes", "late"]


def log_counts(events: DataFrame, ended_us: dict[str, int], counted: Types) -> DataFrame:
    """run, sender, receiver, type, leg -> messages and bytes sent by brokers until the run's end, and
    messages from then on, from their logs. `ended_us`: by run. Of a counted type no message is late.

    Processes are told to stop in the very instant of the end, and what they say then is late: in a simulation
    the farewell of a client on its broker's host takes no time."""
    late = (f.col("t_us") >= by_run(ended_us)) & ~of_counted_type(counted)
    sent = weighed(events).where(f.col("told").isin("FORWARDED", "NOTIFIED", "SENT"))
    pair = f.col("node").alias("sender"), f.col("peer").alias("receiver")
    return sent.groupBy("run", *pair, "type", "leg").agg(
        f.sum(f.when(late, 0).otherwise(f.col("weight"))).alias("messages"),
        f.sum(f.when(late, 0).otherwise(f.col("bytes"))).alias("bytes"),
        f.sum(f.when(late, f.col("weight")).otherwise(0)).alias("late"),
    )


def link_messages(
    log: pd.DataFrame, wire: pd.DataFrame, seen: pd.DataFrame, brokers: dict[str, set[str]]
) -> pd.DataFrame:
    """Both witnesses side by side per overlay link, direction and type. `seen`: the directions that the
    captures show whole (run, source, target); elsewhere the wire columns are null."""
    log, wire = _over_legs(log), _over_legs(wire)
    both = log.merge(wire, on=PAIR, how="outer", suffixes=("_log", "_wire"))
    overlay = _both_brokers(both, brokers)
    both = both[overlay].rename(columns={"sender": "source", "receiver": "target"})
    both = both.merge(seen.assign(seen=True), on=["run", "source", "target"], how="left")
    known = both["seen"].notna()
    out = both[["run", "source", "target", "type"]].copy()
    names = {"messages": "{}_messages", "bytes": "{}_bytes", "late": "late_{}"}
    for unit, name in names.items():
        out[name.format("log")] = both[f"{unit}_log"].fillna(0).astype("int64")
        out[name.format("wire")] = both[f"{unit}_wire"].fillna(0).where(known).astype("Int64")
    return out[["run", *LINK_COLUMNS]].sort_values(["run", "source", "target", "type"], ignore_index=True)


def _over_legs(counts: pd.DataFrame) -> pd.DataFrame:
    return counts.groupby(PAIR, as_index=False)[COUNTS].sum()


def _both_brokers(pairs: pd.DataFrame, brokers: dict[str, set[str]]) -> pd.Series:
    ends = zip(pairs.run, pairs.sender, pairs.receiver, strict=True)
    return pd.Series(
        [a in brokers[run] and _is_broker(b, brokers[run]) for run, a, b in ends],
        index=pairs.index,
        dtype=bool,
    )


def _is_broker(end: str, brokers: set[str]) -> bool:
    return end in brokers or end == BROKERS


def overhead(
    log: pd.DataFrame,
    wire: pd.DataFrame,
    deliveries: dict[str, int],
    brokers: dict[str, set[str]],
    captured: dict[str, set[str]],
    purposes: dict[str, dict[str, str]],
) -> pd.DataFrame:
    """`captured`: run -> kinds of link (overlay, client) whose every direction the captures show whole.
    `purposes`: run -> message type -> what it is for."""
    log = log.assign(
        link=[
            "overlay" if _is_broker(b, brokers[run]) else "client"
            for run, b in zip(log.run, log.receiver, strict=True)
        ]
    )
    sent = [a in brokers[run] for run, a in zip(wire.run, wire.sender, strict=True)]
    wire = wire[pd.Series(sent, index=wire.index, dtype=bool)]
    wire = wire[wire["link"] != "other"]
    key = ["run", "link", "type", "leg"]
    both = _sums(log, key, "log").merge(_sums(wire, key, "wire"), on=key, how="outer")
    rows = zip(both.run, both["type"], both["leg"], strict=True)
    known = [purpose_of(purposes[run].get(kind, UNKNOWN), leg) for run, kind, leg in rows]
    both["purpose"] = pd.Series(known, index=both.index, dtype=object)
    classes = ["data" if is_data(purpose) else "control" for purpose in known]
    both["class"] = pd.Series(classes, index=both.index, dtype=object)
    for name in ("log_messages", "log_bytes", "wire_messages", "wire_bytes"):
        both[name] = both[name].fillna(0).astype("int64")
    both = both[(both["log_messages"] > 0) | (both["wire_messages"] > 0)]  # nothing but stopping is left out
    both = pd.concat([both, _totals(both)], ignore_index=True)
    return _compared(both, deliveries, captured)


def _sums(counts: pd.DataFrame, key: list[str], prefix: str) -> pd.DataFrame:
    summed = counts.groupby(key, as_index=False)[["messages", "bytes"]].sum()
    summed = summed.astype(dict.fromkeys(key, object))  # an empty column has no type of its own
    return summed.rename(columns={"messages": f"{prefix}_messages", "bytes": f"{prefix}_bytes"})


def _totals(both: pd.DataFrame) -> pd.DataFrame:
    numbers = ["log_messages", "log_bytes", "wire_messages", "wire_bytes"]
    classes = both.groupby(["run", "link", "class"], as_index=False)[numbers].sum()
    everything = both.groupby(["run", "link"], as_index=False)[numbers].sum().assign(**{"class": "all"})
    return pd.concat([classes, everything], ignore_index=True).assign(type="all", purpose="all")


def _compared(both: pd.DataFrame, deliveries: dict[str, int], captured: dict[str, set[str]]) -> pd.DataFrame:
    known = pd.Series(
        [link in captured.get(run, ()) for run, link in zip(both.run, both.link, strict=True)],
        index=both.index,
        dtype=bool,
    )
    for unit in ("messages", "bytes"):
        both[f"wire_{unit}"] = both[f"wire_{unit}"].where(known).astype("Int64")
    both["difference"] = both["wire_messages"] - both["log_messages"]
    both["difference_bytes"] = both["wire_bytes"] - both["log_bytes"]
    delivered = both["run"].map(deliveries).astype(float)
    delivered = delivered.where(delivered > 0)
    both["messages_per_delivery"] = both["log_messages"] / delivered
    both["bytes_per_delivery"] = both["log_bytes"] / delivered
    order = both["class"].map({"data": 0, "control": 1, "all": 2}).fillna(3)
    both = both.assign(order=order, last=both["type"] == "all")
    both = both.sort_values(
        ["run", "link", "order", "last", "type", "purpose"], ascending=[True, False, True, True, True, True]
    )
    return both[["run", *COLUMNS]].reset_index(drop=True)
