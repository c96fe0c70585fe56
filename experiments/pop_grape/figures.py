"""Figures 5 and 6 and the appendix's, from the tables of runs. Nothing is drawn that was not run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import pandas

from experiments.pop_grape.claims.data import AVERAGED, CLIENT, DELIVERY, Data
from experiments.pop_grape.claims.relocations import PLANETLAB, grape_selections
from experiments.pop_grape.claims.varied import DELAY_THRESHOLDS, LOAD_THRESHOLDS, P_THRESHOLDS
from experiments.pop_grape.systems import BASELINE, DELAY100, LOAD100, POP, WEIGHTS
from testbed.reproduction.figures.page import Page
from testbed.reproduction.figures.plot import Figure, Series, Stated
from testbed.reproduction.interval import intervals

X_LABEL = "X: brokers that hold a publisher's subscribers"
ALL = (BASELINE, POP, LOAD100, DELAY100)
RATE = ("message_rate", "messages per second and broker", "Broker message rate")
INPUT = ("input_utilisation", "input utilisation", "Input utilisation")
OUTPUT = ("output_utilisation", "output utilisation", "Output utilisation")
DELAY = ("delay_ms", "delivery delay (ms)", "Delivery delay")
HOPS = ("hops", "overlay hops", "Hop count")
MEMORY = ("memory_mb", "resident memory (MB)", "Memory per broker")
OVERHEAD = ("overhead", "share of messages between brokers", "Message overhead")
Measure = tuple[str, str, str]
SERVED = ("input_utilisation", "output_utilisation", "delay_ms")  # what hangs on the service model
INPUTS = "matching times are inputs, and queueing follows from them"
PAGES = {
    "5": ("5a", "5b", "5c", "5d", "app-resident", "5f", "5g", "5h"),
    "6": ("6a", "6b", "6c", "6d", "6e", "6f", "6g", "6h"),
}
WORDS = {CLIENT: "clients", DELIVERY: "deliveries"}
# The report's own testbed first; a copy on the other one is named after it.
PANELS: list[tuple[str, str, str, Measure]] = [
    ("5a", "planetlab", "clustered", RATE),
    ("5b", "planetlab", "clustered", INPUT),
    ("5c", "planetlab", "clustered", DELAY),
    ("5d", "cluster", "clustered", HOPS),
    ("5d-on-planetlab", "planetlab", "clustered", HOPS),
    ("5f", "cluster", "clustered", OVERHEAD),
    ("5f-on-planetlab", "planetlab", "clustered", OVERHEAD),
    ("5g", "cluster", "random", DELAY),
    ("5g-on-planetlab", "planetlab", "random", DELAY),
    ("app-output", "planetlab", "clustered", OUTPUT),
    ("app-output-on-cluster", "cluster", "clustered", OUTPUT),
    ("app-random-rate", "cluster", "random", RATE),
    ("app-random-rate-on-planetlab", "planetlab", "random", RATE),
    ("app-random-input", "cluster", "random", INPUT),
    ("app-random-hops", "cluster", "random", HOPS),
    ("app-random-overhead", "cluster", "random", OVERHEAD),
    ("app-random-overhead-on-planetlab", "planetlab", "random", OVERHEAD),
]


def all_figures(data: Data, provenance: str) -> Iterator[Figure | Page]:
    """Each figure, and the report's figures 5 and 6 as it prints them, from the same."""
    found = {figure.id: figure for figure in single_figures(data, provenance)}
    yield from found.values()
    for number, names in PAGES.items():
        panels = [p for name in names if (p := _first(found, name)) is not None]
        if len(panels) > 1:
            title = f"Figure {number}: POP and GRAPE, with what the report states"
            yield Page(f"figpage-{number}", title, panels, provenance)


def _first(found: Mapping[str, Figure], name: str) -> Figure | None:
    """The report's own testbed, else the other; averaged over clients, else over deliveries."""
    ids = (
        f"fig{name}",
        f"fig{name}-on-planetlab",
        f"fig{name}-by-delivery",
        f"fig{name}-on-planetlab-by-delivery",
    )
    return next((found[id_] for id_ in ids if id_ in found), None)


