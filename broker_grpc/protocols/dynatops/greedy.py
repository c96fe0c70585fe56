"""SSBR-Greedy (algorithm 3) and DYNATOPS-Greedy (algorithm 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from broker_grpc.protocols.dynatops.delays import delays_of
from broker_grpc.protocols.dynatops.planning import reconfiguration_cost
from broker_grpc.protocols.dynatops.relays import Relays
from broker_grpc.protocols.dynatops.situation import Floats, Positions, Seats, Situation

# When no swap of the worst broker improves anything: the paper's algorithm stops, or the next worst is tried.
Stopping = Literal["first_worst", "next_worst"]

NOISE = 1e-9  # of the cost: a smaller improvement is rounding


@dataclass(frozen=True, eq=False)
class Improvement:
    """A configuration on the improvement path."""

    position: Positions  # of each broker
    cost: float  # C


class NotificationCost:
    """C = O_relay + w_d D (5) of a configuration, kept while brokers change places."""

    def __init__(self, situation: Situation, position: Positions) -> None:
        self.situation = situation
        self.seats = Seats(position)
        self.relays = Relays(situation, self.seats)
        self.delays = delays_of(situation, self.seats, self.relays)

    def by_position(self) -> Floats:
        """c_b (12) of whoever sits at each position; their sum is C."""
        if not self.situation.delay_weight:  # delays without weight may be infinite
            return self.relays.cost
        return self.relays.cost + self.situation.delay_weight * self.delays.cost()

    def total(self) -> float:
        return float(self.by_position().sum())

    def change(self, v: int) -> Floats:
        """[w]: by how much C changes when the brokers at v and w change places."""
        change = self.relays.change(v)
        if self.situation.delay_weight:
            change = change + self.situation.delay_weight * self.delays.change(v)
        change[v] = 0.0
        return change

    def swap(self, v: int, w: int) -> None:
        self.seats.swap(v, w)
        self.relays.swapped(v, w)
        self.delays.swapped(v, w)


def ssbr_greedy(
    situation: Situation, position: Positions, stopping: Stopping = "first_worst"
) -> Iterator[Improvement]:
    """The configurations along the improvement path, the given one first.

    In each iteration the broker of the highest cost changes places with whom C falls most; ties go to the
    smallest broker. It ends when no such swap makes C fall.
    """
    state = NotificationCost(situation, position)
    cost = state.total()
    yield Improvement(state.seats.position.copy(), cost)
    while (found := _best_swap(state, cost, stopping)) is not None:
        v, w = found
        state.swap(v, w)
        cost = state.total()
        yield Improvement(state.seats.position.copy(), cost)


def _best_swap(state: NotificationCost, cost: float, stopping: Stopping) -> tuple[int, int] | None:
    broker = state.seats.broker
    worst_first = np.lexsort((broker, -state.by_position()))
    for v in worst_first if stopping == "next_worst" else worst_first[:1]:
        change = state.change(int(v))
        best = change.min()
        if best < -NOISE * max(cost, 1.0):
            equal = np.nonzero(change <= best + NOISE * max(cost, 1.0))[0]
            return int(v), int(equal[np.argmin(broker[equal])])
    return None


def moved(before: Positions, after: Positions) -> int:
    """Γ: the brokers with a new position."""
    return int((before != after).sum())


def dynatops_greedy(
    situation: Situation, position: Positions, stopping: Stopping = "first_worst"
) -> tuple[Improvement, float]:
    """Of the improvement path the configuration with the largest benefit after its cost, and that difference.

    The given one, and 0, when none is worth its cost.
    """
    path = ssbr_greedy(situation, position, stopping)
    first = best = next(path)
    gain = 0.0
    for one in path:
        price = reconfiguration_cost(situation.brokers, situation.topics, moved(first.position, one.position))
        if first.cost - one.cost - price > gain:
            best, gain = one, first.cost - one.cost - price
    return best, gain
