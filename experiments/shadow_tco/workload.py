"""Section VI's instances: who subscribes to what, and who joins and leaves.

Stated: |V0| = 2000, |T| = 200, |v.topics| in [10, 90] by a power law, p_t uniform, Zipf with
alpha = 2.0, or exponential, a join or leave with probability 0.5 per round, joiners from the same
distribution. Not stated, and ours: the power law's exponent (2, a common value; it gives LOW-ODA
the paper's own average degree of 6.5) and the exponential's scale (|T|/5).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Literal

Popularity = Literal["uniform", "zipf", "exponential"]


@dataclass(frozen=True)
class Setting:
    nodes: int = 2000
    topics: int = 200
    smallest: int = 10
    largest: int = 90
    exponent: float = 2.0
    popularity: Popularity = "uniform"
    rounds: int = 1000

    def weights(self) -> list[float]:
        if self.popularity == "uniform":
            return [1.0] * self.topics
        if self.popularity == "zipf":
            return [(t + 1) ** -2.0 for t in range(self.topics)]
        return [math.exp(-5.0 * t / self.topics) for t in range(self.topics)]


def subscription_size(setting: Setting, random: Random) -> int:
    """Inverse of the power law's distribution function on [smallest, largest]."""
    power = 1.0 - setting.exponent
    low, high = setting.smallest**power, (setting.largest + 1) ** power
    size = (low + random.random() * (high - low)) ** (1.0 / power)
    return min(setting.largest, int(size))


def draw_topics(setting: Setting, weights: list[float], random: Random) -> list[int]:
    """Without replacement, proportional to the weights: the smallest exponential waiting times."""
    waits = sorted((-math.log(1.0 - random.random()) / w, t) for t, w in enumerate(weights))
    return sorted(t for _, t in waits[: subscription_size(setting, random)])


def initial(setting: Setting, random: Random) -> dict[int, list[int]]:
    weights = setting.weights()
    return {v: draw_topics(setting, weights, random) for v in range(setting.nodes)}


@dataclass(frozen=True)
class Churn:
    """One round: a node joins with these topics, or (topics None) leaves."""

    node: int
    topics: list[int] | None


def churn(setting: Setting, present: list[int], random: Random) -> Iterator[Churn]:
    weights = setting.weights()
    present = list(present)
    serial = max(present, default=-1)
    for _ in range(setting.rounds):
        if random.random() < 0.5 or not present:
            serial += 1
            present.append(serial)
            yield Churn(serial, draw_topics(setting, weights, random))
        else:
            at = int(random.random() * len(present))
            yield Churn(present.pop(at), None)
