"""The network of a scenario: one order of all events, and links that take their time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from broker_grpc.machine import Effects, unfolded
from tests.broker_core.fifo_network import Network, Pair


class Arrivals(deque[Any]):
    """A queue that knows when each entry arrives."""

    def __init__(self, arrival: Callable[[], tuple[int, int]]) -> None:
        super().__init__()
        self._arrival, self.at = arrival, deque[tuple[int, int]]()

    def append(self, entry: Any) -> None:
        super().append(entry)
        self.at.append(self._arrival())

    def popleft(self) -> Any:
        self.at.popleft()
        return super().popleft()

    def clear(self) -> None:
        super().clear()
        self.at.clear()


class OrderedNetwork(Network):
    """What arrives first is delivered first, over all links; a link without a latency takes no time."""

    def __init__(self) -> None:
        super().__init__(through_the_wire=True)
        self.latency_us: dict[frozenset[str], int] = {}
        self.on_effect: Callable[[str, object], None] = lambda node, effect: None
        self._number = 0

    def _queue(self, source: str, target: str) -> deque[Any]:
        def arrival() -> tuple[int, int]:
            self._number += 1  # of two at the same time the one that was sent first
            return self.now_us + self.latency_us.get(frozenset((source, target)), 0), self._number

        return self._queues.setdefault((source, target), Arrivals(arrival))

    def _next(self, ready: list[Pair]) -> Pair:
        at = {pair: self._queues[pair].at[0] for pair in ready}  # type: ignore[attr-defined]
        pair = min(at, key=at.__getitem__)
        self.now_us = max(self.now_us, at[pair][0])
        return pair

    def apply(self, name: str, effects: Effects) -> None:
        for effect in unfolded(effects):
            self.on_effect(name, effect)
            super().apply(name, [effect])

    def up(self) -> list[Pair]:
        """The links that both ends know to be up."""
        ends = sorted(tuple(sorted(pair)) for pair in self._epoch)
        return [(a, b) for a, b in ends if self.can_send(a, b) and self.can_send(b, a)]
