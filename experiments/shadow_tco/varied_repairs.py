"""S3, S6, S10, S11, S23, S25, S26: other readings of what a node weighs and of what a repair looks at.

Weights: the paper states |neighbours| + |primaries|. The others show what it would take to get the
skewed greedy backups of figure 2 and the degrees of figures 4 and 5.
Repairs: the components that have to be joined may be those of the whole overlay (ours), or only those that
links inside the shadow set make; the maximum degree that shall not rise may be that of the shadow
set (the pseudo-code's V is S there), of its nodes that have a topic to connect, or of all nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pandas

from broker_grpc.protocols.topicconnected.backups import (
    BuildBackups,
    PrimaryBackup,
    Weights,
    build_by_primal_dual,
    build_greedily,
)
from broker_grpc.protocols.topicconnected.components import component_of
from broker_grpc.protocols.topicconnected.lowoda import low_oda
from broker_grpc.protocols.topicconnected.overlay import Overlay, bits
from broker_grpc.protocols.topicconnected.repair import Edge, join_pieces, pieces_of
from broker_grpc.protocols.topicconnected.shadow import ShadowMaintenance
from experiments.shadow_tco.workload import Setting, churn, initial

Weigh = Callable[[PrimaryBackup, Weights, Weights], Weights]  # of degrees and numbers of primaries
STATED = "neighbours + primaries (stated)"
WEIGHTS: dict[str, Weigh] = {
    "neighbours only": lambda state, degrees, primaries: degrees,
    "primaries only": lambda state, degrees, primaries: primaries,
    "all the same": lambda state, degrees, primaries: primaries * 0 + 1,
}


class Weighed(PrimaryBackup):
    """Another look at a state: it shares everything with it but the weights."""

    def __init__(self, state: PrimaryBackup, weigh: Weigh) -> None:
        self.__dict__ = state.__dict__
        self._weigh = weigh

    def _combined(self, degrees: Weights, primaries: Weights) -> Weights:
        return self._weigh(self, degrees, primaries).copy()


def weighing(build: BuildBackups, weigh: Weigh) -> BuildBackups:
    def varied(state: PrimaryBackup, v: int, coverage: int, random: Random) -> None:
        build(Weighed(state, weigh), v, coverage, random)

    return varied


class VariedRepair(ShadowMaintenance):
    """`_top` and `_pieces`: what a leave takes for the maximum degree, and for the components."""

    def repair_leave(self, node: Any) -> tuple[list[Edge], int]:
        i = self.overlay.index[node]
        topics, backups = self.overlay.topics[i], self.state.backups.get(i, 0)
        former = self.overlay.remove_node(node)
        orphans = self.state.forget(i)
        self.shadow = (former | backups) & self.overlay.alive
        split = {t: self._pieces(t, former) for t in bits(topics)}
        top = self._top([t for t, pieces in split.items() if len(pieces) > 1])
        return join_pieces(self.overlay, split, self.shadow, top, self.rho), orphans

    def _pieces(self, topic: int, former: int) -> list[int]:
        return pieces_of(self.overlay, topic, former)

    def _top(self, open_topics: list[int]) -> int:
        return self._largest(self.shadow)

    def _largest(self, nodes: int) -> int:
        return max((self.overlay.degree[i] for i in bits(nodes)), default=0)


class OfUseful(VariedRepair):
    def _top(self, open_topics: list[int]) -> int:
        useful = 0
        for t in open_topics:
            useful |= self.overlay.subscribers[t]
        return self._largest(self.shadow & useful)


class OfAll(VariedRepair):
    def _top(self, open_topics: list[int]) -> int:
        return self.overlay.max_degree()


class InShadow(VariedRepair):
    def _pieces(self, topic: int, former: int) -> list[int]:
        rest = members = self.overlay.subscribers[topic] & self.shadow
        found = []
        while rest:
            found.append(component_of(self.overlay, (rest & -rest).bit_length() - 1, members))
            rest &= ~found[-1]
        return found


REPAIRS: dict[str, type[ShadowMaintenance]] = {
    "as the pseudo-code (ours)": ShadowMaintenance,
    "maximum degree of nodes with a topic to connect": OfUseful,
    "maximum degree of all nodes": OfAll,
    "components inside the shadow set": InShadow,
}
BUILDS = {"greedy": build_greedily, "primal-dual": build_by_primal_dual}
Variant = tuple[str, str, str, str, int]  # of what, variant, algorithm of backups, weights, lambda


def variants() -> list[Variant]:
    chosen: list[Variant] = []
    for name in BUILDS:
        for weights in (STATED, *WEIGHTS):
            chosen.append(("weights", weights, name, weights, 3))
    chosen += [("weights", weights, "primal-dual", weights, 1) for weights in (STATED, *WEIGHTS)]
    for repair in REPAIRS:
        chosen += [("repair", repair, "primal-dual", STATED, coverage) for coverage in (3, 1)]
    return chosen


def vary_repair(variant: Sequence[Any], setting: Setting, seed: int) -> pandas.DataFrame:
    """One row: the overlay of one of `variants()` after the churn, which is the same for all."""
    of, name, backups, weights, coverage = variant
    random = Random(seed)
    interests = initial(setting, random)
    changes = list(churn(setting, list(interests), random))
    base: Overlay[int, int] = low_oda(interests)
    build = BUILDS[backups] if weights == STATED else weighing(BUILDS[backups], WEIGHTS[weights])
    kind = REPAIRS[name] if of == "repair" else ShadowMaintenance
    maintenance = kind(base.copy(), Random(seed), coverage, build)
    row: dict[str, Any] = {"of": of, "variant": name, "backups": backups, "lambda": coverage}
    row |= at_the_start(maintenance)
    joined, left = [], []
    for change in changes:
        if change.topics is not None:
            joined.append(len(maintenance.join(change.node, change.topics)))
        else:
            degree = maintenance.overlay.degree[maintenance.overlay.index[change.node]]
            left.append(degree + len(maintenance.leave(change.node)))
    overlay = maintenance.overlay
    row |= {
        "max_degree": overlay.max_degree(),
        "average_degree": overlay.average_degree(),
        "links_per_join": sum(joined) / max(1, len(joined)),
        "links_per_leave": sum(left) / max(1, len(left)),
    }
    return pandas.DataFrame([row])


def at_the_start(maintenance: ShadowMaintenance) -> dict[str, float]:
    state, nodes = maintenance.state, list(bits(maintenance.overlay.alive))
    primaries = [state.primaries.get(i, 0).bit_count() for i in nodes]
    return {
        "average_backups": sum(state.backups[i].bit_count() for i in nodes) / len(nodes),
        "few_primaries": sum(n < 5 for n in primaries) / len(nodes),
        "most_primaries": max(primaries),
    }
