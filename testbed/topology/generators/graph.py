"""What a generator makes: routers, links, and the places where processes can be put."""

from __future__ import annotations

from dataclasses import dataclass, field

from testbed.topology.file.quantities import Range
from testbed.topology.file.schema.network import LinkQuality
from testbed.topology.plan import Link, Node, PairLatency
from testbed.topology.seeding import Draw


@dataclass
class Graph:
    """A network without addresses. `sites` are hosts, or routers to put hosts at, in placement order."""

    nodes: list[Node] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    pairs: list[PairLatency] = field(default_factory=list)
    sites: list[str] = field(default_factory=list)

    def switch(self, id: str, domain: str = "", x: float = 0.0, y: float = 0.0) -> str:
        self.nodes.append(Node(id, "switch", domain=domain, x=round(x, 3), y=round(y, 3)))
        return id

    def host(self, id: str, domain: str = "", x: float = 0.0, y: float = 0.0) -> str:
        self.nodes.append(Node(id, "host", domain=domain, x=round(x, 3), y=round(y, 3)))
        return id


def drawn(latency: Range, draw: Draw) -> int:
    """A latency of the range; a range of one value draws nothing."""
    return latency.low if latency.low == latency.high else draw.between(latency.low, latency.high)


def quality_link(a: str, b: str, quality: LinkQuality, draw: Draw, tier: str = "", id: str = "") -> Link:
    return Link(
        id=id or f"{a}-{b}",
        a=a,
        b=b,
        latency_us=drawn(quality.latency, draw),
        jitter_us=quality.jitter,
        loss=quality.loss,
        bandwidth_bps=quality.bandwidth,
        queue_packets=quality.queue,
        tier=tier,
    )
