"""An overlay network over nodes with topics, kept in bit sets.

Nodes and topics get small integers; a set of nodes or topics is a Python int with one bit each.
Unions, intersections and counts over 2,000 nodes are then single operations on 250 bytes. The same
membership stands once more as a matrix, a row per topic, for what looks at all subscribers of a
topic at once (building backup sets), and so do the degrees. Together they are why no compiled kernel
is needed here (docs/topic-connected.md has the measurements).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

N = TypeVar("N", bound=Hashable)
T = TypeVar("T", bound=Hashable)


def bits(mask: int) -> Iterator[int]:
    """Positions of the one bits, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Overlay(Generic[N, T]):
    """Nodes, their topics, and the undirected links between them.

    `index` and `name` translate between a node and its integer; an integer is never used again
    after its node left, so old masks cannot come to mean another node.
    """

    def __init__(self) -> None:
        self.index: dict[N, int] = {}
        self.name: list[N] = []
        self.topic_index: dict[T, int] = {}
        self.topic_name: list[T] = []
        self.topics: list[int] = []  # node -> topic mask
        self.neighbours: list[int] = []  # node -> node mask
        self.adjacent: list[set[int]] = []  # the same as sets, for walks
        self.degree: list[int] = []
        self.subscribers: list[int] = []  # topic -> node mask
        self.alive = 0  # node mask
        self.edge_count = 0
        # topic, node -> subscribed, and node -> degree once more; both grow by doubling
        self.membership: npt.NDArray[np.bool_] = np.zeros((16, 16), dtype=np.bool_)
        self.degrees: npt.NDArray[np.int64] = np.zeros(16, dtype=np.int64)

    # ------------------------------------------------------------ nodes

    def add_node(self, node: N, topics: Iterable[T]) -> int:
        if node in self.index:
            raise ValueError(f"node {node!r} is already in the overlay")
        i = len(self.name)
        self.index[node] = i
        self.name.append(node)
        mask = 0
        for topic in topics:
            t = self._topic(topic)
            mask |= 1 << t
            self.subscribers[t] |= 1 << i
        self.topics.append(mask)
        self._grow(len(self.topic_name), i + 1)
        self.membership[list(bits(mask)), i] = True
        self.neighbours.append(0)
        self.adjacent.append(set())
        self.degree.append(0)
        self.alive |= 1 << i
        return i

    def _grow(self, topics: int, nodes: int) -> None:
        rows, columns = self.membership.shape
        if nodes <= columns and topics <= rows:
            return
        wider = columns if nodes <= columns else 2 * nodes
        larger = np.zeros((rows if topics <= rows else 2 * topics, wider), dtype=np.bool_)
        larger[:rows, :columns] = self.membership
        self.membership = larger
        self.degrees = np.concatenate((self.degrees, np.zeros(wider - columns, dtype=np.int64)))

    def _topic(self, topic: T) -> int:
        if topic not in self.topic_index:
            self.topic_index[topic] = len(self.topic_name)
            self.topic_name.append(topic)
            self.subscribers.append(0)
        return self.topic_index[topic]

    def remove_node(self, node: N) -> int:
        """Takes the node and its links away; answers the mask of its former neighbours."""
        i = self.index.pop(node)
        former = self.neighbours[i]
        for j in bits(former):
            self.remove_edge(i, j)
        for t in bits(self.topics[i]):
            self.subscribers[t] &= ~(1 << i)
        self.membership[:, i] = False
        self.alive &= ~(1 << i)
        return former

    # ------------------------------------------------------------ edges, by index

    def add_edge(self, i: int, j: int) -> None:
        if i == j or self.neighbours[i] >> j & 1:
            raise ValueError(f"link {self.name[i]!r}-{self.name[j]!r} cannot be added")
        self.neighbours[i] |= 1 << j
        self.neighbours[j] |= 1 << i
        self.adjacent[i].add(j)
        self.adjacent[j].add(i)
        self._count(i, 1)
        self._count(j, 1)
        self.edge_count += 1

    def remove_edge(self, i: int, j: int) -> None:
        self.neighbours[i] &= ~(1 << j)
        self.neighbours[j] &= ~(1 << i)
        self.adjacent[i].discard(j)
        self.adjacent[j].discard(i)
        self._count(i, -1)
        self._count(j, -1)
        self.edge_count -= 1

    def _count(self, i: int, change: int) -> None:
        self.degree[i] += change
        self.degrees[i] += change

    # ------------------------------------------------------------ views

    def edges(self) -> set[tuple[N, N]]:
        """Each link once, lower index first."""
        return {
            (self.name[i], self.name[j]) for i in bits(self.alive) for j in bits(self.neighbours[i]) if i < j
        }

    def nodes(self) -> list[N]:
        return [self.name[i] for i in bits(self.alive)]

    def max_degree(self) -> int:
        return int(self.degrees.max(initial=0))  # who left has no links

    def average_degree(self) -> float:
        size = self.alive.bit_count()
        return 2 * self.edge_count / size if size else 0.0

    def copy(self) -> Overlay[N, T]:
        other: Overlay[N, T] = Overlay()
        other.index = dict(self.index)
        other.name = list(self.name)
        other.topic_index = dict(self.topic_index)
        other.topic_name = list(self.topic_name)
        other.topics = list(self.topics)
        other.neighbours = list(self.neighbours)
        other.adjacent = [set(nodes) for nodes in self.adjacent]
        other.degree = list(self.degree)
        other.subscribers = list(self.subscribers)
        other.alive = self.alive
        other.edge_count = self.edge_count
        other.membership = self.membership.copy()
        other.degrees = self.degrees.copy()
        return other
