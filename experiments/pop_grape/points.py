"""Which runs there are at a scale, and which of them a figure needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from experiments.pop_grape.systems import (
    ALL_SYSTEMS,
    BASELINE,
    DELAY1,
    GRAPE_THRESHOLDS,
    POP_THRESHOLDS,
    SYSTEMS,
    WEIGHTED,
    Algorithm,
    grape_threshold,
    pop_threshold,
)
from testbed.reproduction.collect import Groups
from testbed.reproduction.point import Label, Point, Settings, run_of_file
from testbed.reproduction.study import Ask, Scale

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Size:
    """How much of section 5 is run."""

    brokers: Mapping[str, int]  # by testbed
    duration: str
    clustered: tuple[int, ...]  # values of X
    random: tuple[int, ...]
    spread: int  # X of the weight and threshold runs
    changes: Settings = field(default_factory=dict)  # of the topology file
    groups: tuple[str, ...] = ()  # what is run when no figure is named; empty = all


SMOKE = Size(
    {"planetlab": 15, "cluster": 15}, "4min", (1, 8), (8,), 8,
    {"clients.pub.count": 4, "clients.sub.per_publisher": 16, "clients.pub.publish.rate": "60/min",
     "capture.enabled": True, "probes.every": "5s"},
    ("planetlab clustered", "planetlab random"),
)  # fmt: skip
FULL = Size({"planetlab": 63, "cluster": 127}, "18min", (1, 4, 16, 32, 63), (16, 63), 16)
SCALES = {
    "smoke": Scale(SMOKE, seeds=1, engines=("guest",), analysed=True),
    "full": Scale(FULL, seeds=3, engines=("simulate",)),
}
# Two guests at a time, one core each: the wide-area runs only. The issue of size is in NOTES.md.
GUEST_GROUPS = ("planetlab clustered", "planetlab random")


@dataclass(frozen=True)
class Planned:
    """A run without its seed, with the labels that figures group by."""

    testbed: str
    system: str
    workload: str
    spread: int
    settings: Settings

    def point(self, engine: str, seed: int) -> Point:
        place = f"{self.system} on {self.testbed}, {self.workload} workload"
        labels: dict[str, Label] = {
            "testbed": self.testbed, "system": self.system, "workload": self.workload,
            "spread": self.spread, "seed": seed,
        }  # fmt: skip
        return run_of_file(
            f"pop-grape-{self.testbed}", HERE / f"{self.testbed}.yaml", self.settings, seed, engine, labels,
            f"{place}, X = {self.spread}, seed {seed}",
        )  # fmt: skip


def points(ask: Ask[Size]) -> Groups:
    """Each run once per seed, by the groups that the request needs."""
    size = ask.size
    return {
        name: [one.point(ask.engine, seed) for one in planned_points(size, [name]) for seed in ask.seeds]
        for name in wanted_groups(size, ask.request.figures, ask.engine)
    }


Runs = list[tuple[str, str, Iterable[str], Iterable[int]]]  # testbed, workload, systems, values of X


def groups(size: Size) -> dict[str, Runs]:
    """Runs that belong together. What a figure needs is a list of these names."""
    one = (size.spread,)
    loads, delays = ([grape_threshold(metric, n) for n in GRAPE_THRESHOLDS] for metric in ("load", "delay"))
    return {
        "planetlab clustered": [("planetlab", "clustered", SYSTEMS, _middle_first(size.clustered))],
        "planetlab random": [("planetlab", "random", SYSTEMS, size.random)],
        "cluster clustered": [("cluster", "clustered", SYSTEMS, _middle_first(size.clustered))],
        "cluster random": [("cluster", "random", SYSTEMS, size.random)],
        "selection": [("planetlab", "clustered", (DELAY1,), size.clustered)],
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
    "app-resident": ("cluster clustered", "planetlab clustered"),
    "paired": ("planetlab clustered", "planetlab random", "cluster clustered", "cluster random"),
    "page": (
        "planetlab clustered",
        "cluster clustered",
        "cluster random",
        "weights",
        "selection",
        "grape thresholds",
        "pop thresholds",
    ),
    "cdf": ("planetlab clustered", "cluster clustered"),
    "app-output": ("planetlab clustered",),
    "app-random": ("cluster random", "planetlab random"),
    "app-weights": ("weights",),
    "app-weights-random": ("weights random",),
}


def wanted_groups(size: Size, figures: Iterable[str], engine: str) -> list[str]:
    """The groups that these figures need; without figures, all that the size and the engine run."""
    known = list(groups(size))
    named = list(figures)
    if named:
        needed = {g for figure in named for g in FIGURE_GROUPS[figure]}
        return [g for g in known if g in needed]
    chosen = size.groups or (GUEST_GROUPS if engine in ("guest", "host") else ())
    return [g for g in known if not chosen or g in chosen]


def settings(size: Size, testbed: str, system: Algorithm, workload: str, spread: int) -> Settings:
    """One point, as changes of the topology file."""
    brokers = size.brokers[testbed]
    sites = {"network.sites": brokers} if testbed == "planetlab" else {}
    return {
        "duration": size.duration,
        **sites,
        "brokers.B.count": brokers,
        **size.changes,
        "clients.sub.workload": workload,
        "clients.sub.spread": min(spread, brokers),
        "algorithm": system,
    }


def planned_points(size: Size, names: Iterable[str]) -> list[Planned]:
    """The points of these groups, each once, in the order of the groups."""
    found: dict[tuple[str, str, str, int], Planned] = {}
    for name in names:
        for testbed, workload, systems, spreads in groups(size)[name]:
            chosen = list(systems)
            for spread in spreads:
                for system in chosen:
                    made = settings(size, testbed, ALL_SYSTEMS[system], workload, spread)
                    point = Planned(testbed, system, workload, spread, made)
                    found.setdefault((testbed, system, workload, spread), point)
    return list(found.values())
