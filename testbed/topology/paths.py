"""The planned paths: what the controller installs and what probes are held against.

A path is the cheapest by latency plus penalty (penalties keep transit-stub paths in the hierarchy: up through
the stub's transit link, across the backbone, down again). Ties go to fewer hops, then to the node that comes
first in the plan, so every run and every machine chooses the same one. Only switches forward.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Collection

from testbed.topology.plan import Network


class NoPath(LookupError):
    """Two nodes are not connected (or one of them does not exist)."""


class Routing:
    """Paths of one network; a shortest-path tree per destination is computed when first asked for."""

    def __init__(self, network: Network, down: Collection[str] = ()) -> None:
        """`down`: ids of links that are cut."""
        self.nodes = [node.id for node in network.nodes]
        self.order = {id: i for i, id in enumerate(self.nodes)}
        self.hosts = [node.id for node in network.nodes if node.kind == "host"]
        self._is_host = [node.kind == "host" for node in network.nodes]
        self._pairs = {(pair.a, pair.b): pair.latency_us for pair in network.pairs}
        self._edges: list[dict[int, tuple[int, int]]] = [{} for _ in self.nodes]
        for link in network.links:
            if link.id not in down:
                self._join(link.a, link.b, link.latency_us + link.penalty_us, link.latency_us)
        self._trees: dict[int, list[int]] = {}

    def _join(self, a: str, b: str, cost: int, latency: int) -> None:
        i, j = self.order[a], self.order[b]
        for one, other in ((i, j), (j, i)):
            self._edges[one][other] = min((cost, latency), self._edges[one].get(other, (cost, latency)))

    def next_hop(self, at: str, destination: str) -> str | None:
        """The neighbour that a packet for `destination` is sent to; None when there is no path."""
        hop = self._tree(self._number(destination))[self._number(at)]
        return None if hop < 0 else self.nodes[hop]

    def path(self, a: str, b: str) -> list[str]:
        """All nodes from a to b, both included; raises NoPath."""
        tree = self._tree(self._number(b))
        at, end = self._number(a), self._number(b)
        steps = [at]
        while at != end:
            at = tree[at]
            if at < 0:
                raise NoPath(f"there is no path from {a} to {b}")
            steps.append(at)
        return [self.nodes[i] for i in steps]

    def one_way_us(self, a: str, b: str) -> int:
        """Planned latency from a to b: the links of the path, and what is shaped for the pair."""
        steps = [self.order[id] for id in self.path(a, b)]
        links = sum(self._edges[i][j][1] for i, j in itertools.pairwise(steps))
        return links + self._pairs.get((a, b), 0)

    def rtt_us(self, a: str, b: str) -> int:
        """Planned round trip between two hosts."""
        return self.one_way_us(a, b) + self.one_way_us(b, a)

    def _number(self, id: str) -> int:
        if id not in self.order:
            raise NoPath(f"there is no node {id}")
        return self.order[id]

    def _tree(self, destination: int) -> list[int]:
        """By node: the next hop towards the destination, -1 where there is none."""
        if destination not in self._trees:
            self._trees[destination] = self._dijkstra(destination)
        return self._trees[destination]

    def _dijkstra(self, destination: int) -> list[int]:
        far = (1 << 62, 0, 0)
        best: list[tuple[int, int, int]] = [far] * len(self.nodes)  # cost, hops, next hop
        best[destination] = (0, 0, -1)
        settled = [False] * len(self.nodes)
        heap = [(0, 0, destination)]
        while heap:
            cost, hops, at = heapq.heappop(heap)
            if settled[at]:
                continue
            settled[at] = True
            if self._is_host[at] and at != destination:
                continue  # hosts do not forward
            for other, (step, _) in self._edges[at].items():
                candidate = (cost + step, hops + 1, at)
                if candidate < best[other]:
                    best[other] = candidate
                    heapq.heappush(heap, (candidate[0], candidate[1], other))
        return [entry[2] if entry is not far else -1 for entry in best]


def routes(network: Network, down: Collection[str] = ()) -> dict[str, dict[str, str]]:
    """For every switch: the next node towards every host it can reach, without the links that are `down`."""
    routing = Routing(network, down)
    switches = [node.id for node in network.nodes if node.kind == "switch"]
    tables: dict[str, dict[str, str]] = {switch: {} for switch in switches}
    for host in routing.hosts:
        for switch in switches:
            hop = routing.next_hop(switch, host)
            if hop is not None:
                tables[switch][host] = hop
    return tables


def one_way_us(network: Network, a: str, b: str) -> int:
    """Planned latency from host a to host b; for many pairs keep one `Routing`."""
    return Routing(network).one_way_us(a, b)


def rtt_us(network: Network, a: str, b: str) -> int:
    """Planned round trip between two hosts; for many pairs keep one `Routing`."""
    return Routing(network).rtt_us(a, b)
