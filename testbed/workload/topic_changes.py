"""Users who replace one of their topics now and then: a Poisson process over steps of time.

Patterns of what they want (Zhao, Kim and Venkatasubramanian, DEBS 2013, section 6.1.2): uniform, Zipf, and
`modes`, where the topics are evenly partitioned and all topics of a user are of one part, also the later
ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Pattern = Literal["uniform", "zipf", "modes"]
Topics = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Population:
    """`modes` parts of the topics; `exponent` of the Zipf law, (i + 1) ** -exponent with i from 1."""

    users: int = 50_000
    topics: int = 1_000
    each: int = 5
    pattern: Pattern = "modes"
    modes: int = 100
    exponent: float = 1.0

    def __post_init__(self) -> None:
        among = self.topics // self.modes if self.pattern == "modes" else self.topics
        if not 0 < self.each < among:
            raise ValueError(f"a user cannot have {self.each} of {among} topics and change one of them")


@dataclass(frozen=True, eq=False)
class Changes:
    """In the order in which they happen; `slot`: which of the user's topics is replaced."""

    step: npt.NDArray[np.int32]
    user: npt.NDArray[np.int32]
    slot: npt.NDArray[np.int32]
    old: Topics
    new: Topics


class Wishes:
    """Draws topics by the pattern; each user keeps its mode."""

    def __init__(self, population: Population, random: np.random.Generator) -> None:
        self.population, self._random = population, random
        if population.pattern == "modes":
            self._size = population.topics // population.modes
            self._mode = random.integers(population.modes, size=population.users)
        else:
            rank = np.arange(1, population.topics + 1, dtype=np.float64) + 1
            weight = rank**-population.exponent if population.pattern == "zipf" else np.ones_like(rank)
            self._cumulated = np.cumsum(weight / weight.sum())

    def draw(self, users: npt.NDArray[np.int64]) -> Topics:
        """One topic for each of these users."""
        if self.population.pattern == "modes":
            inside = self._random.integers(self._size, size=users.size)
            return (self._mode[users] * self._size + inside).astype(np.int32)
        at = np.searchsorted(self._cumulated, self._random.random(users.size), side="right")
        return np.minimum(at, self.population.topics - 1).astype(np.int32)

    def first(self) -> Topics:
        """[user, slot]: distinct topics of each user."""
        found: Topics = np.full((self.population.users, self.population.each), -1, dtype=np.int32)
        for slot in range(self.population.each):
            waiting = np.arange(self.population.users)
            while waiting.size:
                drawn = self.draw(waiting)
                fresh = ~(found[waiting, :slot] == drawn[:, None]).any(axis=1)
                found[waiting[fresh], slot] = drawn[fresh]
                waiting = waiting[~fresh]
        return found


def changes(
    population: Population, rate: float, steps: int, random: np.random.Generator
) -> tuple[Topics, Changes]:
    """The topics at the start, and the changes: `rate` per user and step."""
    wishes = Wishes(population, random)
    start = wishes.first()
    held = start.copy()
    made = [
        _step(step, held, wishes, random.poisson(rate, population.users), random) for step in range(steps)
    ]
    columns = zip(*made, strict=True) if made else ([] for _ in range(5))
    return start, Changes(*(np.concatenate([np.empty(0, np.int32), *column]) for column in columns))


def _step(
    step: int, held: Topics, wishes: Wishes, counts: npt.NDArray[np.int64], random: np.random.Generator
) -> tuple[npt.NDArray[np.int32], ...]:
    """The changes of one step in random order; `held` is brought up to date. One after the other per user."""
    rows: list[tuple[npt.NDArray[np.int32], ...]] = []
    for turn in range(int(counts.max(initial=0))):
        moving = random.permutation(np.nonzero(counts > turn)[0])
        slot = random.integers(held.shape[1], size=moving.size).astype(np.int32)
        old = held[moving, slot]
        new = _unlike(held, moving, wishes)
        held[moving, slot] = new
        rows.append((np.full(moving.size, step, np.int32), moving.astype(np.int32), slot, old, new))
    if not rows:
        return tuple(np.empty(0, np.int32) for _ in range(5))
    return tuple(np.concatenate(column) for column in zip(*rows, strict=True))


def _unlike(held: Topics, users: npt.NDArray[np.int64], wishes: Wishes) -> Topics:
    """A topic for each user that it does not have."""
    found: Topics = np.full(users.size, -1, dtype=np.int32)
    waiting = np.arange(users.size)
    while waiting.size:
        drawn = wishes.draw(users[waiting])
        fresh = ~(held[users[waiting]] == drawn[:, None]).any(axis=1)
        found[waiting[fresh]] = drawn[fresh]
        waiting = waiting[~fresh]
    return found
