"""The systems that are compared, and the runs that each figure needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Algorithm = dict[str, Any]
Settings = dict[str, Any]  # changes of a topology file, by dotted place

BASELINE = "baseline"
POP = "POP"
LOAD100 = "load100"
DELAY100 = "delay100"
DELAY1 = "delay1"

SYSTEMS: dict[str, Algorithm] = {
    BASELINE: {},
    POP: {"name": "pop"},
    LOAD100: {"name": "grape", "prioritise": "load", "weight": 100},
    DELAY100: {"name": "grape", "prioritise": "delay", "weight": 100},
}
WEIGHTS = (1, 25, 50, 75, 100)
WEIGHTED: dict[str, Algorithm] = {
    f"{metric}{weight}": {"name": "grape", "prioritise": metric, "weight": weight}
    for metric in ("load", "delay")
    for weight in WEIGHTS
}
# 5.2 names 10 and 100 only. The metric that was minimised in figures 6d to 6g is not given: both are run.
GRAPE_THRESHOLDS = (10, 50, 100, 200)
POP_THRESHOLDS = (20, 100, 200)


def grape_threshold(metric: str, threshold: int) -> str:
    """The label of one threshold; the default one is the plain system."""
    return f"{metric}100" if threshold == 100 else f"{metric}100-T{threshold}"


def pop_threshold(threshold: int) -> str:
    return POP if threshold == 100 else f"POP-T{threshold}"


THRESHOLDS: dict[str, Algorithm] = {
    **{
        grape_threshold(metric, n): {**WEIGHTED[f"{metric}100"], "threshold": n}
        for metric in ("load", "delay")
        for n in GRAPE_THRESHOLDS
        if n != 100
    },
    # 5.2: N is half of P_threshold; that is the default for 100.
    **{
        pop_threshold(n): {"name": "pop", "threshold": n, "traced_per_window": n // 2}
        for n in POP_THRESHOLDS
        if n != 100
    },
}
ALL_SYSTEMS: Mapping[str, Algorithm] = {**SYSTEMS, **WEIGHTED, **THRESHOLDS}


@dataclass(frozen=True)
class Scale:
    """How much of section 5 is run."""

    brokers: Mapping[str, int]  # by testbed
    duration: str
    clustered: tuple[int, ...]  # values of X
    random: tuple[int, ...]
    spread: int  # X of the weight and threshold runs
    seeds: int
    changes: Settings = field(default_factory=dict)  # of the topology file
    groups: tuple[str, ...] = ()  # what is run when no figure is named; empty = all
    analysed: bool = False  # every run is analysed with Spark, and measured from its tables


SCALES = {
    "smoke": Scale(
        {"planetlab": 15, "cluster": 15}, "4min", (1, 8), (8,), 8, 1,
        {"clients.pub.count": 4, "clients.sub.per_publisher": 16, "clients.pub.publish.rate": "60/min",
         "capture.enabled": True, "probes.every": "5s"},
        ("planetlab clustered", "planetlab random"), analysed=True,
    ),
    "full": Scale({"planetlab": 63, "cluster": 127}, "18min", (1, 4, 16, 32, 63), (16, 63), 16, 3),
}  # fmt: skip
# Two guests at a time, one core each: the wide-area runs only. The issue of size is in NOTES.md.
GUEST_GROUPS = ("planetlab clustered", "planetlab random")


@dataclass(frozen=True)
class Planned:
    """A point with the labels that figures group by."""

    testbed: str
    system: str
    workload: str
    spread: int
    settings: Settings


Runs = list[tuple[str, str, Iterable[str], Iterable[int]]]  # testbed, workload, systems, values of X


def groups(scale: Scale) -> dict[str, Runs]:
    """Runs that belong together. What a figure needs is a list of these names."""
    one = (scale.spread,)
    loads, delays = ([grape_threshold(metric, n) for n in GRAPE_THRESHOLDS] for metric in ("load", "delay"))
    return {
        "planetlab clustered": [("planetlab", "clustered", SYSTEMS, _middle_first(scale.clustered))],
        "planetlab random": [("planetlab", "random", SYSTEMS, scale.random)],
        "cluster clustered": [("cluster", "clustered", SYSTEMS, _middle_first(scale.clustered))],
        "cluster random": [("cluster", "random", SYSTEMS, scale.random)],
        "selection": [("planetlab", "clustered", (DELAY1,), scale.clustered)],
        "weights": [("cluster", "clustered", WEIGHTED, one)],
        "weights random": [("cluster", "random", WEIGHTED, one)],
        "grape thresholds": [("cluster", "clustered", (BASELINE, *loads, *delays), one)],
        "pop thresholds": [("cluster", "clustered", map(pop_threshold, POP_THRESHOLDS), one)],
    }


def _middle_first(spreads: tuple[int, ...]) -> list[int]:
    """Both ends and the middle first: a set of runs that is cut short still shows the shape."""
    first = [spreads[0], spreads[len(spreads) // 2], spreads[-1]]
    return list(dict.fromkeys([*first, *spreads]))


FIGURE_GROUPS: dict[str, tuple[str, ...]] = {
    "5a": ("planetlab clustered",),
    "5b": ("planetlab clustered",),
    "5c": ("planetlab clustered",),
    "5d": ("cluster clustered",),
    "5e": ("cluster clustered", "planetlab clustered"),
    "5f": ("cluster clustered", "planetlab clustered"),
    "5g": ("cluster random",),
    "5h": ("weights",),
    "6a": ("planetlab clustered",),
    "6b": ("selection", "planetlab clustered"),
    "6c": ("planetlab clustered",),
    "6d": ("grape thresholds",),
    "6e": ("grape thresholds",),
    "6f": ("grape thresholds",),
    "6g": ("grape thresholds",),
    "6h": ("pop thresholds",),
    "app-output": ("planetlab clustered",),
    "app-random": ("cluster random", "planetlab random"),
    "app-weights": ("weights",),
    "app-weights-random": ("weights random",),
}


def wanted_groups(scale: Scale, figures: Iterable[str], engine: str) -> list[str]:
    """The groups that these figures need; without figures, all that the scale and the engine run."""
    known = list(groups(scale))
    named = list(figures)
    if named:
        needed = {g for figure in named for g in FIGURE_GROUPS[figure]}
        return [g for g in known if g in needed]
    chosen = scale.groups or (GUEST_GROUPS if engine in ("guest", "host") else ())
    return [g for g in known if not chosen or g in chosen]


def settings(scale: Scale, testbed: str, system: Algorithm, workload: str, spread: int) -> Settings:
    """One point, as changes of the topology file."""
    size = scale.brokers[testbed]
    sites = {"network.sites": size} if testbed == "planetlab" else {}
    return {
        "duration": scale.duration,
        **sites,
        "brokers.B.count": size,
        **scale.changes,
        "clients.sub.workload": workload,
        "clients.sub.spread": min(spread, size),
        "algorithm": system,
    }


def planned_points(scale: Scale, names: Iterable[str]) -> list[Planned]:
    """The points of these groups, each once, in the order of the groups."""
    found: dict[tuple[str, str, str, int], Planned] = {}
    for name in names:
        for testbed, workload, systems, spreads in groups(scale)[name]:
            chosen = list(systems)
            for spread in spreads:
                for system in chosen:
                    made = settings(scale, testbed, ALL_SYSTEMS[system], workload, spread)
                    point = Planned(testbed, system, workload, spread, made)
                    found.setdefault((testbed, system, workload, spread), point)
    return list(found.values())
