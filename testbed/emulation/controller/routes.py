"""Shortest paths by latency over the links that are up. Pure.

The same function serves the controller (flows, re-routing), the hosts' own routes and the planned round trips,
so they cannot disagree. Ties break by the number of hops, then by the plan's order of links.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection
from dataclasses import dataclass

from testbed.topology.plan import Link, Network

NextLinks = dict[str, dict[str, str]]  # node -> destination host -> link to take


@dataclass(frozen=True)
class Graph:
    hosts: tuple[str, ...]
    switches: tuple[str, ...]
    links: dict[str, Link]
    around: dict[str, list[tuple[str, str]]]  # node -> (link, neighbour), in the plan's order


def graph(network: Network) -> Graph:
    around: dict[str, list[tuple[str, str]]] = {node.id: [] for node in network.nodes}
    for link in network.links:
        around[link.a].append((link.id, link.b))
        around[link.b].append((link.id, link.a))
    return Graph(
        tuple(node.id for node in network.nodes if node.kind == "host"),
        tuple(node.id for node in network.nodes if node.kind == "switch"),
        {link.id: link for link in network.links},
        around,
    )


def distances(whole: Graph, target: str, down: Collection[str] = ()) -> dict[str, tuple[int, int]]:
    """(latency in microseconds, hops) from every node that can reach `target`."""
    found: dict[str, tuple[int, int]] = {}
    heap: list[tuple[int, int, str]] = [(0, 0, target)]
    while heap:
        latency, hops, node = heapq.heappop(heap)
        if node in found:
            continue
        found[node] = (latency, hops)
        for link, other in whole.around[node]:
            if other not in found and link not in down:
                heapq.heappush(heap, (latency + whole.links[link].latency_us, hops + 1, other))
    return found


def next_links(whole: Graph, down: Collection[str] = ()) -> NextLinks:
    """For every node the link to take towards each host; an unreachable host is left out."""
    tables: NextLinks = {node: {} for node in whole.around}
    for target in whole.hosts:
        found = distances(whole, target, down)
        for node, (latency, hops) in found.items():
            if node == target:
                continue
            for link, other in whole.around[node]:
                step = (latency - whole.links[link].latency_us, hops - 1)
                if link not in down and found.get(other) == step:
                    tables[node][target] = link
                    break
    return tables


def path(whole: Graph, tables: NextLinks, source: str, target: str) -> list[str] | None:
    """The links from source to target, or None when there is no way."""
    links: list[str] = []
    node = source
    while node != target:
        link = tables[node].get(target)
        if link is None:
            return None
        links.append(link)
        ends = whole.links[link]
        node = ends.b if ends.a == node else ends.a
    return links
