"""Transit-stub networks after GT-ITM (Zegura, Calvert, Bhattacharjee, "How to model an internetwork", 1996).

A backbone of transit domains; behind every transit node some stub domains, each hanging on it by one link.
Extra links may join a stub to a second transit node, or two stubs. Routes must not use a stub as a short
cut; GT-ITM gives links weights for that, here the same inequalities are met by penalties added to
latencies:

- inside a domain 0;
- between transit domains more than half the way across a transit domain, so that a path between two nodes
  of one domain never leaves it;
- transit to stub more than half the way across backbone and stubs, so that no path dips into a stub;
- stub to stub more than that and the whole way, so that such a link only serves the two stubs it joins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from testbed.topology.file.quantities import Range
from testbed.topology.file.schema.network import TransitStubNetwork
from testbed.topology.generators.edges import Point, connected_graph, points
from testbed.topology.generators.graph import Graph, drawn
from testbed.topology.plan import Link
from testbed.topology.seeding import Draw


@dataclass
class _Domain:
    name: str
    nodes: list[str]
    transit: str = ""  # the transit node a stub hangs on


def transit_stub(spec: TransitStubNetwork, draw: Draw) -> Graph:
    """T x Nt x (1 + S x Ns) routers, always connected; sites are the stub routers."""
    return _Builder(spec, draw).build()


class _Builder:
    def __init__(self, spec: TransitStubNetwork, draw: Draw) -> None:
        self.spec = spec
        self.draw = draw
        self.graph = Graph()
        self.transits: list[_Domain] = []
        self.stubs: list[_Domain] = []
        self.linked: set[tuple[str, str]] = set()

    def build(self) -> Graph:
        self.backbone()
        for domain in self.transits:
            for node in domain.nodes:
                self.stubs_of(node)
        self.extra_links()
        self.graph.sites = [node for stub in self.stubs for node in stub.nodes]
        add_penalties(self.graph.links)
        return self.graph

    def size(self, mean: int) -> int:
        """A size around the mean, at least 1: uniform between about half and one and a half of it."""
        if not self.spec.vary_sizes or mean == 1:
            return mean
        spread = mean // 2
        return max(1, self.draw.between(mean - spread, mean + spread))

    def backbone(self) -> None:
        spec = self.spec
        field = spec.scale * math.sqrt(spec.transit_domains) * 3
        centres = points(spec.transit_domains, field, self.draw)
        for t, centre in enumerate(centres):
            places = points(self.size(spec.transit_nodes), spec.scale, self.draw)
            edges = connected_graph(places, spec.transit_edges, spec.scale, self.draw)
            first = sum(len(domain.nodes) for domain in self.transits)
            domain = _Domain(f"transit-{t}", [f"t{first + k}" for k in range(len(places))])
            self.place(domain, places, (centre[0] - spec.scale / 2, centre[1] - spec.scale / 2))
            self.inside(domain, edges, "transit", spec.latency.transit, spec.transit_bandwidth)
            self.transits.append(domain)
        for a, b in connected_graph(centres, spec.top_edges, field, self.draw):
            one, other = self.draw.choice(self.transits[a].nodes), self.draw.choice(self.transits[b].nodes)
            self.link(one, other, "transit-transit", spec.latency.transit_transit, spec.transit_bandwidth)

    def stubs_of(self, transit: str) -> None:
        """The stub domains of one transit node, placed round it."""
        spec = self.spec
        home = next(node for node in self.graph.nodes if node.id == transit)
        for _ in range(self.size(spec.stubs_per_transit_node)):
            places = points(self.size(spec.stub_nodes), spec.stub_scale, self.draw)
            edges = connected_graph(places, spec.stub_edges, spec.stub_scale, self.draw)
            angle = self.draw.unit() * 2 * math.pi
            x = home.x + spec.scale * math.cos(angle) - spec.stub_scale / 2
            y = home.y + spec.scale * math.sin(angle) - spec.stub_scale / 2
            first = sum(len(stub.nodes) for stub in self.stubs)
            stub = _Domain(f"stub-{len(self.stubs)}", [f"s{first + k}" for k in range(len(places))], transit)
            self.place(stub, places, (x, y))
            self.inside(stub, edges, "stub", spec.latency.stub, spec.stub_bandwidth)
            gate = self.draw.choice(stub.nodes)
            self.link(transit, gate, "transit-stub", spec.latency.transit_stub, spec.stub_bandwidth)
            self.stubs.append(stub)

    def place(self, domain: _Domain, places: list[Point], origin: Point) -> None:
        for id, (x, y) in zip(domain.nodes, places, strict=True):
            self.graph.switch(id, domain.name, origin[0] + x, origin[1] + y)

    def inside(
        self, domain: _Domain, edges: list[tuple[int, int]], tier: str, latency: Range, bandwidth: int
    ) -> None:
        for i, j in edges:
            self.link(domain.nodes[i], domain.nodes[j], tier, latency, bandwidth)

    def extra_links(self) -> None:
        spec = self.spec
        backbone = [node for domain in self.transits for node in domain.nodes]
        for _ in range(spec.extra_transit_stub):
            stub = self.draw.choice(self.stubs)
            ends = self.draw.choice(backbone), self.draw.choice(stub.nodes)
            self.link(*ends, "transit-stub", spec.latency.transit_stub, spec.stub_bandwidth)
        for _ in range(spec.extra_stub_stub if len(self.stubs) > 1 else 0):
            one, other = self.draw.sample(self.stubs, 2)
            ends = self.draw.choice(one.nodes), self.draw.choice(other.nodes)
            self.link(*ends, "stub-stub", spec.latency.stub_stub, spec.stub_bandwidth)

    def link(self, a: str, b: str, tier: str, latency: Range, bandwidth: int) -> None:
        """One link; a second one between the same two nodes is not made."""
        us = drawn(latency, self.draw)
        if (a, b) not in self.linked and (b, a) not in self.linked:
            self.linked.add((a, b))
            link = Link(f"{a}-{b}", a, b, latency_us=us, bandwidth_bps=bandwidth, tier=tier)
            self.graph.links.append(link)


def add_penalties(links: list[Link]) -> None:
    """Penalties from upper bounds of the ways across: the sum of a tier's latencies is never too small.

    With C the way across the backbone, D across a stub and L the slowest transit-stub link, a path that keeps
    to the hierarchy costs at most 2 D + 2 (up + L) + C. Every other path takes two more transit-stub links,
    or a stub-stub link that is not its only one between domains; both cost more.
    """
    total = {
        tier: sum(link.latency_us + 1 for link in links if link.tier == tier)
        for tier in ("transit", "transit-transit", "stub")
    }
    crossings = sum(link.tier == "transit-transit" for link in links)
    between = total["transit"] // 2 + 1
    backbone = total["transit"] + total["transit-transit"] + crossings * between
    slowest = max((link.latency_us for link in links if link.tier == "transit-stub"), default=0)
    up = total["stub"] + slowest + backbone // 2 + 1
    across = 2 * total["stub"] + 2 * slowest + backbone + up + 1
    penalty = {"transit-transit": between, "transit-stub": up, "stub-stub": across}
    for link in links:
        link.penalty_us = penalty.get(link.tier, 0)
