"""Seeded randomness that is the same on every machine and Python version.

Every use derives its own stream from (seed, purpose) by SHA-256, so adding a draw in one place moves no
other. Only `Random.random()` is used: its sequence for a given integer seed is fixed by the Python
documentation, unlike that of `choice`, `sample` and `shuffle`.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Sequence
from statistics import NormalDist
from typing import TypeVar

T = TypeVar("T")
_STANDARD_NORMAL = NormalDist()


def seed_for(seed: int, *purpose: str | int) -> int:
    """A 48-bit seed for one purpose: it fits a JSON number and a signed 64-bit field."""
    text = json.dumps([seed, *purpose], separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


class Draw:
    """A stream of random numbers for one purpose."""

    def __init__(self, seed: int, *purpose: str | int) -> None:
        self._random = random.Random(seed_for(seed, *purpose))

    def unit(self) -> float:
        """Uniform in [0, 1)."""
        return self._random.random()

    def below(self, n: int) -> int:
        """Uniform in 0 .. n-1."""
        return int(self._random.random() * n)

    def between(self, low: int, high: int) -> int:
        """Uniform integer in low .. high, both included."""
        return low + self.below(high - low + 1)

    def choice(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """A Fisher-Yates shuffle of a copy."""
        out = list(items)
        for i in range(len(out) - 1, 0, -1):
            j = self.below(i + 1)
            out[i], out[j] = out[j], out[i]
        return out

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """k distinct items, in random order; all of them when there are fewer."""
        pool = list(items)
        k = min(k, len(pool))
        for i in range(k):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:k]

    def exponential(self, mean: float) -> float:
        return -mean * math.log(1.0 - self._random.random())

    def normal(self) -> float:
        """Standard normal, by the inverse of the distribution function: one uniform per draw."""
        return _STANDARD_NORMAL.inv_cdf(max(self._random.random(), 1e-300))
