"""The overlay: links between brokers, and whether they form what the file says."""

from __future__ import annotations

from pathlib import Path

from broker_grpc.registry import registry
from testbed.topology.file.schema import TopologyFile
from testbed.topology.file.schema.overlay import OverlaySpec
from testbed.topology.generators.nearest import nearest_tree
from testbed.topology.generators.regular import tree_edges
from testbed.topology.generators.uniform_tree import uniform_tree
from testbed.topology.paths import NoPath, Routing
from testbed.topology.plan import Broker, Network, OverlayLink
from testbed.topology.resolve.brokers import BrokerDraft
from testbed.topology.resolve.network import Sites, components
from testbed.topology.resolve.report import Report
from testbed.topology.seeding import Draw

Edge = tuple[str, str]


def build_overlay(
    file: TopologyFile,
    drafts: list[BrokerDraft],
    brokers: list[Broker],
    sites: Sites,
    folder: Path,
    report: Report,
) -> list[OverlayLink]:
    """All overlay links; the first end dials the second, or both dial if the file says so."""
    ids = [draft.id for draft in drafts]
    edges = (
        _named(drafts, report)
        + _listed(file.overlay, ids, report)
        + _filed(file.overlay, ids, folder, report)
    )
    generator = file.overlay.generator
    if generator is None and not edges and file.overlay.links is None and not file.overlay.file:
        generator = "tree"
    if generator == "nearest":
        edges += _nearest(brokers, sites)
    elif generator is not None:
        edges += generated(generator, ids, file.overlay, Draw(file.seed, "overlay"))
    edges = _without_doubles(edges)
    if len(set(ids)) == len(ids):  # else that is told, and what follows from it is not
        check_overlay(ids, edges, file.overlay, generator, cycles_allowed(file.overlay, brokers), report)
    return [OverlayLink(a, b, "both" if file.overlay.dial == "both" else "a") for a, b in edges]


def _named(drafts: list[BrokerDraft], report: Report) -> list[Edge]:
    """Links from `neighbours`, of groups and of single brokers."""
    ids = {draft.id for draft in drafts}
    edges = []
    for draft in drafts:
        own = ((*draft.path, "items", draft.id), draft.item.neighbours)
        for path, neighbours in ((draft.path, draft.spec.neighbours), own):
            for k, other in enumerate(neighbours):
                where = (*path, "neighbours", k)
                if other == draft.id:
                    report.add(where, f"{other} is its own neighbour", "name another broker")
                elif other not in ids:
                    report.unknown(where, "broker", other, ids)
                else:
                    edges.append((draft.id, other))
    return edges


def _listed(spec: OverlaySpec, ids: list[str], report: Report) -> list[Edge]:
    known = set(ids)
    edges = []
    for i, (a, b) in enumerate(spec.links or []):
        path = ("overlay", "links", i)
        for k, end in enumerate((a, b)):
            if end not in known:
                report.unknown((*path, k), "broker", end, ids)
        if a == b:
            report.add(path, f"an overlay link from {a!r} to itself", "name two different brokers")
        elif a in known and b in known:
            edges.append((a, b))
    return edges


MAX_FILE_BYTES = 8_000_000


def _filed(spec: OverlaySpec, ids: list[str], folder: Path, report: Report) -> list[Edge]:
    """Links of the file that `overlay` names; its mistakes are told with their lines."""
    if not spec.file:
        return []
    path, known, edges = folder / spec.file, set(ids), []
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise OSError(f"more than {MAX_FILE_BYTES} bytes")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        report.add(("overlay", "file"), f"no file of overlay links: {error}", "two broker ids per line")
        return []
    for number, line in enumerate(lines, start=1):
        words = line.partition("#")[0].replace(",", " ").split()
        if words and (len(words) != 2 or words[0] == words[1]):
            text = f"{spec.file}:{number}: {line.strip()[:60]!r} is no overlay link"
            report.add(("overlay", "file"), text, "write two different broker ids")
        elif words and not known.issuperset(words):
            stranger = next(word for word in words if word not in known)
            report.unknown(("overlay", "file"), f"broker (line {number} of {spec.file})", stranger, ids)
        elif words:
            edges.append((words[0], words[1]))
    return edges


