"""Top-down hierarchical Waxman graphs, with the model and the defaults of BRITE's TD_ASWaxman_RTWaxman.

First a graph of domains, then one of routers inside each, then every domain edge joins two random routers
of its domains. Both levels grow node by node: a new node links to m earlier ones, drawn with Waxman's
probability P(u,v) = alpha exp(-d / (beta L)) as weight. Latency is proportional to the distance on the
plane.
"""

from __future__ import annotations

import math

from testbed.topology.file.schema.network import WaxmanLevel, WaxmanNetwork
from testbed.topology.generators.graph import Graph
from testbed.topology.plan import Link
from testbed.topology.seeding import Draw

Point = tuple[float, float]


def waxman(spec: WaxmanNetwork, draw: Draw) -> Graph:
    """domains x routers; always connected, as every new node links to an earlier one."""
    graph = Graph()
    centres, top = _grown(spec.domains, spec.plane, draw)
    size = spec.plane / max(1.0, math.sqrt(spec.domains.nodes))
    for d, centre in enumerate(centres):
        places, edges = _grown(spec.routers, size, draw)
        first = d * spec.routers.nodes
        for k, (x, y) in enumerate(places):
            id = graph.switch(f"r{first + k}", f"domain-{d}", centre[0] + x, centre[1] + y)
            graph.sites.append(id)
        for i, j in edges:
            _link(graph, first + i, first + j, "stub", spec.latency_per_unit)
    for a, b in top:
        i = a * spec.routers.nodes + draw.below(spec.routers.nodes)
        j = b * spec.routers.nodes + draw.below(spec.routers.nodes)
        _link(graph, i, j, "transit-transit", spec.latency_per_unit)
    return graph


def _grown(level: WaxmanLevel, plane: float, draw: Draw) -> tuple[list[Point], list[tuple[int, int]]]:
    """Places, and (earlier, later) edges of one incrementally grown graph."""
    places = [(draw.unit() * plane, draw.unit() * plane) for _ in range(level.nodes)]
    scale = -1.0 / (level.beta * math.sqrt(2.0) * plane)
    edges = []
    for new in range(1, level.nodes):
        x, y = places[new]
        weights = [
            level.alpha * math.exp(scale * math.hypot(x - places[old][0], y - places[old][1]))
            for old in range(new)
        ]
        for old in _weighted(weights, min(level.links_per_node, new), draw):
            edges.append((old, new))
    return places, edges


def _weighted(weights: list[float], k: int, draw: Draw) -> list[int]:
    """k distinct indices, drawn one after the other with the given weights."""
    chosen: list[int] = []
    total = math.fsum(weights)
    while len(chosen) < k:
        mark = draw.unit() * total
        index = next(i for i in range(len(weights)) if i not in chosen)  # if weights are too small to tell
        for i, weight in enumerate(weights):
            mark -= weight
            if mark < 0 and weight > 0:
                index = i
                break
        chosen.append(index)
        total -= weights[index]
        weights[index] = 0.0
    return sorted(chosen)


def _link(graph: Graph, i: int, j: int, tier: str, latency_per_unit: int) -> None:
    one, other = graph.nodes[i], graph.nodes[j]
    distance = math.hypot(one.x - other.x, one.y - other.y)
    latency = max(1, round(distance * latency_per_unit))
    graph.links.append(Link(f"{one.id}-{other.id}", one.id, other.id, latency_us=latency, tier=tier))