def single_figures(data: Data, provenance: str) -> Iterator[Figure]:
    for name, testbed, workload, measure in PANELS:
        yield from over_x(data, name, testbed, workload, measure, provenance)
        yield from paired(data, name, testbed, workload, measure, provenance)
    for testbed in ("planetlab", "cluster"):
        yield from distributions(data, testbed, provenance)
    measured = measured_on(data)
    if measured is not None:
        name = "app-resident" if measured == "cluster" else f"app-resident-on-{measured}"
        yield from over_x(data, name, measured, "clustered", MEMORY, provenance)
    yield from relocations(data, provenance)
    for seen, ending in ((data, ""), (replace(data, average=DELIVERY), "-by-delivery")):
        yield from weights(seen, provenance, ending)
        yield from thresholds(seen, provenance, ending)


def measured_on(data: Data) -> str | None:
    """Memory is measured of real processes only; on whichever testbed has them."""
    data.need(workload="clustered")
    known = data.runs[data.runs.memory_mb.notna()]
    known = known[known.workload == "clustered"]
    return None if not len(known) else str(known.testbed.iloc[0])


# ---------------------------------------------------------------- over X


def over_x(
    data: Data, name: str, testbed: str, workload: str, measure: Measure, provenance: str
) -> Iterator[Figure]:
    """Delays and hops by clients, and again by deliveries."""
    value, y_label, title = measure
    for seen in (data, replace(data, average=DELIVERY)) if value in AVERAGED else (data,):
        series = [s for system in ALL if (s := curve(seen, testbed, workload, system, value))]
        if len(series) == len(ALL):  # with one missing, the colours would be those of others
            over = f" averaged over {WORDS[seen.average]}" if value in AVERAGED else ""
            full = f"Fig. {name}: {title}{over}, {testbed}, {workload} workload"
            stated = stated_values(seen, name, testbed, workload, value)
            id_ = f"fig{name}" if seen.average == CLIENT else f"fig{name}-by-delivery"
            told = f"{provenance}; {INPUTS}" if value in SERVED else provenance
            yield Figure(id_, full, X_LABEL, y_label, series, stated, told)


def paired(
    data: Data, name: str, testbed: str, workload: str, measure: Measure, provenance: str
) -> Iterator[Figure]:
    """Shares of the baseline's, seed by seed: seeds share topologies and workloads, so what both owe to the
    seed is no part of the interval."""
    value, _, title = measure
    if value == "overhead":
        return  # the baseline has none
    series = [s for system in ALL[1:] if (s := share(data, testbed, workload, system, value)) is not None]
    if series:
        stated = [Stated(label, left) for label, left in REDUCTIONS.get(name, [])]
        told = f"{provenance}; paired by seed" + (f"; {INPUTS}" if value in SERVED else "")
        full = f"{title} as a share of the baseline's (Fig. {name}), {testbed}, {workload} workload"
        yield Figure(f"figpaired-{name}", full, X_LABEL, "share of the baseline's", series, stated, told)


def share(data: Data, testbed: str, workload: str, system: str, value: str) -> Series | None:
    column = data.column(value)
    own, base = (data.chosen(testbed, workload, s) for s in (system, BASELINE))
    if column not in own:
        return None
    both = own.merge(base, on=["spread", "seed"], suffixes=("", "_base"))
    both = both.assign(shown=both[column] / both[f"{column}_base"])
    return known_line(both, system, "spread", "shown")


def distributions(data: Data, testbed: str, provenance: str) -> Iterator[Figure]:
    """How many clients (by their averages), and how many deliveries, have at most a delay."""
    if not len(data.delays):
        return
    rows = data.delays
    rows = rows[(rows.testbed == testbed) & (rows.workload == "clustered") & (rows.spread == data.spread)]
    for column, words in (("client_delay_ms", "clients"), ("delay_ms", "deliveries")):
        means = rows.groupby(["system", "share"])[column].mean()
        known = [s for s in ALL if s in means.index.get_level_values(0)]
        if len(known) < len(ALL):
            continue
        series = [Series(s, list(means[s]), list(means[s].index)) for s in known]
        if series:
            title = f"Distribution of delays over {words}, {testbed}, clustered workload, X = {data.spread}"
            yield Figure(
                f"figcdf-{testbed}-{words}", title, "delay (ms)", f"share of {words}", series,
                provenance=f"{provenance}; quantiles averaged over seeds; {INPUTS}",
            )  # fmt: skip