def _nearest(brokers: list[Broker], sites: Sites) -> list[Edge]:
    """The tree of least latency; a chain where the network (refused anyway) is in parts."""
    graph = sites.graph
    routing = Routing(Network(graph.nodes, graph.links, graph.pairs))
    try:
        pairs = nearest_tree(len(brokers), lambda a, b: routing.rtt_us(brokers[a].node, brokers[b].node))
    except NoPath:
        pairs = [(i, i - 1) for i in range(1, len(brokers))]
    return [(brokers[a].id, brokers[b].id) for a, b in pairs]


def generated(generator: str, ids: list[str], spec: OverlaySpec, draw: Draw) -> list[Edge]:
    """Edges over all brokers in file order; later brokers dial earlier ones."""
    n = len(ids)
    pairs: list[tuple[int, int]] = []
    if generator == "tree":
        pairs = [(child, parent) for parent, child in tree_edges(n, spec.fanout)]
    elif generator == "chain":
        pairs = [(i, i - 1) for i in range(1, n)]
    elif generator == "star":
        pairs = [(i, 0) for i in range(1, n)]
    elif generator == "ring":
        pairs = [(i, i - 1) for i in range(1, n)] + ([(0, n - 1)] if n > 2 else [])
    elif generator == "mesh":
        pairs = [(j, i) for i in range(n) for j in range(i + 1, n)]
    elif generator == "random":
        pairs = _random_tree(n, spec.degree, draw)
    elif generator == "uniform":
        pairs = uniform_tree(n, draw)
    return [(ids[a], ids[b]) for a, b in pairs]


def _random_tree(n: int, degree: int, draw: Draw) -> list[tuple[int, int]]:
    """Each broker dials an earlier one of a random order, drawn among those with room."""
    order = draw.shuffled(range(n))
    room = dict.fromkeys(order[:1], degree or n)
    pairs = []
    for node in order[1:]:
        parent = draw.choice([other for other in room if room[other] > 0])
        room[parent] -= 1
        room[node] = max((degree or n) - 1, 1)
        pairs.append((node, parent))
    return pairs


def _without_doubles(edges: list[Edge]) -> list[Edge]:
    """A link named on both sides is one link: the first mention dials."""
    seen: set[frozenset[str]] = set()
    out = []
    for a, b in edges:
        if frozenset((a, b)) not in seen:
            seen.add(frozenset((a, b)))
            out.append((a, b))
    return out


def cycles_allowed(spec: OverlaySpec, brokers: list[Broker]) -> bool:
    """As the file says; where it says nothing, if no broker's protocol needs a tree."""
    if "cycles" in spec.model_fields_set:
        return spec.cycles == "allow"
    return all(registry().overlay(broker.algorithm) == "any" for broker in brokers)


def check_overlay(
    ids: list[str], edges: list[Edge], spec: OverlaySpec, generator: str | None, cycles: bool, report: Report
) -> None:
    path = ("overlay",)
    if not cycles:
        cycle = find_cycle(ids, edges)
        if cycle:
            text = " - ".join([*cycle[:12], "..."] if len(cycle) > 12 else [*cycle, cycle[0]])
            hint = "remove one of these links, or `cycles: allow` if the algorithm does not need a tree"
            report.add((*path, "links"), f"the overlay has a cycle: {text}", hint, key=True)
    parts = components(ids, edges) if ids else []
    if spec.connected and len(parts) > 1 and generator != "none":
        hint = f"link it to {parts[0][0]}, or `connected: false`"
        message = (
            f"the overlay is in {len(parts)} parts; {', '.join(parts[1][:5])} cannot reach {parts[0][0]}"
        )
        report.add(path, message, hint, key=True)


def find_cycle(ids: list[str], edges: list[Edge]) -> list[str] | None:
    """The brokers of one cycle in order, or None. Adds edge after edge to a forest."""
    neighbours: dict[str, list[str]] = {id: [] for id in ids}
    root = {id: id for id in ids}

    def find(id: str) -> str:
        while root[id] != id:
            root[id] = root[root[id]]
            id = root[id]
        return id

    for a, b in edges:
        if find(a) == find(b):
            return _path(neighbours, a, b)
        root[find(a)] = find(b)
        neighbours[a].append(b)
        neighbours[b].append(a)
    return None


def _path(neighbours: dict[str, list[str]], a: str, b: str) -> list[str]:
    came: dict[str, str] = {a: a}
    queue = [a]
    for node in queue:
        for other in neighbours[node]:
            if other not in came:
                came[other] = node
                queue.append(other)
    path = [b]
    while path[-1] != a:
        path.append(came[path[-1]])
    return path
