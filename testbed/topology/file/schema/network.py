"""`network`: nodes and links, or a generator that makes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from testbed.topology.file.quantities import Bandwidth, Fraction, Latency, LatencyRange, given
from testbed.topology.file.schema.base import Count, Id, NodeId, Section, Whole


class LinkQuality(Section):
    """How a link treats packets, in each direction."""

    latency: LatencyRange = Field(
        default=given("0ms"), description="one-way latency; a range is drawn per link"
    )
    jitter: Latency = Field(
        default=given("0ms"), description="largest deviation from the latency, drawn uniformly; order is kept"
    )
    loss: Fraction = Field(default=given("0%"), description="share of packets lost")
    bandwidth: Bandwidth = Field(default=0, description="capacity; 0 is unlimited")
    queue: Whole = Field(
        default=0, description="queue length in packets; 0 sizes it from bandwidth x latency"
    )


class NodeSpec(Section):
    """A node of the network."""

    kind: Literal["host", "switch"] = Field(
        default="host", description="hosts run processes, switches forward"
    )
    address: str = Field(default="", description="IPv4 address of a host in 10.0.0.0/8; given out when empty")
    domain: str = Field(default="", description="a name to group nodes by, for pictures and placement")


class LinkSpec(LinkQuality):
    """A network link."""

    between: list[NodeId] = Field(min_length=2, max_length=2, description="the two ends")
    id: Id = Field(default="", validate_default=False, description="name for events; a-b when empty")


class ExplicitNetwork(Section):
    """Nodes and links written out."""

    nodes: dict[NodeId, NodeSpec | None] = Field(min_length=1, description="node id: its kind and place")
    links: list[LinkSpec] = Field(default=[], description="links between nodes; a host has exactly one")


class Generated(Section):
    """What all generators share."""

    access: LinkQuality = Field(
        default=LinkQuality(),
        description="the link from a router to the host that is put there for a process",
    )


class LinkedGenerator(Generated):
    """Generators whose links are all of one class."""

    link: LinkQuality = Field(default=LinkQuality(latency=given("10ms")), description="the links")


class ChainNetwork(LinkedGenerator):
    """Routers r1 - r2 - ... in a row."""

    generator: Literal["chain"]
    nodes: Count = Field(description="number of routers")


class StarNetwork(LinkedGenerator):
    """Hosts h1, h2, ... around one switch: a cluster on one LAN."""

    generator: Literal["star"]
    nodes: Count = Field(description="number of hosts")


class RingNetwork(LinkedGenerator):
    """Routers r1, r2, ... in a ring."""

    generator: Literal["ring"]
    nodes: Annotated[Count, Field(ge=3)] = Field(description="number of routers")


class MeshNetwork(LinkedGenerator):
    """Routers r1, r2, ..., each linked to every other."""

    generator: Literal["mesh"]
    nodes: Annotated[Count, Field(le=200)] = Field(description="number of routers")


class TreeNetwork(LinkedGenerator):
    """Routers in a balanced tree, filled breadth first."""

    generator: Literal["tree"]
    nodes: Count = Field(description="number of routers")
    fanout: Count = Field(default=2, description="children per router")


EdgeMethod = Literal["waxman1", "waxman2", "random", "exponential", "doar_leslie", "locality"]


class EdgeModel(Section):
    """How the edges of a random graph are drawn (GT-ITM's six edge methods)."""

    method: EdgeMethod = Field(default="random", description="the edge probability's form")
    alpha: Fraction = Field(default=0.5, description="probability scale; the probability itself for `random`")
    beta: Annotated[float, Field(gt=0, le=100)] = Field(
        default=0.2, description="reach of an edge (Waxman, Doar-Leslie); probability beyond gamma (locality)"
    )
    gamma: Annotated[float, Field(gt=0, le=100)] = Field(
        default=0.5, description="mean degree scale (Doar-Leslie); radius as share of the diameter (locality)"
    )


class TransitStubLatencies(Section):
    """Latency ranges per link class. The defaults are a choice of this project, checked against PlanetLab."""

    transit_transit: LatencyRange = Field(
        default=given(["20ms", "100ms"]), description="between transit domains"
    )
    transit: LatencyRange = Field(default=given(["5ms", "20ms"]), description="inside a transit domain")
    transit_stub: LatencyRange = Field(
        default=given(["5ms", "20ms"]), description="stub domain to its transit node"
    )
    stub: LatencyRange = Field(default=given(["1ms", "5ms"]), description="inside a stub domain")
    stub_stub: LatencyRange = Field(
        default=given(["5ms", "20ms"]), description="extra links between stub domains"
    )


class TransitStubNetwork(Generated):
    """Transit-stub after GT-ITM (Zegura, Calvert, Bhattacharjee, INFOCOM 1996)."""

    generator: Literal["transit_stub"]
    transit_domains: Count = Field(default=1, description="T: transit domains")
    transit_nodes: Count = Field(default=4, description="Nt: mean number of nodes of a transit domain")
    stubs_per_transit_node: Count = Field(
        default=3, description="S: mean number of stub domains per transit node"
    )
    stub_nodes: Count = Field(default=8, description="Ns: mean number of nodes of a stub domain")
    extra_transit_stub: Whole = Field(default=0, description="further edges from transit nodes to stub nodes")
    extra_stub_stub: Whole = Field(default=0, description="further edges between nodes of different stubs")
    vary_sizes: bool = Field(default=False, description="draw sizes around the means, as GT-ITM does")
    top_edges: EdgeModel = Field(default=EdgeModel(alpha=1.0), description="edges between transit domains")
    transit_edges: EdgeModel = Field(default=EdgeModel(alpha=0.6), description="edges in a transit domain")
    stub_edges: EdgeModel = Field(default=EdgeModel(alpha=0.42), description="edges in a stub domain")
    latency: TransitStubLatencies = Field(default=TransitStubLatencies(), description="by link class")
    transit_bandwidth: Bandwidth = Field(default=0, description="links that touch no stub; 0 is unlimited")
    stub_bandwidth: Bandwidth = Field(default=0, description="links that touch a stub; 0 is unlimited")
    scale: Annotated[float, Field(gt=0)] = Field(
        default=20.0, description="side of the plane of transit domains"
    )
    stub_scale: Annotated[float, Field(gt=0)] = Field(default=10.0, description="side of the plane of a stub")


class WaxmanLevel(Section):
    """One level of the top-down model."""

    nodes: Count = Field(default=100, description="domains, or routers per domain")
    links_per_node: Count = Field(default=2, description="m: links a new node brings")
    alpha: Annotated[float, Field(gt=0, le=1)] = Field(default=0.15, description="Waxman's alpha")
    beta: Annotated[float, Field(gt=0, le=1)] = Field(default=0.2, description="Waxman's beta")


class WaxmanNetwork(Generated):
    """Top-down hierarchical Waxman graph, as BRITE draws it: domains, then routers inside each."""

    generator: Literal["waxman"]
    domains: WaxmanLevel = Field(default=WaxmanLevel(), description="the graph of domains")
    routers: WaxmanLevel = Field(default=WaxmanLevel(), description="the graph of routers in a domain")
    plane: Annotated[float, Field(gt=0)] = Field(default=1000.0, description="HS: side of the plane")
    latency_per_unit: Latency = Field(
        default=given("5us"), description="one-way latency per unit of distance on the plane"
    )


class PlanetLabNetwork(Generated):
    """Sites with PlanetLab-like round trips: four regions, quantiles of a 490-node measurement."""

    generator: Literal["planetlab"]
    sites: Annotated[int, Field(ge=2, le=1000)] = Field(description="number of sites, one host each")


class RttMatrixNetwork(Generated):
    """Sites whose round trips are given pair by pair; each is emulated exactly, triangle violations too."""

    generator: Literal["rtt_matrix"]
    matrix: str = Field(default="", description="rows of round trips in ms, one line per site")
    file: str = Field(
        default="", description="a file with the matrix, relative to this one, instead of `matrix`"
    )
    sites: Annotated[int, Field(ge=0, le=1000)] = Field(
        default=0, description="draw this many of the matrix's sites (seeded); 0 takes all in order"
    )


class MininetNetwork(Section):
    """The network is a Mininet `Topo` class of yours."""

    mininet: str = Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$", description="module:Class, importable")
    access: LinkQuality = Field(
        default=LinkQuality(), description="links to hosts added beside the class's own"
    )


def _form(value: Any) -> str | None:
    """Which model reads this mapping; None lets pydantic report the known tags."""
    if not isinstance(value, dict):
        return str(
            getattr(value, "generator", "mininet" if isinstance(value, MininetNetwork) else "explicit")
        )
    if "generator" in value:
        return value["generator"] if isinstance(value["generator"], str) else None
    return "mininet" if "mininet" in value else "explicit"


NetworkSpec = Annotated[
    Annotated[ExplicitNetwork, Tag("explicit")]
    | Annotated[ChainNetwork, Tag("chain")]
    | Annotated[StarNetwork, Tag("star")]
    | Annotated[RingNetwork, Tag("ring")]
    | Annotated[MeshNetwork, Tag("mesh")]
    | Annotated[TreeNetwork, Tag("tree")]
    | Annotated[TransitStubNetwork, Tag("transit_stub")]
    | Annotated[WaxmanNetwork, Tag("waxman")]
    | Annotated[PlanetLabNetwork, Tag("planetlab")]
    | Annotated[RttMatrixNetwork, Tag("rtt_matrix")]
    | Annotated[MininetNetwork, Tag("mininet")],
    Discriminator(_form),
]
