"""What each broker sent over time, by what it is for; the table `overhead` is the sum of it."""

from __future__ import annotations

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from protos.purposes import UNKNOWN, purpose_of
from testbed.analysis.tables.counted import BROKERS, Types, of_counted_type, weighed
from testbed.analysis.tables.literals import among, by_run, window_s

WINDOW_US = 10_000_000
COLUMNS = {
    "broker": "broker that sent",
    "window_s": "start of the window, s after the run's first event",
    "link": "overlay (to brokers) or client (to clients)",
    "purpose": "what the messages are for, by the run's catalogue; unknown if it has no such type",
    "messages": "messages sent, by the broker's log; a count stands in the window of its last message",
    "bytes": "encoded Envelopes sent, bytes",
}
KEY = ["run", "broker", "window_s", "link"]


def sent_by_type(
    events: DataFrame,
    brokers: dict[str, list[str]],
    starts: dict[str, int],
    ended_us: dict[str, int],
    counted: Types,
    window_us: int = WINDOW_US,
) -> DataFrame:
    """What brokers sent until the run's end, per window, kind of link, type and leg."""
    in_time = (f.col("t_us") < by_run(ended_us)) | of_counted_type(counted)
    sent = weighed(events.where(among("node", brokers)))
    sent = sent.where(f.col("told").isin("FORWARDED", "NOTIFIED", "SENT") & in_time)
    to_broker = (f.col("peer") == BROKERS) | among("peer", brokers)
    return sent.groupBy(
        "run",
        f.col("node").alias("broker"),
        window_s(f.col("t_us"), starts, window_us).alias("window_s"),
        f.when(to_broker, "overlay").otherwise("client").alias("link"),
        "type",
        "leg",
    ).agg(f.sum("weight").alias("messages"), f.sum("bytes").alias("bytes"))


def purposes(sent: pd.DataFrame, known: dict[str, dict[str, str]]) -> pd.DataFrame:
    """`sent`: what `sent_by_type` found; `known`: run -> type -> purpose."""
    rows = zip(sent["run"], sent["type"], sent["leg"], strict=True)
    found = [purpose_of(known[run].get(kind, UNKNOWN), leg) for run, kind, leg in rows]
    named = sent.assign(purpose=pd.Series(found, index=sent.index, dtype=object))
    return named.groupby([*KEY, "purpose"], as_index=False)[["messages", "bytes"]].sum()
