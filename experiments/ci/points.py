"""Which computations there are: a network and a law of the static tree each, all systems on the same
traffic.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from experiments.ci.deployment import plan_of
from experiments.ci.systems import CI, HEURISTICS, LAWS, NAMES
from experiments.ci.variants import OF_ALL_SYSTEMS, OF_TIME
from experiments.ci.workload import Setting
from testbed.reproduction.collect import Groups
from testbed.reproduction.point import Label, Point, computed, run_of_plan
from testbed.reproduction.study import Ask, Scale

COMPUTATIONS, VARIATIONS = "experiments.ci.computations", "experiments.ci.variants"
SOURCES = (
    *(
        f"broker_grpc.protocols.selforganising.{name}"
        for name in ("consensus", "evaluation", "heuristics", "intervals", "neighbourhood")
    ),
    "testbed.flow.selforganising",
    *(f"testbed.flow.{name}" for name in ("ledger", "traffic", "tree")),
    *(f"experiments.ci.{name}" for name in ("networks", "systems", "workload")),
)


@dataclass(frozen=True)
class Size:
    setting: Setting
    short: int  # ticks of figures 5 and 6
    etas: tuple[int, ...]
    alphas: tuple[float, ...]


SMALL = Setting(domains=10, routers=20, brokers=24, types=16, subscribers=5, ticks=18_000)
SCALES = {
    "smoke": Scale(Size(SMALL, 3_000, (1, 2, 4, 6), (0.0, 0.5, 1.0)), seeds=3),
    "full": Scale(
        Size(Setting(), 25_000, (1, 2, 3, 4, 5, 6, 7, 8), tuple(a / 10 for a in range(11))), seeds=25
    ),
}


# ---------------------------------------------------------------- points


def points(ask: Ask[Size]) -> Groups:
    """A group per figure and law."""
    size, wanted = ask.size, ask.request.figures or ("4", "5", "6")
    short = replace(size.setting, ticks=size.short)
    made: dict[str, tuple[str, Setting, dict[str, Any]]] = {
        "4": ("adaptivity", size.setting, {}),
        "5": ("neighbourhoods", short, {"etas": list(size.etas)}),
        "6": ("weights", short, {"alphas": list(size.alphas)}),
    }
    return {
        f"{figure}-{law}": [point(figure, *made[figure], law, seed) for seed in ask.seeds]
        for figure in made
        for law in LAWS
        if figure in wanted
    }


def point(figure: str, function: str, setting: Setting, more: dict[str, Any], law: str, seed: int) -> Point:
    arguments = {"setting": asdict(setting), "law": law, **more}
    labels: dict[str, Label] = {"figure": f"fig{figure}", "law": law, "seed": seed}
    name = f"{law}-{seed}"
    title = f"figure {figure}, {LAWS[law]}, network {seed}"
    return computed(function, name, f"{COMPUTATIONS}:{function}", arguments, seed, labels, SOURCES, title)


def varied_points(ask: Ask[Size]) -> Groups:
    """Other choices of readings: most on figure 5's length, what concerns t1 and t2 on figure 4's."""
    size = ask.size
    short = replace(size.setting, ticks=size.short)
    return {
        law: [
            variant(name, setting, law, seed)
            for setting, names in ((short, OF_ALL_SYSTEMS), (size.setting, OF_TIME))
            for name in names
            for seed in ask.seeds
        ]
        for law in LAWS
    }


def variant(name: str, setting: Setting, law: str, seed: int) -> Point:
    arguments = {"setting": asdict(setting), "law": law, "variant": name}
    labels: dict[str, Label] = {"variant": name, "law": law, "seed": seed}
    folder = f"{law}-{name.replace(' ', '-')}-{seed}"
    sources = (*SOURCES, COMPUTATIONS)
    return computed("varied", folder, f"{VARIATIONS}:varied", arguments, seed, labels, sources)


# ---------------------------------------------------------------- message by message

SIMULATED = "experiments.ci.simulated"
SIMULATED_SCALES = {
    "smoke": Scale(replace(SMALL, ticks=3_000), more_seeds=False),
    "full": Scale(Setting(ticks=25_000), more_seeds=False),
}
SIMULATED_SOURCES = (
    *SOURCES, COMPUTATIONS, "experiments.ci.deployment", "experiments.ci.pricing", "testbed.simulation",
    "broker_grpc.core", "broker_grpc.protocols.contentbased", "broker_grpc.protocols.selforganising",
)  # fmt: skip


def simulated_points(ask: Ask[Setting]) -> Groups:
    arguments = {"setting": asdict(ask.size), "law": "uniform", "system": CI}
    labels: dict[str, Label] = {"law": "uniform", "seed": 1}
    return {
        "compared": [
            computed(
                "compared", "uniform-1", f"{SIMULATED}:compared", arguments, 1, labels, SIMULATED_SOURCES,
                "simulated message by message",
            )
        ]
    }  # fmt: skip


# ---------------------------------------------------------------- real brokers

SLOW: dict[str, Any] = {
    "publication": 25.0,
    "interval": 1_250,
    "subscription": 12_500.0,
}  # all five times slower
EMULATED_SCALES = {
    "smoke": Scale(
        Setting(domains=10, routers=20, brokers=14, types=8, subscribers=4, ticks=22_500, **SLOW),
        engines=("simulate",), more_seeds=False,
    ),
    "full": Scale(
        Setting(brokers=48, types=24, ticks=22_500, **SLOW), engines=("guest",), more_seeds=False
    ),
}  # fmt: skip


def emulated_points(ask: Ask[Setting]) -> Groups:
    return {
        "deployed": [deployed(ask.size, engine, system) for engine in ask.engines for system in HEURISTICS]
    }


def deployed(setting: Setting, engine: str, system: str) -> Point:
    plan = plan_of(setting, "uniform", 1, system, "measured")
    settings = {**asdict(setting), "system": system}
    labels: dict[str, Label] = {"engine": engine, "system": system}
    return run_of_plan(engine, system, plan, settings, engine, labels, f"{engine} {NAMES[system]}")
