"""The network: written out or generated, checked, with hosts put at routers where processes go."""

from __future__ import annotations

import fnmatch
import ipaddress
from collections.abc import Callable
from pathlib import Path
from typing import Any

from testbed.topology.file.schema.base import node_problem
from testbed.topology.file.schema.network import (
    ExplicitNetwork,
    LinkQuality,
    MininetNetwork,
    NodeSpec,
    RttMatrixNetwork,
)
from testbed.topology.generators import regular
from testbed.topology.generators.graph import Graph, quality_link
from testbed.topology.generators.mininet_topo import mininet_graph
from testbed.topology.generators.planetlab import planetlab
from testbed.topology.generators.rtt_matrix import (
    BadMatrix,
    drawn_sites,
    matrix_graph,
    parse_matrix,
    submatrix,
)
from testbed.topology.generators.transit_stub import transit_stub
from testbed.topology.generators.waxman import waxman
from testbed.topology.plan import Link, Network, Node
from testbed.topology.resolve.report import Report
from testbed.topology.seeding import Draw

ADDRESSES = ipaddress.ip_network("10.0.0.0/8")
INTERFACE_LIMIT = 15
MAX_MATRIX_SITES = 500  # n(n-1) shaped paths: a quarter of a million
MAX_MATRIX_BYTES = 50_000_000


class Sites:
    """The network as it grows: hosts are put at routers when something is placed there."""

    def __init__(self, graph: Graph, access: LinkQuality, seed: int, mininet: str = "") -> None:
        self.graph = graph
        self.access = access
        self.mininet = mininet
        self.nodes = {node.id: node for node in graph.nodes}
        self._draw = Draw(seed, "access links")
        self._host_at: dict[str, str] = {}

    def host_at(self, site: str) -> str:
        """The host of a site: itself, or one attached to that router (made at the first call)."""
        node = self.nodes[site]
        if node.kind == "host":
            return site
        if site not in self._host_at:
            host = Node(f"h{site}", "host", domain=node.domain, x=node.x, y=node.y)
            self._host_at[site] = host.id
            self.nodes[host.id] = host
            self.graph.nodes.append(host)
            self.graph.links.append(quality_link(site, host.id, self.access, self._draw, "access"))
        return self._host_at[site]

    def matching(self, patterns: list[str]) -> list[str]:
        """Sites whose id or domain matches a pattern, in placement order; named nodes need be no site."""
        named = [p for p in patterns if p in self.nodes and p not in self.graph.sites]
        fits = [site for site in self.graph.sites if self._fits(site, patterns)]
        return fits + named

    def _fits(self, site: str, patterns: list[str]) -> bool:
        names = (site, self.nodes[site].domain)
        return any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in patterns)

    def network(self, report: Report) -> Network:
        """The finished network, with addresses; checks what only the whole shows."""
        give_addresses(self.graph.nodes, report)
        check_interfaces(self.graph, report)
        return Network(self.graph.nodes, self.graph.links, self.graph.pairs, self.mininet)


def build_sites(spec: Any, seed: int, folder: Path, report: Report) -> Sites:
    """Sites of the file's network section; problems go to the report."""
    if isinstance(spec, ExplicitNetwork):
        graph = explicit(spec, seed, report)
        sites = Sites(graph, LinkQuality(), seed)
    elif isinstance(spec, MininetNetwork):
        sites = Sites(mininet_graph(spec, folder, report), spec.access, seed, spec.mininet)
    else:
        graph = generate(spec, seed, folder, report)
        sites = Sites(graph, spec.access, seed)
    check_connected(sites.graph, report)
    return sites


GENERATORS: dict[str, Callable[[Any, Draw], Graph]] = {
    "chain": regular.chain,
    "star": regular.star,
    "ring": regular.ring,
    "mesh": regular.mesh,
    "tree": regular.tree,
    "transit_stub": transit_stub,
    "waxman": waxman,
    "planetlab": planetlab,
}


def generate(spec: Any, seed: int, folder: Path, report: Report) -> Graph:
    draw = Draw(seed, "network", spec.generator)
    if spec.generator == "rtt_matrix":
        return given_matrix(spec, draw, folder, report)
    return GENERATORS[spec.generator](spec, draw)


def given_matrix(spec: RttMatrixNetwork, draw: Draw, folder: Path, report: Report) -> Graph:
    """The matrix of the file, or of the file it names."""
    key = "file" if spec.file else "matrix"
    path = ("network", key)
    if bool(spec.file) == bool(spec.matrix):
        report.add(
            path, "rtt_matrix needs a matrix or a file, one of the two", "write `matrix: |` or `file:`"
        )
        return Graph()
    try:
        matrix = parse_matrix(read_text(folder / spec.file) if spec.file else spec.matrix)
    except (OSError, UnicodeDecodeError, BadMatrix) as error:
        report.add(path, f"no matrix of round trips: {error}", "n lines of n round trips in ms")
        return Graph()
    if spec.sites > len(matrix):
        report.add(("network", "sites"), f"the matrix has only {len(matrix)} sites", "ask for fewer")
    elif len(matrix) > MAX_MATRIX_SITES and not spec.sites:
        hint = f"draw at most {MAX_MATRIX_SITES} with `sites`"
        report.add(path, f"a matrix of {len(matrix)} sites is too large to emulate", hint)
        return Graph()
    chosen = drawn_sites(len(matrix), spec.sites, draw) if spec.sites else list(range(len(matrix)))
    return matrix_graph(submatrix(matrix, chosen), spec.access, draw)


def read_text(path: Path) -> str:
    if path.stat().st_size > MAX_MATRIX_BYTES:
        raise BadMatrix(f"the file has more than {MAX_MATRIX_BYTES} bytes")
    return path.read_text(encoding="utf-8")


