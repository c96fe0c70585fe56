"""A picture of the network and the overlay, with latencies.

Left the network: routers and hosts where a force layout puts them; sites of an RTT matrix where scaling of
the round trips does, so that near sites are drawn near. Right the overlay as a tree from its centre. Links
are coloured by one-way latency, and labelled while there is room.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from testbed.topology.paths import Routing
from testbed.topology.plan import Network, Plan
from testbed.topology.show.layout import Array, graph_distances, scaled, spread
from testbed.topology.show.summary import longest_path, neighbours_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Places = dict[str, tuple[float, float]]
Drawn = list[tuple[str, str, int]]  # two ends and the one-way latency in microseconds

LABELLED_LINKS = 70
LABELLED_NODES = 140
FORCE_LIMIT = 400  # nodes; above, the generator's own coordinates are used


def draw(plan: Plan, out: Path) -> None:
    """Write the picture; the suffix says the format (.svg, .png, .pdf)."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = plan.name  # the same plan gives the same file
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(18, 9), layout="constrained")
    draw_network(left, plan)
    draw_overlay(right, plan)
    figure.savefig(out, metadata={"Date": None} if out.suffix == ".svg" else None, dpi=100)
    pyplot.close(figure)


def draw_network(axes: Axes, plan: Plan) -> None:
    network = plan.network
    places = network_places(network)
    links = [(link.a, link.b, link.latency_us) for link in network.links]
    if network.pairs:
        links = []  # a star of zero latencies says nothing; distance shows the round trips
    hosts = [node.id for node in network.nodes if node.kind == "host"]
    switches = [node.id for node in network.nodes if node.kind == "switch" and not network.pairs]
    shared = _links(axes, places, [link for link in links if link[2] > 0])
    _lines(axes, places, [link for link in links if link[2] == 0], "#cccccc")
    domains = {node.id: node.domain for node in network.nodes}
    _nodes(axes, places, switches, domains, "o", 60 if len(switches) < 300 else 6)
    _nodes(axes, places, hosts, domains, "s", 90 if len(hosts) < 150 else 20)
    labels = host_labels(plan)
    if len(hosts) + len(switches) <= LABELLED_NODES:
        labels |= {switch: switch for switch in switches}
    _labels(axes, places, labels)
    title = "sites, distance as round trip" if network.pairs else "network, routers round, hosts square"
    _finish(axes, f"{plan.name}: {title}", shared)


def host_labels(plan: Plan) -> dict[str, str]:
    """The first broker of each host, and how many more there are."""
    brokers: dict[str, list[str]] = {}
    for broker in plan.brokers:
        brokers.setdefault(broker.node, []).append(broker.id)
    return {host: ids[0] if len(ids) == 1 else f"{ids[0]} +{len(ids) - 1}" for host, ids in brokers.items()}


def draw_overlay(axes: Axes, plan: Plan) -> None:
    ids = [broker.id for broker in plan.brokers]
    node_of = {broker.id: broker.node for broker in plan.brokers}
    domain_of = {node.id: node.domain for node in plan.network.nodes}
    routing = Routing(plan.network)
    links = [(link.a, link.b, routing.one_way_us(node_of[link.a], node_of[link.b])) for link in plan.overlay]
    places = overlay_places(plan)
    shared = _links(axes, places, links)
    domains = {id: domain_of[node_of[id]] for id in ids}
    _nodes(axes, places, ids, domains, "o", 500 if len(ids) <= 40 else 150 if len(ids) <= 150 else 10)
    _labels(axes, places, {id: id for id in ids} if len(ids) <= LABELLED_NODES else {}, centred=True)
    _finish(axes, "overlay: brokers and one-way latency of their links (ms)", shared)


def network_places(network: Network) -> Places:
    if network.pairs:
        return scaled_sites(network)
    drawn = {(node.x, node.y) for node in network.nodes}
    if len(network.nodes) > FORCE_LIMIT or len(drawn) == len(network.nodes) > 1:
        return {node.id: (node.x, node.y) for node in network.nodes}
    number = {node.id: i for i, node in enumerate(network.nodes)}
    edges = [
        (number[link.a], number[link.b], 0.6 if link.tier == "access" else 1.0) for link in network.links
    ]
    return placed(list(number), spread(graph_distances(len(number), edges)))


def scaled_sites(network: Network) -> Places:
    """Sites whose distances resemble their round trips."""
    hosts = [node.id for node in network.nodes if node.kind == "host"]
    number = {host: i for i, host in enumerate(hosts)}
    distance = numpy.zeros((len(hosts), len(hosts)))
    for pair in network.pairs:
        distance[number[pair.a], number[pair.b]] += pair.latency_us
        distance[number[pair.b], number[pair.a]] += pair.latency_us
    places = placed(hosts, scaled(distance))
    return places | {node.id: (0.0, 0.0) for node in network.nodes if node.kind == "switch"}


