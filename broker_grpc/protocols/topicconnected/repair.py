"""Adding links among chosen nodes until a churned node's topics are connected again.

Shared by the naive and the shadow algorithms, which differ only in the nodes they consider.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from broker_grpc.protocols.topicconnected.components import component_of
from broker_grpc.protocols.topicconnected.lowedges import LowEdges, later_nodes
from broker_grpc.protocols.topicconnected.overlay import Overlay, bits

Edge = tuple[int, int]


def attach(overlay: Overlay[Any, Any], node: int, candidates: int, rho: float) -> list[Edge]:
    """Links a node that just joined to some candidates (Algorithms 3 and 10).

    All other subscribers of a topic are connected already, so an edge's contribution is the number
    of its topics that no earlier edge has connected, and components need not be looked at.
    Every potential edge has the same end, so the degree of the joining node is a constant in
    "raises the maximum degree least".
    """
    rest = overlay.topics[node]
    for t in bits(rest):
        if overlay.subscribers[t] & ~(1 << node) == 0:
            rest &= ~(1 << t)
    local = candidates & ~(1 << node)
    contribution = {u: (overlay.topics[u] & rest).bit_count() for u in bits(local)}
    top = max((overlay.degree[u] for u in bits(local | 1 << node)), default=0)
    added = []
    while rest:
        u = _find_low_edge(overlay, node, contribution, top, rho)
        overlay.add_edge(node, u)
        added.append((node, u))
        top = max(top, overlay.degree[node], overlay.degree[u])
        rest &= ~overlay.topics[u]
        del contribution[u]
        for w in contribution:
            contribution[w] = (overlay.topics[w] & rest).bit_count()
    return added


def _find_low_edge(
    overlay: Overlay[Any, Any], node: int, contribution: dict[int, int], top: int, rho: float
) -> int:
    best = max(contribution, key=contribution.__getitem__, default=-1)  # the first of equals
    if best < 0 or contribution[best] == 0:
        raise ValueError("the candidates do not cover the joining node's topics")
    if overlay.degree[node] >= top:
        return best
    low = [u for u in contribution if overlay.degree[u] < top]
    second = max(low, key=contribution.__getitem__, default=best)
    return best if contribution[best] > rho * contribution[second] else second


def mend(overlay: Overlay[Any, Any], topics: int, candidates: int, former: int, rho: float) -> list[Edge]:
    """Links candidates until the topics of a node that left are connected (Algorithms 4 and 7).

    Components are those of the whole overlay; each holds a former neighbour of the node that left
    (or the topic was connected without it), so only those are looked for. Only candidates with a topic
    to connect can get a link; the maximum degree not to be raised is that of all candidates.
    """
    split = {t: pieces_of(overlay, t, former) for t in bits(topics)}
    top = max((overlay.degree[i] for i in bits(candidates)), default=0)
    return join_pieces(overlay, split, candidates, top, rho)


def join_pieces(
    overlay: Overlay[Any, Any], split: Mapping[int, Sequence[int]], candidates: int, top: int, rho: float
) -> list[Edge]:
    """Algorithm 2 for topics in pieces; `top` is the maximum degree not to be raised."""
    split = {t: pieces for t, pieces in split.items() if len(pieces) > 1}
    if not split:
        return []
    useful = 0
    for t in split:
        useful |= overlay.subscribers[t]
    nodes = list(bits(candidates & useful))
    local = {i: 1 << at for at, i in enumerate(nodes)}
    groups = [[_local(local, piece & candidates) for piece in pieces] for pieces in split.values()]
    potential = [
        after & ~_local(local, overlay.neighbours[i] & candidates & useful)
        for i, after in zip(nodes, later_nodes(len(nodes)), strict=True)
    ]
    chooser = LowEdges(groups, potential, [overlay.degree[i] for i in nodes], top, rho)
    added = [(nodes[u], nodes[v]) for u, v in chooser.choose()]
    for u, v in added:
        overlay.add_edge(u, v)
    return added


def pieces_of(overlay: Overlay[Any, Any], topic: int, former: int) -> list[int]:
    members = overlay.subscribers[topic]
    rest = former & members
    pieces = []
    while rest:
        piece = component_of(overlay, (rest & -rest).bit_length() - 1, members)
        pieces.append(piece)
        rest &= ~piece
    return pieces


def _local(local: Mapping[int, int], nodes: int) -> int:
    """The same nodes as bits of a smaller set."""
    return sum(local[i] for i in bits(nodes))
