"""Chain, star, ring, mesh and tree."""

from __future__ import annotations

import math

from testbed.topology.file.schema.network import (
    ChainNetwork,
    LinkQuality,
    MeshNetwork,
    RingNetwork,
    StarNetwork,
    TreeNetwork,
)
from testbed.topology.generators.graph import Graph, quality_link
from testbed.topology.seeding import Draw


def chain(spec: ChainNetwork, draw: Draw) -> Graph:
    graph = _routers([(float(i), 0.0) for i in range(spec.nodes)])
    return _linked(graph, [(i, i + 1) for i in range(spec.nodes - 1)], spec.link, draw)


def ring(spec: RingNetwork, draw: Draw) -> Graph:
    graph = _routers(_circle(spec.nodes))
    edges = [(i, i + 1) for i in range(spec.nodes - 1)]
    return _linked(graph, [*edges, (spec.nodes - 1, 0)], spec.link, draw)


def mesh(spec: MeshNetwork, draw: Draw) -> Graph:
    graph = _routers(_circle(spec.nodes))
    edges = [(i, j) for i in range(spec.nodes) for j in range(i + 1, spec.nodes)]
    return _linked(graph, edges, spec.link, draw)


def tree(spec: TreeNetwork, draw: Draw) -> Graph:
    graph = _routers(tree_positions(spec.nodes, spec.fanout))
    return _linked(graph, tree_edges(spec.nodes, spec.fanout), spec.link, draw)


def star(spec: StarNetwork, draw: Draw) -> Graph:
    """One switch, all hosts on it."""
    graph = Graph()
    graph.switch("hub", "lan")
    for i, (x, y) in enumerate(_circle(spec.nodes), start=1):
        graph.sites.append(graph.host(f"h{i}", "lan", x, y))
        graph.links.append(quality_link("hub", f"h{i}", spec.link, draw, "access"))
    return graph


def tree_edges(n: int, fanout: int) -> list[tuple[int, int]]:
    """(parent, child) of a balanced tree filled breadth first, as indices."""
    return [((i - 1) // fanout, i) for i in range(1, n)]


def tree_positions(n: int, fanout: int) -> list[tuple[float, float]]:
    """Each level spread evenly over the width."""
    out: list[tuple[float, float]] = []
    level, width = 0, 1
    while len(out) < n:
        out.extend(((k + 0.5) / width, float(level)) for k in range(min(width, n - len(out))))
        level, width = level + 1, width * fanout
    return out


def _circle(n: int) -> list[tuple[float, float]]:
    return [(math.cos(2 * math.pi * i / n), math.sin(2 * math.pi * i / n)) for i in range(n)]


def _routers(positions: list[tuple[float, float]]) -> Graph:
    graph = Graph()
    for i, (x, y) in enumerate(positions, start=1):
        graph.sites.append(graph.switch(f"r{i}", "", x, y))
    return graph


def _linked(graph: Graph, edges: list[tuple[int, int]], quality: LinkQuality, draw: Draw) -> Graph:
    for a, b in edges:
        graph.links.append(quality_link(f"r{a + 1}", f"r{b + 1}", quality, draw))
    return graph
