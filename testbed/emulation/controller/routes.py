"""The planned paths (testbed.topology.paths) as links to take. Pure.

The same tables serve the controller's flows, the hosts' own routes and the planned round trips, so they
cannot disagree. A link that is reshaped at run time keeps its place in them: paths follow the plan.
"""

from __future__ import annotations

from collections.abc import Collection

from testbed.topology.paths import Routing
from testbed.topology.plan import Network

NextLinks = dict[str, dict[str, str]]  # node -> destination host -> link to take


def next_links(network: Network, down: Collection[str] = (), switches_only: bool = False) -> NextLinks:
    """For every node the link to take towards each host; an unreachable host is left out."""
    routing = Routing(network, down)
    between = _best_links(network, down)
    tables: NextLinks = {}
    for node in network.nodes:
        if switches_only and node.kind != "switch":
            continue
        hops = {host: routing.next_hop(node.id, host) for host in routing.hosts if host != node.id}
        tables[node.id] = {host: between[node.id, hop] for host, hop in hops.items() if hop is not None}
    return tables


def _best_links(network: Network, down: Collection[str]) -> dict[tuple[str, str], str]:
    """Of parallel links between two nodes the cheapest, as the paths assume; the first of equals."""
    best: dict[tuple[str, str], tuple[int, int, str]] = {}
    for link in network.links:
        if link.id in down:
            continue
        cost = (link.latency_us + link.penalty_us, link.latency_us)
        for ends in ((link.a, link.b), (link.b, link.a)):
            if ends not in best or cost < best[ends][:2]:
                best[ends] = (*cost, link.id)
    return {ends: entry[2] for ends, entry in best.items()}


def path_links(network: Network, tables: NextLinks, source: str, target: str) -> list[str] | None:
    """The links from source to target, or None when there is no way."""
    ends = {link.id: (link.a, link.b) for link in network.links}
    links: list[str] = []
    node = source
    while node != target:
        link = tables[node].get(target)
        if link is None:
            return None
        links.append(link)
        one, other = ends[link]
        node = other if node == one else one
    return links
