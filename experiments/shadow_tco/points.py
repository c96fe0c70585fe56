"""Which computations and runs there are at a scale: laws of popularity, deployed systems, varied readings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import pandas

from experiments.shadow_tco.deployment import Churned, plan_of
from experiments.shadow_tco.rounds import play
from experiments.shadow_tco.systems import DEPLOYED, MAINTAINED
from experiments.shadow_tco.varied_repairs import vary_repair
from experiments.shadow_tco.varied_ties import vary_tie
from experiments.shadow_tco.workload import Popularity, Setting
from testbed.reproduction.collect import Groups
from testbed.reproduction.point import Point, computed, run_of_plan
from testbed.reproduction.study import Ask, Scale

POPULARITIES: tuple[Popularity, ...] = ("uniform", "zipf", "exponential")
SOURCES = (
    "broker_grpc.protocols.topicconnected",
    *(f"experiments.shadow_tco.{name}" for name in ("rounds", "systems", "workload")),
)
VARIED = (*SOURCES, *(f"experiments.shadow_tco.{name}" for name in ("varied_repairs", "varied_ties")))
Report = Callable[[str], None]
Tables = dict[str, pandas.DataFrame]


# ---------------------------------------------------------------- computed: section VI


@dataclass(frozen=True)
class Instance:
    """The size of section VI that is computed, and how often LOW-ODA is built from scratch."""

    setting: Setting
    low_every: int


SCALES = {
    "smoke": Scale(
        Instance(Setting(nodes=150, topics=30, smallest=3, largest=15, rounds=60), 10), more_seeds=False
    ),
    "full": Scale(Instance(Setting(), 50), more_seeds=False),
}


def law(report: Report, setting: dict[str, Any], seed: int, systems: list[str], low_every: int) -> Tables:
    rounds, degrees = play(Setting(**setting), seed, systems, low_every, report)
    return {"rounds": rounds, "degrees": degrees}


def law_point(setting: Setting, seed: int, systems: Sequence[str], low_every: int) -> Point:
    arguments = {"setting": asdict(setting), "systems": list(systems), "low_every": low_every}
    chosen = setting.popularity
    labels = {"popularity": chosen, "seed": seed}
    return computed("laws", chosen, f"{__name__}:law", arguments, seed, labels, SOURCES, chosen)


def law_points(ask: Ask[Instance]) -> Groups:
    """A point per law of popularity, each a group of its own: laws are not compared with each other."""
    size = ask.size
    settings = [replace(size.setting, popularity=law) for law in POPULARITIES]
    return {
        one.popularity: [law_point(one, seed, MAINTAINED, size.low_every) for seed in ask.seeds]
        for one in settings
    }


# ---------------------------------------------------------------- deployed: the same as a running system

DEPLOYED_SCALES = {
    "smoke": Scale(
        Churned(brokers=8, spare=2, topics=8, publishers=2, rounds=6), engines=("simulate",), more_seeds=False
    ),
    "full": Scale(Churned(), engines=("simulate", "guest"), more_seeds=False),
}


def deployed_points(ask: Ask[Churned]) -> Groups:
    made = [run_point(ask.size, e, s, seed) for e in ask.engines for s in DEPLOYED for seed in ask.seeds]
    return {"deployed": made}


def run_point(size: Churned, engine: str, system: str, seed: int) -> Point:
    plan = plan_of(size, system, seed)
    settings, labels = {**asdict(size), "maintenance": system}, {"engine": engine, "system": system}
    return run_of_plan(engine, system, plan, settings, engine, labels, f"{engine} {system}")


# ---------------------------------------------------------------- varied: what the paper leaves open


def tie(report: Report, setting: dict[str, Any], seed: int, rule: str) -> Tables:
    return {"ties": vary_tie(rule, Setting(**setting), seed)}


def repair(report: Report, setting: dict[str, Any], seed: int, variant: list[Any]) -> Tables:
    return {"repairs": vary_repair(variant, Setting(**setting), seed)}


def tie_point(setting: Setting, seed: int, rule: str) -> Point:
    arguments = {"setting": asdict(setting), "rule": rule}
    return computed("ties", slug(rule), f"{__name__}:tie", arguments, seed, {"ties": rule}, VARIED)


def repair_point(setting: Setting, seed: int, variant: Sequence[Any]) -> Point:
    arguments = {"setting": asdict(setting), "variant": list(variant)}
    of, name, backups, _, coverage = variant
    labels = {"of": of, "variant": name, "backups": backups, "lambda": coverage}
    words = slug(*map(str, variant))
    return computed("repairs", words, f"{__name__}:repair", arguments, seed, labels, VARIED)


def slug(*words: str) -> str:
    """A folder's name."""
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-")