def curve(data: Data, testbed: str, workload: str, system: str, value: str) -> Series | None:
    chosen, column = data.chosen(testbed, workload, system), data.column(value)
    return known_line(chosen, system, "spread", column)


def known_line(rows: pandas.DataFrame, label: str, x: str, y: str) -> Series | None:
    """As claims see it: an x of which a seed is not known is not there."""
    if y not in rows:
        return None
    whole = rows.groupby(x)[y].transform("count") == rows.groupby(x)[y].transform("size")
    return line(rows[whole], label, x, y)


def line(rows: pandas.DataFrame, label: str, x: str, y: str) -> Series | None:
    """Means with 95 % intervals over the rows of each x."""
    if not len(rows):
        return None
    seen = intervals(rows, x, y)
    xs, found = list(seen), list(seen.values())
    low, high = ([i.low for i in found], [i.high for i in found]) if any(i.n > 1 for i in found) else ([], [])
    return Series(label, xs, [i.mean for i in found], low, high)


REDUCTIONS = {  # figure -> (label, share of the baseline that is left); drawn at X = 1
    "5a": [("POP and load100: -85 %", 0.15)],
    "5b": [("POP: -64 %", 0.36), ("load100: -68 %", 0.32)],
    "5c": [("POP: -63 %", 0.37), ("delay100: -68 %", 0.32)],
}
LEVELS = {
    "5f": [Stated("POP at most 32 %", 0.32), Stated("GRAPE at most 16 %", 0.16)],
    "app-random-overhead": [Stated("GRAPE at most 5 %", 0.05)],
}


def stated_values(data: Data, name: str, testbed: str, workload: str, value: str) -> list[Stated]:
    family = name.split("-on-")[0]
    base = data.curve(testbed, workload, BASELINE, value)
    grape = data.curve(testbed, workload, LOAD100, value)
    if family == "app-random-rate" and len(grape):
        return [Stated("POP: GRAPE's +50 %", 1.5 * float(grape.mean()))]
    if family in REDUCTIONS and 1 in base.index:
        return [Stated(label, float(base[1]) * left, 1.0) for label, left in REDUCTIONS[family]]
    return LEVELS.get(family, [])


# ---------------------------------------------------------------- weights


def weights(data: Data, provenance: str, ending: str = "") -> Iterator[Figure]:
    for name, workload, measure in (
        ("5h", "clustered", DELAY), ("app-weights-hops", "clustered", HOPS),
        ("app-weights-rate", "clustered", RATE), ("app-weights-random", "random", DELAY),
    ):  # fmt: skip
        value, y_label, title = measure
        if ending and value not in AVERAGED:
            continue
        series = [s for m in ("load", "delay") if (s := weight_curve(data, workload, m, value)) is not None]
        if series:
            full = f"Fig. {name}: {title} by weight, cluster, {workload} workload, X = {data.spread}"
            full += f", over {WORDS[data.average]}" if value in AVERAGED else ""
            yield Figure(f"fig{name}{ending}", full, "weight (%)", y_label, series, provenance=provenance)


def weight_curve(data: Data, workload: str, metric: str, value: str) -> Series | None:
    rows = []
    for weight in WEIGHTS:
        chosen = data.chosen("cluster", workload, f"{metric}{weight}")
        rows.append(chosen[chosen.spread == data.spread].assign(weight=weight))
    if not all(len(r) for r in rows):
        return None
    found = known_line(pandas.concat(rows), f"prioritise {metric}", "weight", data.column(value))
    return found if found is not None and len(found.x) == len(WEIGHTS) else None


# ---------------------------------------------------------------- selection and migration


