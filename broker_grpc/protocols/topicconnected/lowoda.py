"""LOW-ODA, Algorithm 1: a topic-connected overlay of low degree from scratch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from broker_grpc.protocols.topicconnected.defaults import RHO
from broker_grpc.protocols.topicconnected.lowedges import LowEdges, later_nodes
from broker_grpc.protocols.topicconnected.overlay import N, Overlay, T, bits


def low_oda(interests: Mapping[N, Any], rho: float = RHO) -> Overlay[N, T]:
    """Links all nodes so that every topic is connected; ties go to the nodes given first."""
    overlay: Overlay[N, T] = Overlay()
    for node, topics in interests.items():
        overlay.add_node(node, topics)
    connect(overlay, rho)
    return overlay


def connect(overlay: Overlay[Any, Any], rho: float = RHO) -> None:
    """Adds LOW-ODA's links to an overlay without links."""
    nodes = list(bits(overlay.alive))
    local = {i: at for at, i in enumerate(nodes)}
    groups = [[1 << local[i] for i in bits(subscribers)] for subscribers in overlay.subscribers]
    degrees = [overlay.degree[i] for i in nodes]
    chooser = LowEdges(groups, later_nodes(len(nodes)), degrees, max(degrees, default=0), rho)
    for u, v in chooser.choose():
        overlay.add_edge(nodes[u], nodes[v])
