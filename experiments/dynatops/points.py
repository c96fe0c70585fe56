"""Which computations there are at a scale: sizes of network and topic space, and varied readings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from experiments.dynatops.models import DECISIONS, RINGS
from testbed.reproduction.collect import Groups
from testbed.reproduction.point import Label, Point, computed
from testbed.reproduction.study import Ask, Scale

SOURCES = (*DECISIONS, *RINGS)
DEFAULTS: dict[str, Any] = {
    "each": 5, "delay_weight": 1.0, "ring": "chord", "base_bits": 4, "stopping": "first_worst",
    "count_root": False, "delays": "hops",
}  # fmt: skip


@dataclass(frozen=True)
class Sizes:
    """Of figure 10 and table 1: brokers with `fixed` topics, topics with `fixed` brokers; none twice."""

    brokers: tuple[int, ...]
    topics: tuple[int, ...]
    fixed: int = 100

    def all(self) -> Iterator[tuple[int, int]]:
        yield from ((brokers, self.fixed) for brokers in self.brokers)
        yield from ((self.fixed, topics) for topics in self.topics)


SCALES = {
    "smoke": Scale(Sizes((10, 60), (20, 120), fixed=60), seeds=2),
    "full": Scale(Sizes((10, 32, 100, 316, 1000), (50, 158, 500, 1581, 5000)), seeds=10),
}


def point(set_: str, brokers: int, topics: int, seed: int, **varied: Any) -> Point:
    """Both patterns: they are compared with each other."""
    arguments = {**DEFAULTS, "brokers": brokers, "topics": topics, **varied}
    labels: dict[str, Label] = {"brokers": brokers, "topics": topics, "seed": seed}
    if set_ != "scaling":
        labels = {"reading": set_, **labels}
    return computed(
        set_, f"{brokers}x{topics}-seed{seed}", "experiments.dynatops.scaling:configure", arguments, seed,
        labels, SOURCES, f"{brokers} brokers, {topics} topics, seed {seed}",
    )  # fmt: skip


def scaling_points(ask: Ask[Sizes]) -> Groups:
    return {
        f"{brokers}x{topics}": [point("scaling", brokers, topics, seed) for seed in ask.seeds]
        for brokers, topics in ask.size.all()
    }


# ---------------------------------------------------------------- what section 6.3.3 leaves open

VARIANTS: dict[str, dict[str, Any]] = {
    "as-read": {},
    "topics-per-broker-2": {"each": 2},
    "topics-per-broker-8": {"each": 8},
    "stopping-next-worst": {"stopping": "next_worst"},
    "root-counts": {"count_root": True},
    "delays-random": {"delays": "random"},
    "delay-weight-0": {"delay_weight": 0.0},
    "delay-weight-10": {"delay_weight": 10.0},
    "ring-tapestry-2": {"ring": "tapestry", "base_bits": 1},
    "ring-tapestry-4": {"ring": "tapestry", "base_bits": 2},
    "ring-tapestry-16": {"ring": "tapestry", "base_bits": 4},
}


def varied_points(ask: Ask[int]) -> Groups:
    """One reading at a time, with as many brokers as topics."""
    return {
        name: [point(name, ask.size, ask.size, seed, **varied) for seed in ask.seeds]
        for name, varied in VARIANTS.items()
    }


VARIED_SCALES = {"smoke": Scale(30, seeds=2), "full": Scale(100, seeds=10)}
