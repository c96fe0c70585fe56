"""S28 and S29: how many links LOW-ODA from scratch changes per round, by how ties are broken.

The paper names no rule. Ours gives ties to the nodes that came first. LOW-ODA breaks ties by the order
in which it is given the nodes, so other orders are other rules; and one rule looks at the overlay before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import pandas

from broker_grpc.protocols.topicconnected.defaults import RHO
from broker_grpc.protocols.topicconnected.lowedges import LowEdges, later_nodes
from broker_grpc.protocols.topicconnected.lowoda import low_oda
from broker_grpc.protocols.topicconnected.overlay import Overlay, bits
from experiments.shadow_tco.rounds import update
from experiments.shadow_tco.workload import Churn, Setting, churn, initial

Interests = dict[int, list[int]]
Edges = set[tuple[int, int]]


def by_hash(node: int) -> str:
    return hashlib.sha256(str(node).encode()).hexdigest()


ORDERS: dict[str, Callable[[Interests], Iterable[int]]] = {
    "first come first (ours)": lambda interests: sorted(interests),
    "last come first": lambda interests: sorted(interests, reverse=True),
    "fixed random order": lambda interests: sorted(interests, key=by_hash),
    "most topics first": lambda interests: sorted(interests, key=lambda v: (-len(interests[v]), v)),
    "fewest topics first": lambda interests: sorted(interests, key=lambda v: (len(interests[v]), v)),
}
FRESH = "a new random order each round"
KEEP = "links of the round before first"
RULES = (*ORDERS, FRESH, KEEP)


def pairs(edges: Iterable[tuple[int, int]]) -> Edges:
    return {(a, b) if a < b else (b, a) for a, b in edges}


class KeepingLinks(LowEdges):
    """Of the best edges one that was there before, if there is one; slow, all best edges are looked at."""

    def keep(self, kept: list[int]) -> None:
        self.kept = kept

    def _find_low_edge(self) -> tuple[int, int]:
        u, v = super()._find_low_edge()
        is_low = bool(self.low >> u & self.low >> v & 1)
        among = self.low if is_low else -1
        rows = self.low_rows if is_low else self.all
        best = self._best_of_row(u, 1 << v)[0]
        for row in bits(rows.rows[best]):
            count, partners = self._best_of_row(row, self.potential[row] & among)
            if count < best:
                rows.lower(row, count)
            elif partners & self.kept[row]:
                old = partners & self.kept[row]
                return row, (old & -old).bit_length() - 1
        return u, v


def keeping(interests: Interests, before: Edges) -> Edges:
    nodes = sorted(interests)
    at = {v: i for i, v in enumerate(nodes)}
    groups: dict[int, list[int]] = {}
    for v in nodes:
        for t in interests[v]:
            groups.setdefault(t, []).append(1 << at[v])
    kept = [0] * len(nodes)
    for a, b in before:
        if a in at and b in at:
            kept[at[a]] |= 1 << at[b]
    chooser = KeepingLinks(
        [groups[t] for t in sorted(groups)], later_nodes(len(nodes)), [0] * len(nodes), 0, RHO
    )
    chooser.keep(kept)
    return {(nodes[a], nodes[b]) for a, b in chooser.choose()}


def built(interests: Interests, order: Iterable[int]) -> Edges:
    overlay: Overlay[int, int] = low_oda({v: interests[v] for v in order})
    return pairs(overlay.edges())


def one_rule(
    rule: str, build: Callable[[Interests, Edges], Edges], setting: Setting, seed: int
) -> list[dict[str, Any]]:
    random = Random(seed)
    interests = initial(setting, random)
    changes: list[Churn] = list(churn(setting, list(interests), random))
    before = build(interests, set())
    rows = []
    for change in changes:
        update(interests, change)
        after = build(interests, before)
        rows.append(
            {
                "nodes": setting.nodes,
                "ties": rule,
                "kind": "leave" if change.topics is None else "join",
                "links": len(before),
                "changed": len(after ^ before),
                "share": len(after ^ before) / len(before),
            }
        )
        before = after
    return rows


def vary_tie(rule: str, setting: Setting, seed: int) -> pandas.DataFrame:
    """`setting.rounds` rounds of churn, the same for every one of `RULES`."""
    fresh = Random(seed + 1)

    def shuffled(interests: Interests, before: Edges) -> Edges:
        return built(interests, fresh.sample(sorted(interests), len(interests)))

    def in_order(interests: Interests, before: Edges) -> Edges:
        return built(interests, ORDERS[rule](interests))

    build = {FRESH: shuffled, KEEP: keeping}.get(rule, in_order)
    return pandas.DataFrame(one_rule(rule, build, setting, seed))
