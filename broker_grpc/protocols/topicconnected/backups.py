"""Backup sets, Algorithms 11 and 12: who could stand in for a node that leaves."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from broker_grpc.protocols.topicconnected.overlay import Overlay, bits

Weights = npt.NDArray[np.int64]
NOBODY = 1 << 40  # heavier than any node
EXCLUDED = NOBODY >> 1  # and still after it lost what others weigh


class PrimaryBackup:
    """v.backups and v.primaries for every node (Struct 5), as node masks by index.

    |u.primaries| stands in a vector of its own, so that all weights together are one addition.
    """

    def __init__(self, overlay: Overlay[Any, Any]) -> None:
        self.overlay = overlay
        self.backups: dict[int, int] = {}
        self.primaries: dict[int, int] = {}
        self._served: Weights = np.zeros(len(overlay.degrees), dtype=np.int64)

    def _fit(self) -> None:
        missing = len(self.overlay.degrees) - len(self._served)
        if missing:
            self._served = np.concatenate((self._served, np.zeros(missing, dtype=np.int64)))

    def weights(self, excluded: int) -> Weights:
        """weight(u) = |u.neighbours| + |u.primaries| of all nodes; NOBODY where excluded."""
        self._fit()
        size = len(self.overlay.name)
        weights = self._combined(self.overlay.degrees[:size], self._served[:size])
        weights[list(bits(excluded))] = NOBODY
        return weights

    def _combined(self, degrees: Weights, primaries: Weights) -> Weights:
        return degrees + primaries

    def clear(self, v: int) -> None:
        for u in bits(self.backups.pop(v, 0)):
            if u in self.primaries:
                self.primaries[u] &= ~(1 << v)
                self._served[u] -= 1

    def add(self, v: int, backup: int) -> None:
        self.back_up(v, [backup])

    def back_up(self, v: int, backups: Sequence[int]) -> None:
        """More backups, each of them once."""
        self._served[backups] += 1
        mask, own = self.backups.get(v, 0), 1 << v
        for u in backups:
            mask |= 1 << u
            self.primaries[u] = self.primaries.get(u, 0) | own
        self.backups[v] = mask

    def forget(self, v: int) -> int:
        """A node left; answers the mask of the nodes that lost it as a backup."""
        self.clear(v)
        orphans = self.primaries.pop(v, 0)
        for u in bits(orphans):
            self.backups[u] &= ~(1 << v)
        return orphans


class BuildBackups(Protocol):
    def __call__(self, state: PrimaryBackup, v: int, coverage: int, random: Random) -> None: ...


def build_greedily(state: PrimaryBackup, v: int, coverage: int, random: Random) -> None:
    """Algorithm 11: `coverage` disjoint set covers, cheapest node per uncovered topic first."""
    overlay = state.overlay
    state.clear(v)
    state.backups[v] = 0
    member = overlay.membership[:, : len(overlay.name)]
    for _ in range(coverage):
        weights = state.weights(1 << v | state.backups[v])
        rest = sorted(bits(overlay.topics[v]))
        while rest:
            covered = member[rest].sum(axis=0)
            price = np.where((covered > 0) & (weights < NOBODY), weights / np.maximum(covered, 1), np.inf)
            w = int(price.argmin())
            if price[w] == np.inf:
                break
            state.add(v, w)
            weights[w] = NOBODY
            rest = [t for t in rest if not overlay.topics[w] >> t & 1]


def build_by_primal_dual(state: PrimaryBackup, v: int, coverage: int, random: Random) -> None:
    """Algorithm 12: a random uncovered topic, then its lightest subscriber.

    `weight(u) > 0` in line 8 excludes nodes whose weight an earlier pick used up; where that leaves
    nobody, the topic is covered by the lightest subscriber all the same, because equation (2) asks
    for cover and the pseudo-code gives no other way out.
    """
    overlay = state.overlay
    state.clear(v)
    member = overlay.membership[:, : len(overlay.name)]
    base = state.weights(1 << v)
    backups: list[int] = []
    for _ in range(coverage):
        base[backups] = NOBODY
        weights = base.copy()
        rest = sorted(bits(overlay.topics[v]))
        while rest:
            topic = rest[int(random.random() * len(rest))]
            w = _take_lightest(weights, member[topic].nonzero()[0])
            if w < 0:
                rest.remove(topic)
                continue
            backups.append(w)
            covered = overlay.topics[w]
            rest = [t for t in rest if not covered >> t & 1]
    state.back_up(v, backups)


def _take_lightest(weights: Weights, subscribers: npt.NDArray[Any]) -> int:
    """Lines 8, 9, 13 and 14: the first of the lightest, whose weight all candidates then lose.

    Less 1 and without a sign, a weight of 0 is heavier than everybody, also than who is excluded;
    -1 = the topic has no subscriber left to take.
    """
    theirs = weights[subscribers]
    if not len(theirs):
        return -1
    at = int((theirs - 1).view(np.uint64).argmin())
    lightest = theirs[at]
    if 0 < lightest < EXCLUDED:
        theirs -= lightest
        weights[subscribers] = np.maximum(theirs, 0, out=theirs)
    else:  # nobody with a weight: the first of those whose weight is used up
        at = int(theirs.argmin())
        if theirs[at] >= EXCLUDED:
            return -1
    return int(subscribers[at])
