"""A tree of brokers, numbered from 0, and what it costs to deliver over it."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

Floats = NDArray[numpy.float64]
Bools = NDArray[numpy.bool_]
Edge = tuple[int, int]


class Tree:
    """Neighbours are sorted: whoever passes something on does so in the order of their numbers."""

    def __init__(self, brokers: int, edges: Iterable[Edge]) -> None:
        self.neighbours: list[list[int]] = [[] for _ in range(brokers)]
        for a, b in edges:
            self._join(a, b)

    def _join(self, a: int, b: int) -> None:
        insort(self.neighbours[a], b)
        insort(self.neighbours[b], a)

    def exchange(self, add: Edge, remove: Edge) -> None:
        for one, other in (remove, remove[::-1]):
            self.neighbours[one].remove(other)
        self._join(*add)

    def edges(self) -> set[Edge]:
        return {(a, b) for a, others in enumerate(self.neighbours) for b in others if a < b}

    def reached(self, origin: int, hops: int) -> tuple[list[int], dict[int, int]]:
        """Brokers at most so many hops away, in the order in which a broadcast gets there, and from whom."""
        came = {origin: origin}
        order: list[int] = []
        ring = [origin]
        for _ in range(hops):
            ring = self._next_ring(ring, came)
            order += ring
        return order, came

    def _next_ring(self, ring: list[int], came: dict[int, int]) -> list[int]:
        following = []
        for at in ring:
            for other in self.neighbours[at]:
                if other != came[at]:
                    came[other] = at
                    following.append(other)
        return following

    def downwards(self, root: int) -> tuple[list[int], list[int]]:
        """Each broker before all below it, and these right behind it; and the parent of each."""
        parents = [root] * len(self.neighbours)
        order, ahead = [], [root]
        while ahead:
            at = ahead.pop()
            order.append(at)
            for other in self.neighbours[at]:
                if other != parents[at]:
                    parents[other] = at
                    ahead.append(other)
        return order, parents


class Deliveries(NamedTuple):
    """Of one notification of each flow."""

    costs: Floats
    links: NDArray[numpy.int64]


class Prices:
    """Equation 1 for many notifications at once: costs of the brokers and links of their delivery trees."""

    def __init__(self, tree: Tree, links: Floats, processing: Floats) -> None:
        order, parents = tree.downwards(0)
        sizes = [1] * len(order)
        for v in reversed(order[1:]):
            sizes[parents[v]] += sizes[v]
        self._order = numpy.array(order)
        self._first = numpy.empty(len(order), dtype=numpy.int64)  # its place; all below are right behind
        self._first[self._order] = numpy.arange(len(order))
        self._sizes = numpy.array(sizes)
        self._behind = self._first + self._sizes
        self._processing = processing
        self._hop = links[numpy.arange(len(order)), parents] + processing  # of the link towards the root

    def of(self, members: Bools) -> Deliveries:
        """`members[f, v]`: broker v publishes or gets the notifications of flow f."""
        sums = numpy.zeros((len(members), len(self._order) + 1), dtype=numpy.int32)
        numpy.cumsum(members[:, self._order], axis=1, out=sums[:, 1:])
        counts = sums[:, self._behind] - sums[:, self._first]  # at v, or further from the root
        every = sums[:, -1:]
        inside = (counts > 0) & (counts < every)  # v is in the delivery tree, and the link above it too
        top = numpy.where(counts == every, self._sizes, len(self._sizes) + 1).argmin(1)
        costs = inside @ self._hop + self._processing[top]
        return Deliveries(costs, inside.sum(1))