def explicit(spec: ExplicitNetwork, seed: int, report: Report) -> Graph:
    """Nodes and links as written; sites are the hosts, or all nodes when there are none."""
    graph = Graph()
    for id, node in spec.nodes.items():
        node = node or NodeSpec()
        graph.nodes.append(Node(id, node.kind, node.address, node.domain))
    hosts = [node.id for node in graph.nodes if node.kind == "host"]
    graph.sites = hosts or [node.id for node in graph.nodes]
    draw = Draw(seed, "network", "links")
    for i, link in enumerate(spec.links):
        if _ends_ok(i, link.between, spec, report):
            a, b = link.between
            graph.links.append(quality_link(a, b, link, draw, id=link.id))
    _check_links(graph, report)
    _check_hosts(graph, report)
    return graph


def _ends_ok(index: int, ends: list[str], spec: ExplicitNetwork, report: Report) -> bool:
    path = ("network", "links", index, "between")
    good = True
    for k, end in enumerate(ends):
        if end not in spec.nodes:
            report.unknown((*path, k), "node", end, spec.nodes)
            good = False
    if ends[0] == ends[1]:
        report.add(path, f"a link from {ends[0]!r} to itself", "name two different nodes")
        good = False
    return good


def _check_links(graph: Graph, report: Report) -> None:
    ids: dict[str, int] = {}
    ends: dict[frozenset[str], int] = {}
    for i, link in enumerate(graph.links):
        path = ("network", "links", i)
        if link.id in ids:
            report.add(path, f"duplicate link id {link.id!r}", "give one of them another `id`")
        if frozenset((link.a, link.b)) in ends:
            report.add(
                path, f"a second link between {link.a} and {link.b}", "keep one; parallel links are not made"
            )
        ids[link.id] = ends[frozenset((link.a, link.b))] = i


def _check_hosts(graph: Graph, report: Report) -> None:
    """Hosts do not forward packets: one link each, to a switch."""
    kinds = {node.id: node.kind for node in graph.nodes}
    degree = degrees(graph.links)
    for node in graph.nodes:
        if node.kind == "host" and degree.get(node.id, 0) > 1:
            hint = "hosts do not forward: link the host to one switch, and the switches to each other"
            report.add(
                ("network", "nodes", node.id), f"host {node.id!r} has {degree[node.id]} links", hint, key=True
            )
    for i, link in enumerate(graph.links):
        if kinds[link.a] == kinds[link.b] == "host":
            path = ("network", "links", i, "between")
            hint = "put a node of `kind: switch` between them"
            report.add(path, f"{link.a} and {link.b} are both hosts", hint)


def degrees(links: list[Link]) -> dict[str, int]:
    out: dict[str, int] = {}
    for link in links:
        for end in (link.a, link.b):
            out[end] = out.get(end, 0) + 1
    return out


def check_connected(graph: Graph, report: Report) -> None:
    parts = components([node.id for node in graph.nodes], [(link.a, link.b) for link in graph.links])
    if len(parts) > 1:
        stray = parts[1]
        where = ("network", "nodes", stray[0])
        hint = f"link one of them to {parts[0][0]}"
        message = f"the network is in {len(parts)} parts; {', '.join(stray[:5])} cannot reach {parts[0][0]}"
        report.add(where, message, hint, key=True)


def components(nodes: list[str], edges: list[tuple[str, str]]) -> list[list[str]]:
    """Connected parts, each in node order; the part of the first node comes first."""
    neighbours: dict[str, list[str]] = {node: [] for node in nodes}
    for a, b in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    seen: set[str] = set()
    parts = []
    for start in nodes:
        if start in seen:
            continue
        part, stack = {start}, [start]
        while stack:
            for other in neighbours[stack.pop()]:
                if other not in part:
                    part.add(other)
                    stack.append(other)
        seen |= part
        parts.append([node for node in nodes if node in part] if len(part) < len(nodes) else list(nodes))
    return parts


def give_addresses(nodes: list[Node], report: Report) -> None:
    """Addresses of the file are kept; the others count up from 10.0.0.1, without .0 and .255."""
    taken: dict[str, str] = {}
    for node in nodes:
        if node.address:
            _check_address(node, taken, report)
            taken[node.address] = node.id
    number = 0
    for node in nodes:
        if node.kind == "host" and not node.address:
            while True:
                high, low = divmod(number, 254)
                number += 1
                address = f"10.{high >> 8}.{high & 255}.{low + 1}"
                if address not in taken:
                    break
            node.address = address
            taken[address] = node.id


def _check_address(node: Node, taken: dict[str, str], report: Report) -> None:
    path = ("network", "nodes", node.id, "address")
    try:
        inside = ipaddress.ip_address(node.address) in ADDRESSES
    except ValueError:
        inside = False
    if not inside:
        report.add(path, f"{node.address!r} is no address of {ADDRESSES}", "e.g. 10.0.0.1, or leave it out")
    elif node.kind == "switch":
        report.add(path, "a switch has no address", "leave it out, or make the node a host")
    elif node.address in taken:
        report.add(
            path, f"{node.address} is also the address of {taken[node.address]!r}", "give each its own"
        )


def check_interfaces(graph: Graph, report: Report) -> None:
    """node-ethN must fit the kernel's limit, for the largest N of that node."""
    degree = degrees(graph.links)
    for node in graph.nodes:
        name = f"{node.id}-eth{degree.get(node.id, 0)}"
        text = node_problem(node.id)
        if text is None and len(name) > INTERFACE_LIMIT:
            text = (
                f"node {node.id!r} would have an interface {name!r} of more than {INTERFACE_LIMIT} characters"
            )
        if text:
            report.add(("network", "nodes", node.id), text, "use a shorter id", key=True)
