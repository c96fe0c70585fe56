"""ShadowDynAlg (Algorithms 6 to 12), transcribed: sets by name, primaries by their definition.

Slow and obvious on purpose, like `reference.py`. Where the paper says "for all", nodes come in the
order in which they came to the overlay.
"""

from __future__ import annotations

from itertools import combinations
from random import Random

from tests.topicconnected import reference
from tests.topicconnected.reference import Edge, Interests, Node, Topic, pair


class ShadowTranscription:
    def __init__(
        self, interests: Interests, edges: set[Edge], seed: int, coverage: int, greedy: bool, rho: float
    ) -> None:
        self.interests = {v: set(topics) for v, topics in interests.items()}
        self.edges = set(edges)
        self.random = Random(seed)
        self.coverage = coverage
        self.greedy = greedy
        self.rho = rho
        self.backups: dict[Node, set[Node]] = {}
        self.shadows: set[Node] = set()
        for v in self.interests:  # Algorithm 6
            self.build_backups_at(v)

    def primaries(self, v: Node) -> set[Node]:
        return {u for u, backups in self.backups.items() if v in backups}

    def neighbours(self, v: Node) -> set[Node]:
        return {b if a == v else a for a, b in self.edges if v in (a, b)}

    def build_backups_at(self, v: Node) -> None:
        """Algorithms 11 and 12, line 1 and the weights; the rest is in `reference`."""
        self.backups[v] = set()
        weight = {u: len(self.neighbours(u)) + len(self.primaries(u)) for u in self.interests}
        if self.greedy:
            chosen = reference.greedy_backups(self.interests, weight, v, self.coverage)
        else:
            chosen = reference.primal_dual_backups(self.interests, weight, v, self.coverage, self.random)
        self.backups[v] = chosen

    def construct(self, nodes: set[Node], topics: set[Topic], potential: set[Edge]) -> None:
        self.edges |= reference.construct_low_edges(
            nodes, self.interests, topics, self.edges, potential, self.rho
        )

    def join(self, v: Node, topics: set[Topic]) -> None:
        self.interests[v] = set(topics)
        self.build_backups_at(v)  # Algorithm 9
        self.shadows = self.backups[v] | {v}  # Algorithm 10
        potential = {pair(v, u) for u in self.shadows if u != v}
        self.construct(self.shadows, self.interests[v], potential)

    def leave(self, v: Node) -> None:
        self.shadows = self.neighbours(v) | self.backups[v]  # Algorithm 7
        orphans = self.primaries(v)
        topics = self.interests.pop(v)
        del self.backups[v]
        self.edges = {e for e in self.edges if v not in e}
        self.construct(self.shadows, topics, set(combinations(sorted(self.shadows), 2)))
        for u in self.backups:
            self.backups[u].discard(v)
        for u in sorted(orphans):  # Algorithm 8
            self.build_backups_at(u)
