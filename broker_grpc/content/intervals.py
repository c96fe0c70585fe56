"""Which of many filters can a publication's numbers satisfy: all intervals compared at once.

Every numeric constraint of a filter is an interval of an attribute; intervals of one attribute are two
arrays. The answer is a superset of the truth (open bounds count as closed, large integers are rounded),
so that the caller evaluates only the few that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from broker_grpc.content.filters import Filter, Key
from protos.content_messages import Value

if TYPE_CHECKING:
    from broker_grpc.content.index import Node

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


class Column:
    """The intervals of one attribute; a filter that does not mention it accepts everything."""

    __slots__ = ("high", "low", "used", "wanted")

    def __init__(self, capacity: int) -> None:
        self.low: Floats = np.full(capacity, -np.inf)
        self.high: Floats = np.full(capacity, np.inf)
        self.wanted: Flags = np.zeros(capacity, np.bool_)  # the attribute must be there
        self.used = 0

    def grow(self, capacity: int) -> None:
        wider = Column(capacity)
        size = len(self.low)
        wider.low[:size], wider.high[:size], wider.wanted[:size] = self.low, self.high, self.wanted
        self.low, self.high, self.wanted = wider.low, wider.high, wider.wanted

    def put(self, at: int, low: float, high: float, wanted: bool) -> None:
        self.used += int(wanted) - int(self.wanted[at])
        self.low[at], self.high[at], self.wanted[at] = low, high, wanted

    def copy(self, source: int, target: int) -> None:
        self.put(target, self.low[source], self.high[source], bool(self.wanted[source]))


class Intervals:
    """Nodes in any order: the last one takes the place of a removed one."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._at: dict[Key, int] = {}
        self._columns: dict[str, Column] = {}
        self._capacity = 64

    def add(self, node: Node) -> None:
        at = len(self.nodes)
        if at == self._capacity:
            self._capacity *= 2
            for known in self._columns.values():
                known.grow(self._capacity)
        self.nodes.append(node)
        self._at[node.filter.key] = at
        for attribute, low, high in _intervals(node.filter):
            column = self._columns.get(attribute)
            if column is None:
                column = self._columns[attribute] = Column(self._capacity)
            column.put(at, low, high, True)

    def remove(self, node: Node) -> None:
        at, last = self._at.pop(node.filter.key), len(self.nodes) - 1
        for attribute, column in list(self._columns.items()):
            if at != last:
                column.copy(last, at)
            column.put(last, -np.inf, np.inf, False)
            if not column.used:
                del self._columns[attribute]
        moved = self.nodes.pop()
        if at != last:
            self.nodes[at] = moved
            self._at[moved.filter.key] = at

    def candidates(self, get: Callable[[str], Value | None]) -> Iterator[Node]:
        """Nodes whose intervals all hold the publication's numbers."""
        size = len(self.nodes)
        left: Flags = np.ones(size, np.bool_)
        for attribute, column in self._columns.items():
            value = get(attribute)
            if value is None or isinstance(value, str):
                left &= ~column.wanted[:size]
            else:
                left &= column.low[:size] <= value
                left &= column.high[:size] >= value
        return map(self.nodes.__getitem__, np.flatnonzero(left).tolist())


def _intervals(filter_: Filter) -> list[tuple[str, float, float]]:
    found = []
    for attribute, constraint in filter_.constraints.items():
        if not constraint.text and not constraint.empty:
            low = -np.inf if constraint.low is None else float(constraint.low)
            high = np.inf if constraint.high is None else float(constraint.high)
            if constraint.point is not None:
                low = high = float(constraint.point)
            found.append((attribute, low, high))
    return found
