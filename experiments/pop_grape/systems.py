"""The systems that are compared, and the points of every figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Algorithm = dict[str, Any]

BASELINE = "baseline"
POP = "POP"
LOAD100 = "load100"
DELAY100 = "delay100"

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
GRAPE_THRESHOLDS = (10, 50, 100, 200)
POP_THRESHOLDS = (20, 100, 200)
THRESHOLDS: dict[str, Algorithm] = {
    **{
        f"G{n}": {"name": "grape", "prioritise": "load", "weight": 100, "threshold": n}
        for n in GRAPE_THRESHOLDS
    },
    # 5.2: N is half of P_threshold
    **{f"P{n}": {"name": "pop", "threshold": n, "traced_per_window": n // 2} for n in POP_THRESHOLDS},
}


@dataclass(frozen=True)
class Scale:
    """How much of section 5 is run."""

    testbeds: tuple[str, ...]
    brokers: dict[str, int]
    duration: str
    publishers: int
    clustered: tuple[int, ...]  # values of X
    random: tuple[int, ...]
    spread: int  # X of the weight and threshold runs
    seeds: int
    sweeps: bool  # weights and thresholds too


SCALES = {
    "smoke": Scale(("planetlab",), {"planetlab": 15}, "4min", 4, (1, 8), (8,), 8, 1, False),
    "full": Scale(
        ("planetlab", "cluster"),
        {"planetlab": 63, "cluster": 127},
        "18min",
        20,
        (1, 4, 16, 32, 63),
        (16, 63),
        16,
        3,
        True,
    ),
}


def settings(scale: Scale, testbed: str, system: Algorithm, workload: str, spread: int) -> dict[str, Any]:
    """One point, as changes of the topology file."""
    size = scale.brokers[testbed]
    sites = {"network.sites": size} if testbed == "planetlab" else {}
    return {
        "duration": scale.duration,
        **sites,
        "brokers.B.count": size,
        "clients.pub.count": scale.publishers,
        "clients.sub.workload": workload,
        "clients.sub.spread": min(spread, size),
        "algorithm": system,
    }


@dataclass(frozen=True)
class Planned:
    """A point with the labels that figures group by."""

    testbed: str
    system: str
    workload: str
    spread: int
    settings: dict[str, Any]


def planned_points(scale: Scale) -> list[Planned]:
    points = []
    for testbed in scale.testbeds:
        for workload, spreads in (("clustered", scale.clustered), ("random", scale.random)):
            for spread in spreads:
                for name, system in SYSTEMS.items():
                    made = settings(scale, testbed, system, workload, spread)
                    points.append(Planned(testbed, name, workload, spread, made))
    if scale.sweeps:
        for name, system in {**WEIGHTED, **THRESHOLDS}.items():
            if name not in SYSTEMS:
                made = settings(scale, "cluster", system, "clustered", scale.spread)
                points.append(Planned("cluster", name, "clustered", scale.spread, made))
    return points
