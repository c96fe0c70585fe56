"""What a broker knows of the brokers at most eta hops away (section 4.3.1)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from broker_grpc.protocols.selforganising import evaluation

B = TypeVar("B")


class Neighbourhood(Generic[B]):
    """Common interest by broker. Being heard sets a mark, the end of an interval takes it away; who has none
    by then has had a second chance, and is forgotten."""

    __slots__ = ("_counts_itself", "_seen", "_shared", "_total", "own")

    def __init__(self, counts_itself: bool = True) -> None:
        self.own = 0  # I_i: notifications of its own last interval
        self._counts_itself = counts_itself
        self._shared: dict[B, int] = {}
        self._seen: set[B] = set()
        self._total = 0

    def __len__(self) -> int:
        return len(self._shared)

    def __contains__(self, broker: B) -> bool:
        return broker in self._shared

    def heard(self, broker: B, shared: int) -> None:
        """A broadcast came: so many of its notifications are in our cache."""
        self._total += shared - self._shared.get(broker, 0)
        self._shared[broker] = shared
        self._seen.add(broker)

    def age(self) -> list[B]:
        """An interval is over: second-chance removal. Answers who is forgotten."""
        silent = [broker for broker in self._shared if broker not in self._seen]
        for broker in silent:
            self._total -= self._shared.pop(broker)
        self._seen.clear()
        return silent

    def shared_with(self, brokers: Iterable[B]) -> list[int] | None:
        """I with each of them; None while one is not known: then there is too little to decide by."""
        known = self._shared
        try:
            return [known[broker] for broker in brokers]
        except KeyError:
            return None

    def of(self, broker: B) -> int:
        """I with it; -1 while that is not known."""
        return self._shared.get(broker, -1)

    @property
    def phi(self) -> float:
        """Equation 6."""
        return evaluation.phi(self._total, self.own, len(self._shared), self._counts_itself)
