"""Clusters of topics on a run's page: which there are, what they decided, and what a run spends on what."""

from __future__ import annotations

from itertools import pairwise

import pandas

from testbed.report.charts import WIDE, Drawn
from testbed.report.svg import COLOURS, Axis, Chart

COLUMNS = {
    "time_s": "time (s)", "channel": "channel", "broker": "broker", "operation": "operation",
    "topic": "topic", "topics": "topics", "users": "users", "estimate": "estimate", "threshold": "threshold",
}  # fmt: skip
PARTS = {
    "maintenance": ("heartbeat", "tree", "ring"),
    "dissemination": ("data", "data_to_root"),
    "clustering": ("clustering", "survey", "membership"),
}
SAMPLED = "sampled"


def operations(clusters: pandas.DataFrame) -> pandas.DataFrame:
    """What was decided and done, in order of time."""
    return clusters[clusters.operation != SAMPLED].sort_values("time_s", kind="stable")


def at_the_end(clusters: pandas.DataFrame) -> pandas.DataFrame:
    """Clusters that were not destroyed, as their channels last told them; those with most users first."""
    ours = clusters[clusters.topics.str.contains(" ") | (clusters.operation == "destroyed")]
    ours = ours[ours.channel.str.contains("/")].sort_values("time_s", kind="stable")
    told = ours[ours.operation.isin((SAMPLED, "destroyed"))].drop_duplicates("channel", keep="last")
    return told[told.operation == SAMPLED].sort_values(["users", "channel"], ascending=[False, True])


def course(clusters: pandas.DataFrame) -> pandas.DataFrame:
    """How many clusters there are after each that came or went."""
    changes = clusters[clusters.operation.isin(("created", "destroyed"))].sort_values("time_s", kind="stable")
    there: set[str] = set()
    rows = []
    for row in changes.itertuples(index=False):
        (there.add if row.operation == "created" else there.discard)(str(row.channel))
        rows.append({"time_s": float(row.time_s), "clusters": len(there)})
    return pandas.DataFrame(rows, columns=["time_s", "clusters"])


def number_over_time(clusters: pandas.DataFrame, end_s: float) -> Drawn:
    seen = course(clusters)
    most = int(seen.clusters.max()) if len(seen) else 0
    last = int(seen.clusters.iloc[-1]) if len(seen) else 0
    text = f"At most {most} clusters at once, {last} at the end."
    chart = Chart(
        "Clusters over time", text, Axis("run time (s)", 0, end_s), Axis("clusters", 0, max(1, most)),
        height=200, width=WIDE,
    )  # fmt: skip
    xs, ys, before = [0.0], [0.0], 0.0
    for row in seen.itertuples(index=False):
        xs += [float(row.time_s), float(row.time_s)]
        ys += [before, float(row.clusters)]
        before = float(row.clusters)
    chart.line([*xs, end_s], [*ys, before], COLOURS[0])
    return Drawn(
        "Clusters over time", text, chart.svg(), seen, {"time_s": "time (s)", "clusters": "clusters"}
    )


def spent(purposes: pandas.DataFrame) -> pandas.DataFrame:
    """Messages between brokers in each window, by part of the cost."""
    own = purposes[purposes.link == "overlay"]
    found = {
        part: own[own.purpose.isin(names)].groupby("window_s").messages.sum() for part, names in PARTS.items()
    }
    return pandas.DataFrame(found).fillna(0).astype(int).sort_index().reset_index()


def cost_over_time(purposes: pandas.DataFrame) -> Drawn:
    """Stacked: the whole bar is all that brokers sent to each other for these parts."""
    seen = spent(purposes)
    starts = seen.window_s.astype(float).tolist()
    width = min((b - a for a, b in pairwise(starts)), default=10.0)
    stacked = seen[[*PARTS]].cumsum(axis=1)
    text = ", ".join(f"{part} {int(seen[part].sum()):,}" for part in PARTS) + " messages between brokers."
    high = float(stacked.to_numpy().max()) if len(seen) else 1.0
    chart = Chart(
        "Cost over time", text, Axis("run time (s)", 0, (starts[-1] if starts else 0.0) + width),
        Axis(f"messages in {width:.0f} s", 0, high), height=260, width=WIDE,
    )  # fmt: skip
    for n, part in reversed(list(enumerate(PARTS))):
        for start, top, own in zip(starts, stacked[part], seen[part], strict=True):
            chart.bar(start, start + width, float(top), COLOURS[n], f"{start:.0f} s: {part} {own:,}")
    chart.legend += [(part, COLOURS[n], "") for n, part in enumerate(PARTS)]
    return Drawn("Cost over time", text, chart.svg(), seen, {"window_s": "from (s)", **{p: p for p in PARTS}})
