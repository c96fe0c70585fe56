"""Which computations and runs there are at a scale: laws of popularity, deployed systems, varied readings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from experiments.shadow_tco.deployment import Churned, plan_of
from experiments.shadow_tco.systems import DEPLOYED, MAINTAINED
from experiments.shadow_tco.workload import Popularity, Setting
from testbed.reproduction.collect import Groups
from testbed.reproduction.point import Point, computed, run_of_plan
from testbed.reproduction.study import Ask, Scale

POPULARITIES: tuple[Popularity, ...] = ("uniform", "zipf", "exponential")
HERE = "experiments.shadow_tco"
COMPUTING = tuple(  # all that an overlay hangs on: the running system beside it may change
    f"broker_grpc.protocols.topicconnected.{name}"
    for name in ("backups", "buckets", "components", "counting", "defaults", "lowedges", "lowoda", "naive",
                 "overlay", "repair", "shadow")
)  # fmt: skip
SOURCES = (*COMPUTING, *(f"{HERE}.{name}" for name in ("rounds", "systems", "workload")))
SCRATCH = (*SOURCES, f"{HERE}.scratch")
VARIED = (*SOURCES, f"{HERE}.varied_repairs", f"{HERE}.varied_ties")


# ---------------------------------------------------------------- computed: section VI


@dataclass(frozen=True)
class Instance:
    """The size of section VI that is computed. LOW-ODA is built at every round, `stretch` rounds in a point,
    and at every `low_every`-th beside the other systems."""

    setting: Setting
    low_every: int
    stretch: int


SCALES = {
    "smoke": Scale(
        Instance(Setting(nodes=150, topics=30, smallest=3, largest=15, rounds=60), 10, 60), more_seeds=False
    ),
    "full": Scale(Instance(Setting(), 50, 50), seeds=5),
}


def law_point(setting: Setting, seed: int, systems: Sequence[str], low_every: int) -> Point:
    arguments = {"setting": asdict(setting), "systems": list(systems), "low_every": low_every}
    chosen = setting.popularity
    labels = {"popularity": chosen, "seed": seed}
    name = f"{chosen}-{seed}"
    return computed("laws", name, f"{HERE}.computations:law", arguments, seed, labels, SOURCES, name)


def scratch_point(setting: Setting, seed: int, first: int, last: int) -> Point:
    arguments = {"setting": asdict(setting), "first": first, "last": last}
    chosen = setting.popularity
    labels = {"popularity": chosen, "seed": seed, "first": first}
    name = f"{chosen}-{seed}-{first}"
    function = f"{HERE}.computations:scratch"
    return computed("scratch", name, function, arguments, seed, labels, SCRATCH, f"LOW-ODA {name}")


def law_points(ask: Ask[Instance]) -> Groups:
    """A group per law of popularity, as laws are not compared with each other: what is compared with each
    other side by side first, then LOW-ODA at every round, a seed after the other."""
    size = ask.size
    settings = [replace(size.setting, popularity=law) for law in POPULARITIES]
    beside = {
        one.popularity: [law_point(one, seed, MAINTAINED, size.low_every) for seed in ask.seeds]
        for one in settings
    }
    return beside | {
        f"{one.popularity}, from scratch": [
            scratch_point(one, seed, first, min(first + size.stretch - 1, one.rounds))
            for seed in ask.seeds
            for first in range(1, one.rounds + 1, size.stretch)
        ]
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
    settings, labels = {**size.said(), "maintenance": system}, {"engine": engine, "system": system}
    return run_of_plan(engine, system, plan, settings, engine, labels, f"{engine} {system}")


# ---------------------------------------------------------------- varied: what the paper leaves open


def tie_point(setting: Setting, seed: int, rule: str) -> Point:
    arguments = {"setting": asdict(setting), "rule": rule}
    return computed("ties", slug(rule), f"{HERE}.computations:tie", arguments, seed, {"ties": rule}, VARIED)


def repair_point(setting: Setting, seed: int, variant: Sequence[Any]) -> Point:
    arguments = {"setting": asdict(setting), "variant": list(variant)}
    of, name, backups, _, coverage = variant
    labels = {"of": of, "variant": name, "backups": backups, "lambda": coverage}
    words = slug(*map(str, variant))
    return computed("repairs", words, f"{HERE}.computations:repair", arguments, seed, labels, VARIED)


def slug(*words: str) -> str:
    """A folder's name."""
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-")
