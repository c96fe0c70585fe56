"""GeoPS as we read it: a broker per cell of a square grid, with links to the next cells and one far one.

A message goes to whichever linked cell is nearest to its target. A cell's broker is the rendezvous point of
its topic and has the users who are there; trees are the routes of the joins, as far as they are new.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from broker_grpc.protocols.dynatops.routes import NOWHERE, Routes
from testbed.flow.dynatops.network import Network
from testbed.flow.dynatops.overlay import Hops, Overlay


def grid(side: int, random: np.random.Generator) -> Overlay:
    """`side` x `side` cells, numbered row by row; every topic has the number of its cell."""
    count = side * side
    row, column = np.divmod(np.arange(count), side)
    far = np.abs(row[:, None] - row) + np.abs(column[:, None] - column)
    linked = _links(side, random)
    toward: Hops = np.empty((count, count), np.int16)
    for v, others in enumerate(linked):
        toward[v] = np.array(others)[far[others].argmin(axis=0)]
    np.fill_diagonal(toward, NOWHERE)
    tree = np.arange(count, dtype=np.int16)
    return Overlay(Routes(toward.T), tree, toward, far.astype(np.int16))


def _links(side: int, random: np.random.Generator) -> list[list[int]]:
    linked = []
    for cell in range(side * side):
        row, column = divmod(cell, side)
        near = [
            r * side + c
            for r, c in ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column))
            if 0 <= r < side and 0 <= c < side
        ]
        others = [other for other in range(side * side) if other != cell and other not in near]
        linked.append(sorted([*near, int(random.choice(others))]) if others else near)
    return linked


class CellNetwork(Network):
    """Joins and leaves go only as far as the tree is there already, or is still needed."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needed: Counter[int] = Counter()  # topic * positions + v: children, and 1 if v subscribes
        self._toward = self.overlay.toward.tolist()

    def subscriptions_changed(self, changed: list[int]) -> None:
        topics = len(self.overlay.tree)
        for code in changed:
            broker, topic = divmod(code // 2, topics)
            self._step(topic, int(self.position[broker]), 1 if code % 2 else -1)

    def _step(self, topic: int, v: int, by: int) -> None:
        base, needed = topic * self.overlay.positions, self._needed
        k = int(self.overlay.tree[topic])
        while True:
            was = needed[base + v]
            needed[base + v] = was + by
            is_edge = was == 0 if by > 0 else was == 1
            v = self._toward[v][k]
            if not is_edge or v == NOWHERE:
                return
            self.tree_messages += 1
