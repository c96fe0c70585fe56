"""Figures 5 to 10 and table 1, from the tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas

from experiments.dynatops.claims.data import Data
from experiments.dynatops.claims.scaling import PAPER_SECONDS, Axis
from experiments.dynatops.measures import METRICS, along
from experiments.dynatops.points import Sizes
from experiments.dynatops.systems import PATTERN_LETTERS
from testbed.reproduction.figures.plot import Figure, Series, Stated
from testbed.reproduction.interval import intervals

AXES: dict[Axis, tuple[str, str]] = {
    "brokers": ("10a", "brokers |B|"), "topics": ("10b", "topics |P|"),
}  # fmt: skip


def scaling_figures(rows: pandas.DataFrame, sizes: Sizes, provenance: str) -> Iterator[Figure]:
    for axis in AXES:
        yield savings(rows, axis, sizes, provenance)
        yield seconds(rows, axis, sizes, provenance)


def savings(rows: pandas.DataFrame, axis: Axis, sizes: Sizes, provenance: str) -> Figure:
    number, label = AXES[axis]
    varied = along(rows, axis, sizes).assign(**{f"{m}_percent": 100 * rows[f"{m}_saving"] for m in METRICS})
    series = [
        over_seeds(f"{metric} ({letter})", varied[varied.pattern == pattern], axis, f"{metric}_percent")
        for metric in METRICS
        for pattern, letter in PATTERN_LETTERS.items()
    ]
    title = f"Fig. {number}: saving against consistent hashing"
    return Figure(
        f"fig{number}", title, label, "saving (%)", series, [Stated("none", 0)], provenance, log_x=True
    )


def seconds(rows: pandas.DataFrame, axis: Axis, sizes: Sizes, provenance: str) -> Figure:
    _, label = AXES[axis]
    series = [
        over_seeds(letter, along(rows, axis, sizes)[lambda one, p=pattern: one.pattern == p], axis, "seconds")
        for pattern, letter in PATTERN_LETTERS.items()
    ]
    stated = [Stated(f"{one:g} s", one, size) for (name, size), one in PAPER_SECONDS.items() if name == axis]
    title = f"Table 1: time of the greedy algorithm, {axis} varied"
    return Figure(
        f"figtable1-{axis}", title, label, "processor time (s)", series, stated, provenance, True, True
    )


# ---------------------------------------------------------------- figures 5 to 9

NAMES = {
    "bayeux-2": "Bayeux, base 2", "bayeux-4": "Bayeux, base 4", "bayeux-16": "Bayeux, base 16", "tco": "TCO",
    "chash": "Chord, static", "bnr": "DYNATOPS(BNR)", "bnr-prefix": "DYNATOPS(BNR), prefix routing",
    "up": "DYNATOPS(UP)", "up-prefix": "DYNATOPS(UP), prefix routing", "dynatops": "DYNATOPS",
    "dynatops-prefix": "DYNATOPS, prefix routing", "geops": "GeoPS (ours)",
}  # fmt: skip
RATED = ("bayeux-2", "bayeux-4", "bayeux-16", "tco", "bnr", "bnr-prefix", "dynatops", "dynatops-prefix")
PATTERN_ORDER = {"uniform": 0, "zipf": 1, "modes": 2}


def name_of(system: str) -> str:
    base, _, place = system.partition("(")
    return f"{NAMES.get(base, base)} ({place}" if place else NAMES.get(system, system)


def model_figures(data: Data, distributions: pandas.DataFrame, provenance: str) -> Iterator[Figure]:
    """Of the points that there are."""
    if len(distributions):
        yield from visit_figures(distributions, provenance)
    if len(data.poisson):
        yield from rate_figures(data.poisson, provenance)
        yield from pattern_figures(data.poisson, provenance)
    if len(data.location):
        yield from location_figures(data.location, provenance)
    yield from period_figures(data, provenance)


def visit_figures(rows: pandas.DataFrame, provenance: str) -> Iterator[Figure]:
    drawn = (("5a", "repeat", "visits of a user to a cell"), ("5b", "linger", "linger time (days)"))
    for number, which, label in drawn:
        one = over_seeds("visits", rows[rows.curve == which], "x", "share")
        title = f"Fig. {number}: distribution, {label}"
        yield Figure(f"fig{number}", title, label, "share", [one], (), provenance, log_x=which == "linger")


def rate_figures(rows: pandas.DataFrame, provenance: str) -> Iterator[Figure]:
    here = rows[(rows.pattern == "modes") & (rows.period == 10)]
    drawn = (
        ("7a", "changes", "brokers' subscription changes", ("bayeux-16", "dynatops")),
        ("7b", "delay", "delay (hops)", RATED),
        ("7c", "overhead", "messages per event", RATED),
        ("7d", "reconfiguration", "reconfiguration messages", ("tco", "bnr", "dynatops")),
        ("7b-model", "model_delay", "hops from the rendezvous point, per broker", RATED),
        ("7c-relays", "relays", "unrelated relays per event", RATED),
    )
    for number, value, label, systems in drawn:
        series = lines(here, systems, "rate", f"v_{value}")
        title = f"Fig. {number}: {label}, multimodal"
        yield Figure(
            f"fig{number}", title, "changes per user and hour", label, series, (), provenance, log_x=True
        )


def pattern_figures(rows: pandas.DataFrame, provenance: str) -> Iterator[Figure]:
    here = rows[(rows.rate == 0.1) & (rows.period == 10)]
    here = here.assign(at=here.pattern.map(PATTERN_ORDER))
    for number, value, label in (("8a", "delay", "delay (hops)"), ("8b", "overhead", "messages per event")):
        title = f"Fig. {number}: {label} by pattern"
        series = lines(here, RATED, "at", f"v_{value}")
        axis = "pattern: uniform (0), Zipf (1), multimodal (2)"
        yield Figure(f"fig{number}", title, axis, label, series, (), provenance)


def location_figures(rows: pandas.DataFrame, provenance: str) -> Iterator[Figure]:
    """By cluster size; systems without clusters are level."""
    week = rows[(rows.period == 168) & (rows.load == 0.5)]
    systems = sorted(set(week.system) - {"up-prefix", "dynatops-prefix"})
    drawn = (
        ("6a", "management", "subscription management messages", [s for s in systems if "pns" not in s]),
        ("6c", "handovers", "handovers", ["geops", "dynatops"]),
        ("6d", "delay", "delay (ms)", systems),
        ("6e", "overhead", "messages per event", systems),
        ("6f-delay", "delay", "delay (ms)", ["up", "dynatops"]),
        ("6f-overhead", "overhead", "messages per event", ["up", "dynatops"]),
    )
    for number, value, label, chosen in drawn:
        series = levelled(week, chosen, f"v_{value}")
        title = f"Fig. {number}: {label}"
        yield Figure(f"fig{number}", title, "brokers in a cluster", label, series, (), provenance, log_x=True)
    loads = rows[(rows.period == 168) & (rows.system == "up")]
    series = [
        over_seeds(f"w_l = {load:g}", part, "cluster", "v_load_deviation")
        for load, part in loads.groupby("load")
    ]
    series += levelled(week, ["bayeux-16(static)", "bayeux-16(loc)", "geops"], "v_load_deviation")
    label = "deviation of user subscriptions"
    yield Figure(
        "fig6b", f"Fig. 6b: {label}", "brokers in a cluster", label, series, (), provenance, log_x=True
    )


def levelled(rows: pandas.DataFrame, systems: Sequence[str], value: str) -> list[Series]:
    """Who has no clusters has the same value at all sizes."""
    sizes = sorted(rows[rows.system.isin(["up", "dynatops"])].cluster.unique())
    found = []
    for system in systems:
        part = rows[rows.system == system]
        if part.cluster.nunique() == 1 and system not in ("up", "dynatops"):
            part = pandas.concat([part.assign(cluster=size) for size in sizes or part.cluster.unique()])
        if len(part):
            found.append(over_seeds(name_of(system), part, "cluster", value))
    return found


def period_figures(data: Data, provenance: str) -> Iterator[Figure]:
    poisson, location = data.poisson, data.location
    if len(poisson):
        poisson = poisson[(poisson.rate == 0.025) & (poisson.pattern == "modes")]
    if len(location):
        location = location[(location.cluster == 10) & (location.load == 0.5)]
    for model, rows in (("poisson", poisson), ("location", location)):
        for value in ("delay", "overhead", "reconfiguration"):
            if len(rows):
                series = lines(rows, ("dynatops",), "period", f"v_{value}")
                title = f"Fig. 9: {value}, {model} model"
                yield Figure(
                    f"fig9-{model}-{value}", title, "T_free (hours)", value, series, (), provenance,
                    log_x=True,
                )  # fmt: skip


def lines(rows: pandas.DataFrame, systems: Sequence[str], axis: str, value: str) -> list[Series]:
    return [
        over_seeds(name_of(system), rows[rows.system == system], axis, value)
        for system in systems
        if (rows.system == system).any()
    ]


def over_seeds(label: str, rows: pandas.DataFrame, axis: str, value: str) -> Series:
    seen = intervals(rows, axis, value)
    ends = [one.low for one in seen.values()], [one.high for one in seen.values()]
    return Series(label, list(seen), [one.mean for one in seen.values()], *ends)
