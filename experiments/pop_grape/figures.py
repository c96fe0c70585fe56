"""Figures 5 and 6, from the table of runs."""

from __future__ import annotations

from collections.abc import Iterator

import pandas

from experiments.pop_grape.data import Data
from experiments.pop_grape.systems import BASELINE, DELAY100, LOAD100, POP, WEIGHTS
from testbed.figures.interval import mean_interval
from testbed.figures.plot import Figure, Series, Stated

X_LABEL = "X: brokers that hold a publisher's subscribers"
ALL = (BASELINE, POP, LOAD100, DELAY100)
PANELS = {
    "5a": ("planetlab", "clustered", "message_rate", "messages per second and broker", "Broker message rate"),
    "5b": ("planetlab", "clustered", "input_utilisation", "input utilisation", "Input utilisation"),
    "5c": ("planetlab", "clustered", "delay_ms", "delivery delay (ms)", "Delivery delay"),
    "5d": ("cluster", "clustered", "hops", "overlay hops", "Hop count"),
    "5e": ("cluster", "clustered", "memory_mb", "resident memory (MB)", "Memory"),
    "5f": ("cluster", "clustered", "overhead", "share of messages", "Message overhead"),
    "5g": ("cluster", "random", "delay_ms", "delivery delay (ms)", "Delivery delay"),
    "app-output": (
        "planetlab",
        "clustered",
        "output_utilisation",
        "output utilisation",
        "Output utilisation",
    ),
    "app-random": (
        "cluster",
        "random",
        "message_rate",
        "messages per second and broker",
        "Message rate",
    ),
}
STATED = {"5f": [Stated("POP at most 32 %", 0.32), Stated("GRAPE at most 16 %", 0.16)]}


def all_figures(data: Data, provenance: str) -> Iterator[Figure]:
    for name, (testbed, workload, value, y_label, title) in PANELS.items():
        series = [
            s for system in ALL if (s := curve(data.runs, testbed, workload, system, value)) is not None
        ]
        if series:
            full = f"Fig. {name}: {title}, {testbed}, {workload} workload"
            yield Figure(f"fig{name}", full, X_LABEL, y_label, series, STATED.get(name, []), provenance)
    yield from waits(data, provenance)
    yield from weights(data, provenance)


def curve(runs: pandas.DataFrame, testbed: str, workload: str, system: str, value: str) -> Series | None:
    chosen = runs[(runs.testbed == testbed) & (runs.workload == workload) & (runs.system == system)]
    chosen = chosen[chosen[value].notna()]
    if not len(chosen):
        return None
    intervals = {x: mean_interval(group[value].to_list()) for x, group in chosen.groupby("spread")}
    xs = sorted(intervals)
    return Series(
        system,
        xs,
        [intervals[x].mean for x in xs],
        [intervals[x].low for x in xs],
        [intervals[x].high for x in xs],
    )


def waits(data: Data, provenance: str) -> Iterator[Figure]:
    paths = data.migrations("planetlab")
    if len(paths):
        mean = paths.groupby("path").duration_s.mean()
        series = [Series("mean wait", mean.index.to_list(), mean.to_list())]
        stated = [Stated("at most 5 s at 10 hops", 5.0, 10.0)]
        title = "Fig. 6c: publisher wait time, planetlab"
        yield Figure("fig6c", title, "hops of the migration path", "wait (s)", series, stated, provenance)


def weights(data: Data, provenance: str) -> Iterator[Figure]:
    runs = data.runs[(data.runs.testbed == "cluster") & (data.runs.workload == "clustered")]
    series = []
    for metric in ("load", "delay"):
        ys = [runs[runs.system == f"{metric}{w}"].delay_ms.mean() for w in WEIGHTS]
        if not any(pandas.isna(y) for y in ys):
            series.append(Series(f"prioritise {metric}", list(WEIGHTS), ys))
    if series:
        title = "Fig. 5h: delivery delay by weight, cluster, clustered workload"
        yield Figure("fig5h", title, "weight (%)", "delivery delay (ms)", series, provenance=provenance)