def relocations(data: Data, provenance: str) -> Iterator[Figure]:
    path, seconds = "hops of the migration path", "seconds"
    pop = data.selections(PLANETLAB, POP)
    if len(pop):
        lines = by_x(pop, lambda rows: rows.duration_s, "X = {}")
        title = "Fig. 6a: POP's selection time, planetlab, clustered workload"
        yield Figure("fig6a", title, path, seconds, lines, provenance=provenance)
    grape = grape_selections(data)
    if len(grape):
        system = grape.system.iloc[0]
        title = f"Fig. 6b: GRAPE's selection time ({system}), planetlab, clustered workload"
        lines = by_x(grape, lambda rows: rows.duration_s, "X = {}")
        yield Figure("fig6b", title, path, seconds, lines, provenance=provenance)
        # In the report in the same figure; ten lines are too many for one.
        lines = by_x(grape, lambda rows: rows.duration_s - rows.ping_s, "X = {}")
        stated = [Stated("at most 5 s", 5.0)]
        title = f"{title}, without the time for pings"
        yield Figure("fig6b-without-pings", title, path, seconds, lines, stated, provenance)
    moved = data.migrations(PLANETLAB)
    if len(moved):
        found = [line(moved, "all", "path", "duration_s")]
        found += [line(moved[moved.system == s], s, "path", "duration_s") for s in (POP, LOAD100, DELAY100)]
        stated = [Stated("at most 5 s at 10 hops", 5.0, 10.0)]
        title = "Fig. 6c: publisher's wait while it migrates, planetlab"
        yield Figure("fig6c", title, path, seconds, [s for s in found if s], stated, provenance)


def by_x(
    moves: pandas.DataFrame, value: Callable[[pandas.DataFrame], pandas.Series], label: str
) -> list[Series]:
    rows = moves[moves.path > 0]
    rows = rows.assign(shown=value(rows))
    # Without intervals: a path length has a few selections only, and ten bands hide one another.
    found = [line(group, label.format(x), "path", "shown") for x, group in rows.groupby("spread")]
    return [replace(s, low=(), high=()) for s in found if s]


# ---------------------------------------------------------------- thresholds over time


CONTROL: Measure = ("control_share", "share of received messages", "Control messages")


def thresholds(data: Data, provenance: str, by: str = "") -> Iterator[Figure]:
    overheads = [Stated("largest 46 %", 0.46)]
    for metric, labels in (("load100", LOAD_THRESHOLDS), ("delay100", DELAY_THRESHOLDS)):
        ending = "" if metric == "load100" else f"-{metric}"
        for name, measure in (("6d", DELAY), ("6e", HOPS), ("6f", RATE), ("6g", CONTROL)):
            if by and measure[0] not in AVERAGED:
                continue
            title = f"Fig. {name}: {measure[2]}, GRAPE {metric} by G_threshold, cluster, X = {data.spread}"
            extra = [BASELINE] if name != "6g" else []
            stated = overheads if name == "6g" else []
            yield from over_time(
                data, f"{name}{ending}{by}", labels, extra, measure, title, stated, provenance
            )
    if by:
        return
    title = f"Fig. 6h: {CONTROL[2]}, POP by P_threshold, cluster, X = {data.spread}"
    stated = [Stated("largest 57 %", 0.57), Stated("smallest 6 %", 0.06)]
    yield from over_time(data, "6h", P_THRESHOLDS, [], CONTROL, title, stated, provenance)


def over_time(
    data: Data,
    name: str,
    labels: Mapping[int, str],
    extra: Sequence[str],
    measure: Measure,
    title: str,
    stated: Sequence[Stated],
    provenance: str,
) -> Iterator[Figure]:
    t = data.timeline
    if not len(t) or not set(labels.values()) <= set(t[t.testbed == "cluster"].system):
        return
    t = t[(t.testbed == "cluster") & (t.workload == "clustered") & (t.spread == data.spread)]
    wanted = [(label, system) for system in extra for label in [system]]
    wanted += [(f"threshold {n}", system) for n, system in labels.items()]
    column = data.column(measure[0])
    found = [known_line(t[t.system == system], label, "minute", column) for label, system in wanted]
    series = [s for s in found if s]
    if len(series) < len(wanted):
        return
    yield Figure(f"fig{name}", title, "minutes of publishing", measure[1], series, stated, provenance)
