"""The overlay of a running system, round by round, with one of the three maintenance algorithms.

A round is one broker that joins, leaves, or comes back with other topics; more of them at once are
rounds one after the other (section IV).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Protocol

import msgspec

from broker_grpc.protocols.topicconnected.backups import BuildBackups, build_by_primal_dual, build_greedily
from broker_grpc.protocols.topicconnected.defaults import RHO
from broker_grpc.protocols.topicconnected.lowoda import connect, low_oda
from broker_grpc.protocols.topicconnected.naive import NaiveMaintenance
from broker_grpc.protocols.topicconnected.overlay import Overlay, bits
from broker_grpc.protocols.topicconnected.repair import Edge, mend
from broker_grpc.protocols.topicconnected.settings import CoordinatorSettings
from broker_grpc.protocols.topicconnected.shadow import ShadowMaintenance

Link = tuple[str, str]  # two brokers, the smaller id first
BACKUPS: dict[str, BuildBackups] = {"primal-dual": build_by_primal_dual, "greedy": build_greedily}


def link(a: str, b: str) -> Link:
    return (a, b) if a < b else (b, a)


class Round(msgspec.Struct):
    """What one round did; becomes the content of a REPAIRED event."""

    round: int
    kind: str
    broker: str
    topics: int
    nodes: int
    links: int
    added: int
    removed: int
    max_degree: int
    average_degree: float
    shadow: int = 0  # size of the shadow set; 0 = the algorithm has none


class Algorithm(Protocol):
    overlay: Overlay[str, str]

    def join(self, node: str, topics: Iterable[str]) -> list[Edge]: ...

    def leave(self, node: str) -> list[Edge]: ...


class FromScratch:
    """LOW-ODA at every round: the baseline that tears links down."""

    def __init__(self, overlay: Overlay[str, str], rho: float = RHO) -> None:
        self.overlay = overlay
        self.rho = rho

    def join(self, node: str, topics: Iterable[str]) -> list[Edge]:
        return self._rebuild({**interests_of(self.overlay), node: sorted(topics)})

    def leave(self, node: str) -> list[Edge]:
        rest = interests_of(self.overlay)
        del rest[node]
        return self._rebuild(rest)

    def _rebuild(self, interests: Mapping[str, list[str]]) -> list[Edge]:
        self.overlay = low_oda(interests, self.rho)
        return []


def interests_of(overlay: Overlay[str, str]) -> dict[str, list[str]]:
    return {
        overlay.name[i]: [overlay.topic_name[t] for t in bits(overlay.topics[i])] for i in bits(overlay.alive)
    }


class Maintenance:
    """`links` is what the overlay shall be; `connected` of `components` holds for it after every call."""

    def __init__(self, settings: CoordinatorSettings, random: Random) -> None:
        self._settings = settings
        self._random = random
        self._algorithm: Algorithm = self._on(Overlay())
        self.rounds = 0

    def _on(self, overlay: Overlay[str, str]) -> Algorithm:
        chosen = self._settings
        if chosen.maintenance == "low-oda":
            return FromScratch(overlay, chosen.rho)
        if chosen.maintenance == "naive":
            return NaiveMaintenance(overlay, chosen.rho)
        return ShadowMaintenance(overlay, self._random, chosen.coverage, BACKUPS[chosen.backups], chosen.rho)

    # ------------------------------------------------------------ questions

    @property
    def overlay(self) -> Overlay[str, str]:
        return self._algorithm.overlay

    def links(self) -> set[Link]:
        return {link(a, b) for a, b in self.overlay.edges()}

    # ------------------------------------------------------------ rounds

    def begin(self, interests: Mapping[str, Iterable[str]], held: Iterable[Link]) -> Round:
        """All brokers at once: from scratch, or with the links they hold already and what these lack."""
        overlay: Overlay[str, str] = Overlay()
        for node in sorted(interests):
            overlay.add_node(node, sorted(interests[node]))
        known = sorted({pair for pair in held if pair[0] in interests and pair[1] in interests})
        for a, b in known:
            overlay.add_edge(overlay.index[a], overlay.index[b])
        if known:
            everything = (1 << len(overlay.topic_name)) - 1
            mend(overlay, everything, overlay.alive, overlay.alive, self._settings.rho)
        else:
            connect(overlay, self._settings.rho)
        self._algorithm = self._on(overlay)
        return self._round("recover" if known else "build", "", 0, set(known))

    def join(self, node: str, topics: Iterable[str]) -> Round:
        before = self.links()
        self._algorithm.join(node, sorted(topics))
        return self._round("join", node, self._size(node), before)

    def leave(self, node: str) -> Round:
        before, size = self.links(), self._size(node)
        self._algorithm.leave(node)
        return self._round("leave", node, size, before)

    def change(self, node: str, topics: Iterable[str]) -> Round:
        """Other topics: a leave and a join of the same node, in one round."""
        before = self.links()
        self._algorithm.leave(node)
        self._algorithm.join(node, sorted(topics))
        return self._round("change", node, self._size(node), before)

    def _size(self, node: str) -> int:
        return self.overlay.topics[self.overlay.index[node]].bit_count()

    def _round(self, kind: str, node: str, topics: int, before: set[Link]) -> Round:
        self.rounds += 1
        overlay, after = self.overlay, self.links()
        shadow = getattr(self._algorithm, "shadow", 0).bit_count()
        return Round(
            self.rounds,
            kind,
            node,
            topics,
            overlay.alive.bit_count(),
            overlay.edge_count,
            len(after - before),
            len(before - after),
            overlay.max_degree(),
            round(overlay.average_degree(), 6),
            shadow,
        )
