"""Algorithm 2, constructLowEdges: greedy links until the topics are connected.

The pseudo-code re-evaluates every potential edge after every addition. Two facts save that work:

- a contribution only ever falls, and an added edge lowers exactly the pairs (a, b) with a and b in
  two components that it merges. Summed over all merges of a topic that is each pair once, so all
  updates together cost O(|V|^2 |T|), as array operations;
- an old maximum of a row is an upper bound of its present one. So the best edge is found by
  looking at the row with the largest bound, correcting the bound, and stopping when it held.

Ties go to the edge that comes first by (lower node, higher node).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Contributions = npt.NDArray[np.int32]


class LowEdges:
    """Chooses edges among local nodes 0..n-1.

    `groups` holds, for each topic to connect, the components of its subscribers among the local
    nodes (lists of local nodes; nodes joined through nodes outside count as one component).
    `potential` marks the pairs that may be linked, `degrees` are those in the whole overlay.
    """

    def __init__(
        self,
        groups: Sequence[Sequence[Sequence[int]]],
        potential: npt.NDArray[np.bool_],
        degrees: Sequence[int],
        rho: float,
    ) -> None:
        self.n = len(degrees)
        self.rho = rho
        self.degrees: npt.NDArray[np.int64] = np.array(degrees, dtype=np.int64)
        self.max_degree = int(self.degrees.max(initial=0))
        self.open_pairs = 0  # components still to be merged, over all topics
        self._start_components(groups)
        self._start_contributions(groups, potential)

    def _start_components(self, groups: Sequence[Sequence[Sequence[int]]]) -> None:
        # member[t][c] = nodes of component c; label[t][v] = component of v, -1 = not a subscriber
        self.members: list[dict[int, npt.NDArray[np.int64]]] = []
        self.label: npt.NDArray[np.int32] = np.full((len(groups), self.n), -1, dtype=np.int32)
        for t, components in enumerate(groups):
            self.members.append({c: np.array(nodes, dtype=np.int64) for c, nodes in enumerate(components)})
            for c, nodes in enumerate(components):
                self.label[t, nodes] = c
            self.open_pairs += max(0, len(components) - 1)

    def _start_contributions(
        self, groups: Sequence[Sequence[Sequence[int]]], potential: npt.NDArray[np.bool_]
    ) -> None:
        contributions: Contributions = np.zeros((self.n, self.n), dtype=np.int32)
        for t, components in enumerate(groups):
            if len(components) < 2:
                continue
            nodes = np.concatenate(list(self.members[t].values()))
            labels = self.label[t, nodes]
            contributions[np.ix_(nodes, nodes)] += labels[:, None] != labels[None, :]
        # Pairs that may not be linked are sunk so low that no count of topics lifts them.
        contributions[~potential] -= 1 << 24
        np.fill_diagonal(contributions, -(1 << 24))
        self.contributions = contributions
        self.bound: npt.NDArray[np.int32] = contributions.max(axis=1, initial=-(1 << 24))
        self._reset_low()

    def _reset_low(self) -> None:
        """All nodes below the maximum degree may take a link without raising it."""
        self.low: npt.NDArray[np.bool_] = self.degrees < self.max_degree
        self.low_bound: npt.NDArray[np.int32] = np.where(self.low, self.bound, -(1 << 24)).astype(np.int32)

    # ------------------------------------------------------------ choosing

    def _best(self) -> tuple[int, int]:
        """Contribution and row of e1: the best of all potential edges."""
        while True:
            row = int(self.bound.argmax())
            best = int(self.contributions[row].max())
            if best == self.bound[row]:
                return best, row
            self.bound[row] = best

    def _best_low(self) -> tuple[int, int]:
        """Contribution and row of e2: the best among edges that do not raise the maximum degree."""
        while True:
            row = int(self.low_bound.argmax())
            bound = self.low_bound[row]
            if bound <= 0:
                return 0, row
            best = int(self.contributions[row].max(where=self.low, initial=-(1 << 24)))
            if best == bound:
                return best, row
            self.low_bound[row] = best

    def _find_low_edge(self) -> tuple[int, int]:
        """findLowEdge(rho). Where every edge raises the maximum degree, e2 is e1."""
        best, row = self._best()
        if best <= 0:
            raise ValueError("the potential edges cannot connect the topics")
        low, low_row = self._best_low()
        if best > self.rho * low:
            return row, int(self.contributions[row].argmax())
        masked = np.where(self.low, self.contributions[low_row], -(1 << 24))
        return low_row, int(masked.argmax())

    # ------------------------------------------------------------ adding

    def _merge(self, u: int, v: int) -> None:
        ours, theirs = self.label[:, u], self.label[:, v]
        contributions = self.contributions
        for t in np.nonzero((ours != theirs) & (ours >= 0) & (theirs >= 0))[0].tolist():
            a, b = int(self.label[t, u]), int(self.label[t, v])
            left, right = self.members[t][a], self.members[t][b]
            contributions[left[:, None], right] -= 1
            contributions[right[:, None], left] -= 1
            self.members[t][a] = np.concatenate((left, right))
            del self.members[t][b]
            self.label[t, right] = a
            self.open_pairs -= 1

    def _raise_degrees(self, u: int, v: int) -> None:
        self.degrees[u] += 1
        self.degrees[v] += 1
        top = int(max(self.degrees[u], self.degrees[v]))
        if top > self.max_degree:
            self.max_degree = top
            self._reset_low()
        else:
            for node in (u, v):
                if self.degrees[node] == self.max_degree:
                    self.low[node] = False
                    self.low_bound[node] = -(1 << 24)

    def choose(self) -> list[tuple[int, int]]:
        """The new edges, in the order in which they were chosen."""
        chosen = []
        while self.open_pairs:
            u, v = self._find_low_edge()
            chosen.append((u, v))
            self._merge(u, v)
            self.contributions[u, v] = self.contributions[v, u] = -(1 << 24)
            self._raise_degrees(u, v)
        return chosen


def all_pairs(n: int) -> npt.NDArray[Any]:
    return np.ones((n, n), dtype=np.bool_)
