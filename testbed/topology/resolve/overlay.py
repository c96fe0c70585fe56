"""The overlay: links between brokers, and whether they form what the file says."""

from __future__ import annotations

from testbed.topology.generators.regular import tree_edges
from testbed.topology.plan import OverlayLink
from testbed.topology.resolve.brokers import BrokerDraft
from testbed.topology.resolve.network import components
from testbed.topology.resolve.report import Report
from testbed.topology.schema import TopologyFile
from testbed.topology.schema.overlay import OverlaySpec
from testbed.topology.seeding import Draw

Edge = tuple[str, str]


def build_overlay(file: TopologyFile, drafts: list[BrokerDraft], report: Report) -> list[OverlayLink]:
    """All overlay links; the first end dials the second."""
    ids = [draft.id for draft in drafts]
    edges = _named(drafts, report) + _listed(file.overlay, ids, report)
    generator = file.overlay.generator
    if generator is None and not edges and file.overlay.links is None:
        generator = "tree"
    if generator is not None:
        edges += generated(generator, ids, file.overlay, Draw(file.seed, "overlay"))
    edges = _without_doubles(edges)
    check_overlay(ids, edges, file.overlay, generator, report)
    return [OverlayLink(a, b) for a, b in edges]


def _named(drafts: list[BrokerDraft], report: Report) -> list[Edge]:
    """Links from `neighbours`."""
    ids = {draft.id for draft in drafts}
    edges = []
    for draft in drafts:
        for k, other in enumerate(draft.neighbours):
            if other in ids and other != draft.id:
                edges.append((draft.id, other))
            elif other == draft.id:
                report.add(
                    (*draft.path, "neighbours", k), f"{other} is its own neighbour", "name another broker"
                )
            else:
                report.unknown((*draft.path, "neighbours", k), "broker", other, ids)
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


def check_overlay(
    ids: list[str], edges: list[Edge], spec: OverlaySpec, generator: str | None, report: Report
) -> None:
    path = ("overlay",)
    if spec.cycles == "refuse":
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