def placed(ids: list[str], flat: Array) -> Places:
    return {id: (float(flat[i, 0]), float(flat[i, 1])) for i, id in enumerate(ids)}


def overlay_places(plan: Plan) -> Places:
    """Rings round the middle of the longest path; every broker in the sector of its subtree."""
    ids = [broker.id for broker in plan.brokers]
    neighbours = neighbours_of(ids, plan.overlay)
    path = longest_path(ids, plan.overlay)
    places: Places = {}
    for start in [path[len(path) // 2] if path else "", *ids]:
        if start and start not in places:
            _sector(start, neighbours, (len(places) * 0.02, 0.0), places)
    return places


def _sector(root: str, neighbours: dict[str, list[str]], centre: tuple[float, float], places: Places) -> None:
    parent, order = {root: root}, [root]
    for id in order:
        for other in neighbours[id]:
            if other not in parent:
                parent[other] = id
                order.append(other)
    leaves = dict.fromkeys(order, 0)
    for id in reversed(order):
        leaves[id] = leaves[id] or 1
        if id != root:
            leaves[parent[id]] += leaves[id]
    spans = {root: (0.0, 2 * math.pi)}
    depth = {root: 0}
    used: dict[str, float] = {}
    places[root] = centre
    for id in order[1:]:
        above = parent[id]
        low, high = spans[above]
        begin = used.get(above, low)
        end = begin + (high - low) * leaves[id] / leaves[above]
        used[above], spans[id], depth[id] = end, (begin, end), depth[above] + 1
        angle = (begin + end) / 2
        places[id] = (centre[0] + depth[id] * math.cos(angle), centre[1] + depth[id] * math.sin(angle))


def _links(axes: Axes, places: Places, links: Drawn) -> Any:
    """Coloured lines; returns what a colour bar needs, None when all are alike."""
    if not links:
        return None
    from matplotlib.collections import LineCollection

    lines = LineCollection(
        [(places[a], places[b]) for a, b, _ in links], cmap="viridis_r", linewidths=1.6, zorder=1, alpha=0.85
    )
    values = [us / 1000 for _, _, us in links]
    lines.set_array(numpy.array(values))
    lines.set_clim(0, max(values) or 1)
    axes.add_collection(lines)
    if len(links) <= LABELLED_LINKS:
        for a, b, us in links:
            x, y = ((places[a][k] + places[b][k]) / 2 for k in (0, 1))
            box = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.75}
            axes.text(x, y, f"{us / 1000:.3g}", fontsize=7, ha="center", va="center", zorder=4, bbox=box)
    return lines


def _lines(axes: Axes, places: Places, links: Drawn, colour: str) -> None:
    from matplotlib.collections import LineCollection

    segments = [(places[a], places[b]) for a, b, _ in links]
    axes.add_collection(LineCollection(segments, colors=colour, linewidths=1.0, zorder=0))


def _nodes(
    axes: Axes, places: Places, ids: list[str], domains: dict[str, str], marker: str, size: float
) -> None:
    from matplotlib import colormaps

    known = sorted({domain for domain in domains.values() if domain})
    colours = colormaps["tab20"].colors  # type: ignore[attr-defined]
    pale = [tuple(0.45 * part + 0.55 for part in colour) for colour in colours]  # labels stay readable
    colour_of = {domain: pale[i % len(pale)] for i, domain in enumerate(known)}
    axes.scatter(
        [places[id][0] for id in ids],
        [places[id][1] for id in ids],
        s=size,
        marker=marker,
        c=[colour_of.get(domains[id], "#9ecae1") for id in ids],
        edgecolors="#333333",
        linewidths=0.6,
        zorder=3,
    )


def _labels(axes: Axes, places: Places, labels: dict[str, str], centred: bool = False) -> None:
    for id, text in labels.items():
        if text:
            offset = (0, 0) if centred else (5, 5)
            axes.annotate(
                text,
                places[id],
                xytext=offset,
                textcoords="offset points",
                fontsize=7,
                zorder=5,
                ha="center" if centred else "left",
                va="center" if centred else "bottom",
            )


def _finish(axes: Axes, title: str, shared: Any) -> None:
    axes.set_title(title, fontsize=11)
    axes.set_aspect("equal", adjustable="datalim")
    axes.autoscale_view()
    axes.set_axis_off()
    if shared is not None:
        figure = axes.get_figure()
        assert figure is not None
        figure.colorbar(shared, ax=axes, shrink=0.5, label="one-way latency (ms)")
