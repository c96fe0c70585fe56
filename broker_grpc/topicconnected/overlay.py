"""An overlay network over nodes with topics, kept in bit sets.

Nodes and topics get small integers; a set of nodes or topics is a Python int with one bit each.
Unions, intersections and counts over 2,000 nodes are then single operations on 250 bytes. The same
membership stands once more as a matrix, for what looks at all subscribers of a topic at once
(building backup sets). Together they are why no compiled kernel is needed here.
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
        self.degree: list[int] = []
        self.subscribers: list[int] = []  # topic -> node mask
        self.alive = 0  # node mask
        self.edge_count = 0
        # node, topic -> subscribed; grows by doubling
        self.membership: npt.NDArray[np.bool_] = np.zeros((16, 16), dtype=np.bool_)

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
        self._grow(i, len(self.topic_name))
        self.membership[i, list(bits(mask))] = True
        self.neighbours.append(0)
        self.degree.append(0)
        self.alive |= 1 << i
        return i

    def _grow(self, nodes: int, topics: int) -> None:
        rows, columns = self.membership.shape
        if nodes < rows and topics <= columns:
            return
        larger = np.zeros((max(rows, 2 * nodes), max(columns, 2 * topics)), dtype=np.bool_)
        larger[:rows, :columns] = self.membership
        self.membership = larger

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
        self.membership[i] = False
        self.alive &= ~(1 << i)
        return former

    # ------------------------------------------------------------ edges, by index

    def add_edge(self, i: int, j: int) -> None:
        if i == j or self.neighbours[i] >> j & 1:
            raise ValueError(f"link {self.name[i]!r}-{self.name[j]!r} cannot be added")
        self.neighbours[i] |= 1 << j
        self.neighbours[j] |= 1 << i
        self.degree[i] += 1
        self.degree[j] += 1
        self.edge_count += 1

    def remove_edge(self, i: int, j: int) -> None:
        self.neighbours[i] &= ~(1 << j)
        self.neighbours[j] &= ~(1 << i)
        self.degree[i] -= 1
        self.degree[j] -= 1
        self.edge_count -= 1

    # ------------------------------------------------------------ views

    def edges(self) -> set[tuple[N, N]]:
        """Each link once, lower index first."""
        return {
            (self.name[i], self.name[j]) for i in bits(self.alive) for j in bits(self.neighbours[i]) if i < j
        }

    def nodes(self) -> list[N]:
        return [self.name[i] for i in bits(self.alive)]

    def max_degree(self) -> int:
        return max((self.degree[i] for i in bits(self.alive)), default=0)

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
        other.degree = list(self.degree)
        other.subscribers = list(self.subscribers)
        other.alive = self.alive
        other.edge_count = self.edge_count
        other.membership = self.membership.copy()
        return other
