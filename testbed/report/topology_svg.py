"""The overlay and the network of a plan as pictures that follow the page's colours.

Links are labelled with their one-way latency while there is room. Beyond that colour and thickness say which
of four ranges it lies in, with a legend; pointing at a link says it exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

import numpy as np

from testbed.report.charts import Drawn
from testbed.report.svg import text_at, wrap
from testbed.topology.paths import NoPath, Routing
from testbed.topology.plan import Plan
from testbed.topology.show.picture import host_labels, network_places, overlay_places

SIZE = 640
LABELS_UP_TO = 40  # links; more labels would only cover each other
NAMES_UP_TO = 140  # nodes
RANGES = ("var(--c6)", "var(--c3)", "var(--c5)", "var(--c2)")  # from short to long
Places = dict[str, tuple[float, float]]
Edge = tuple[str, str, float]  # ends, one-way latency in ms


def overlay_picture(plan: Plan, title: str = "Overlay: planned one-way latency of its links") -> Drawn:
    """Brokers and overlay links, each link with its planned one-way latency."""
    places = _scaled(overlay_places(plan))
    routing = Routing(plan.network)
    hosts = {broker.id: broker.node for broker in plan.brokers}
    edges = [(link.a, link.b, _latency_ms(routing, hosts[link.a], hosts[link.b])) for link in plan.overlay]
    names = {broker.id: broker.id for broker in plan.brokers}
    text = f"{len(plan.brokers)} brokers, {len(edges)} overlay links{_spread(edges)}."
    content = _edges(places, edges) + _nodes(places, names, "circle", len(names))
    return _picture(title, text, content, edges)


def network_picture(plan: Plan) -> Drawn:
    """Hosts, switches and links, each link with its one-way latency while there is room for it."""
    network = plan.network
    places = _scaled(network_places(network))
    edges = [(link.a, link.b, link.latency_us / 1e3) for link in network.links]
    switches = {node.id: node.id for node in network.nodes if node.kind == "switch"}
    labels = host_labels(plan)
    hosts = {node.id: labels.get(node.id, "") for node in network.nodes if node.kind != "switch"}
    pairs = f", {len(network.pairs)} shaped pairs" if network.pairs else ""
    shaped = [edge for edge in edges if edge[2] > 0]
    text = (
        f"{len(hosts)} hosts (round, with their brokers), {len(switches)} switches (square), "
        f"{len(edges)} links{pairs}{_spread(shaped)}."
    )
    content = _edges(places, edges) + _nodes(places, switches, "rect", len(places))
    content += _nodes(places, hosts, "circle", len(places))
    return _picture("Network: one-way latency of its links", text, content, shaped)


def _picture(title: str, text: str, content: str, edges: Sequence[Edge]) -> Drawn:
    import pandas

    legend, room = _legend(edges)
    numbers = pandas.DataFrame(edges, columns=["a", "b", "latency_ms"]) if edges else None
    headings = {"a": "from", "b": "to", "latency_ms": "one way (ms)"}
    drawing = wrap(title, text, SIZE + room, content + legend, SIZE)
    return Drawn(title, text, drawing, numbers, headings)


def _spread(edges: Sequence[Edge]) -> str:
    known = [ms for _, _, ms in edges if ms == ms]
    if not known:
        return ""
    mean = sum(known) / len(known)
    if max(known) - min(known) < 1e-9:
        return f", each {mean:.3g} ms one way"
    return f", {min(known):.3g} to {max(known):.3g} ms one way, {mean:.3g} ms on average"


def _bounds(edges: Sequence[Edge]) -> list[float]:
    """Between the four ranges: quartiles, so that each colour is used."""
    known = sorted({round(ms, 3) for _, _, ms in edges if ms == ms and ms > 0})
    return [float(b) for b in np.quantile(known, (0.25, 0.5, 0.75))] if len(known) >= 4 else []


def _range(bounds: Sequence[float], ms: float) -> int:
    return sum(ms > bound for bound in bounds)


def _edges(places: Places, edges: Sequence[Edge]) -> str:
    shaped = [edge for edge in edges if edge[2] > 0]
    labelled = len(shaped) <= LABELS_UP_TO
    bounds = [] if labelled else _bounds(edges)
    lines, labels = [], []
    for a, b, ms in edges:
        at = _range(bounds, ms)
        look = f"stroke:{RANGES[at]};stroke-width:{1.2 + 0.6 * at:.1f}" if bounds and ms > 0 else ""
        lines.append(_line(places[a], places[b], look, f"{a} to {b}: {ms:.3g} ms one way"))
        if labelled and ms > 0:
            middle = [(p + q) / 2 for p, q in zip(places[a], places[b], strict=True)]
            labels.append(text_at(middle[0], middle[1] + 4, f"{ms:.3g} ms", "tick", "middle"))
    return "".join(lines + labels)


def _legend(edges: Sequence[Edge]) -> tuple[str, int]:
    """What the colours mean, and the height it takes; nothing where links are labelled."""
    bounds = _bounds(edges) if len(edges) > LABELS_UP_TO else []
    if not bounds:
        return "", 0
    known = [ms for _, _, ms in edges if ms == ms and ms > 0]
    ends = [min(known), *bounds, max(known)]
    parts = []
    for at, colour in enumerate(RANGES):
        x = 16 + at * (SIZE - 20) / len(RANGES)
        look = f"stroke:{colour};stroke-width:{1.2 + 0.6 * at:.1f}"
        parts.append(_line((x, SIZE + 14), (x + 22, SIZE + 14), look, ""))
        text = f"{ends[at]:.3g} to {ends[at + 1]:.3g} ms"
        parts.append(text_at(x + 28, SIZE + 18, text, "label"))
    return "".join(parts), 30


def _latency_ms(routing: Routing, a: str, b: str) -> float:
    try:
        return routing.one_way_us(a, b) / 1e3 if a != b else 0.0
    except NoPath:
        return float("nan")


def _scaled(places: Places) -> Places:
    """Into the picture, each axis by itself where the layout is flat (a chain), else with its proportions."""
    xs, ys = [p[0] for p in places.values()] or [0.0], [p[1] for p in places.values()] or [0.0]
    span = max(max(xs) - min(xs), max(ys) - min(ys), 1e-9)
    room = SIZE - 90
    left, top = (room - (max(v) - min(v)) / span * room for v in (xs, ys))
    return {
        name: (45 + left / 2 + (x - min(xs)) / span * room, SIZE - 45 - top / 2 - (y - min(ys)) / span * room)
        for name, (x, y) in places.items()
    }


def _line(a: tuple[float, float], b: tuple[float, float], look: str, tip: str) -> str:
    ends = f'x1="{a[0]:.0f}" y1="{a[1]:.0f}" x2="{b[0]:.0f}" y2="{b[1]:.0f}"'
    style = f'style="{look}"' if look else 'class="wire"'
    title = f"<title>{escape(tip)}</title>" if tip else ""
    return f"<line {style} {ends}>{title}</line>"


def _nodes(places: Places, names: dict[str, str], shape: str, total: int) -> str:
    radius = 7 if total <= LABELS_UP_TO else 5 if total <= NAMES_UP_TO else 3
    drawn = "".join(_node(*places[id], id, name, shape, radius) for id, name in names.items())
    if total > NAMES_UP_TO:
        return f'<g class="nodes">{drawn}</g>'
    small = "" if total <= LABELS_UP_TO else ' style="font-size:.72em"'
    taken: Counter[tuple[int, int]] = Counter()
    labels = []
    for id, name in names.items():
        x, y = places[id]
        taken[round(x / 20), round(y / 10)] += 1
        if name and taken[round(x / 20), round(y / 10)] == 1:  # else two names would stand on each other
            labels.append(text_at(x, y - radius - 3, name, "label", "middle"))
    return f'<g class="nodes">{drawn}</g><g{small}>{"".join(labels)}</g>'


def _node(x: float, y: float, id: str, name: str, shape: str, radius: int) -> str:
    tip = f"<title>{escape(f'{id}: {name}' if name and name != id else id)}</title>"
    if shape == "rect":
        side = 2 * radius - 3
        place = f'x="{x - side / 2:.0f}" y="{y - side / 2:.0f}" width="{side}" height="{side}"'
        return f'<rect style="fill:var(--soft)" {place}>{tip}</rect>'
    return f'<circle style="fill:var(--c1)" cx="{x:.0f}" cy="{y:.0f}" r="{radius}">{tip}</circle>'
