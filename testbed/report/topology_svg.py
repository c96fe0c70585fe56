"""The overlay and the network of a plan as one picture that follows the page's colours."""

from __future__ import annotations

from html import escape

from testbed.report.svg import text_at, wrap
from testbed.topology.paths import NoPath, Routing
from testbed.topology.picture import network_places, overlay_places
from testbed.topology.plan import Plan

SIZE = 620
LABELS_UP_TO = 40  # more names would only cover each other


def overlay_picture(plan: Plan) -> str:
    """Brokers and overlay links, each link with its planned one-way latency."""
    places = _scaled(overlay_places(plan))
    routing = Routing(plan.network)
    hosts = {broker.id: broker.node for broker in plan.brokers}
    parts, latencies = [], []
    for link in plan.overlay:
        latency = _latency_ms(routing, hosts[link.a], hosts[link.b])
        latencies.append(latency)
        tip = f"{link.a} to {link.b}: {latency:.1f} ms one way"
        parts.append(_line(places[link.a], places[link.b], "axis", tip))
        if len(plan.overlay) <= LABELS_UP_TO:
            parts.append(_middle(places[link.a], places[link.b], f"{latency:.0f} ms"))
    for broker in plan.brokers:
        parts.append(_node(*places[broker.id], broker.id, len(plan.brokers) <= LABELS_UP_TO))
    mean = sum(latencies) / len(latencies) if latencies else 0.0
    text = (
        f"{len(plan.brokers)} brokers, {len(plan.overlay)} overlay links, {mean:.1f} ms one way on average."
    )
    return wrap("Overlay", text, SIZE, "".join(parts), SIZE)


def network_picture(plan: Plan) -> str:
    """Hosts, switches and links, each link with its one-way latency while there is room for it."""
    places = _scaled(network_places(plan.network))
    few = len(plan.network.nodes) <= LABELS_UP_TO
    parts = []
    for link in plan.network.links:
        tip = f"{link.a} to {link.b}: {link.latency_us / 1e3:g} ms {link.tier}"
        parts.append(_line(places[link.a], places[link.b], "wire", tip))
        if few and link.latency_us:
            parts.append(_middle(places[link.a], places[link.b], f"{link.latency_us / 1e3:.3g} ms"))
    for node in plan.network.nodes:
        parts.append(_node(*places[node.id], node.id, few, node.kind == "switch"))
    switches = sum(node.kind == "switch" for node in plan.network.nodes)
    hosts = len(plan.network.nodes) - switches
    links, pairs = len(plan.network.links), len(plan.network.pairs)
    text = f"{hosts} hosts, {switches} switches, {links} links, {pairs} shaped pairs."
    return wrap("Network", text, SIZE, "".join(parts), SIZE)


def _latency_ms(routing: Routing, a: str, b: str) -> float:
    try:
        return routing.one_way_us(a, b) / 1e3 if a != b else 0.0
    except NoPath:
        return float("nan")


def _scaled(places: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    xs, ys = [p[0] for p in places.values()] or [0.0], [p[1] for p in places.values()] or [0.0]
    span = max(max(xs) - min(xs), max(ys) - min(ys), 1e-9)
    room = SIZE - 80
    return {
        name: (40 + (x - min(xs)) / span * room, SIZE - 40 - (y - min(ys)) / span * room)
        for name, (x, y) in places.items()
    }


def _middle(a: tuple[float, float], b: tuple[float, float], text: str) -> str:
    return text_at((a[0] + b[0]) / 2, (a[1] + b[1]) / 2 + 4, text, "tick", "middle")


def _line(a: tuple[float, float], b: tuple[float, float], kind: str, tip: str) -> str:
    ends = f'x1="{a[0]:.0f}" y1="{a[1]:.0f}" x2="{b[0]:.0f}" y2="{b[1]:.0f}"'
    return f'<line class="{kind}" {ends}><title>{escape(tip)}</title></line>'


def _node(x: float, y: float, name: str, labelled: bool, square: bool = False) -> str:
    colour = "var(--soft)" if square else "var(--c1)"
    shape = (
        f'<rect style="fill:{colour}" x="{x - 4:.0f}" y="{y - 4:.0f}" width="8" height="8">'
        if square
        else f'<circle style="fill:{colour}" cx="{x:.0f}" cy="{y:.0f}" r="{7 if labelled else 4}">'
    )
    end = "</rect>" if square else "</circle>"
    label = f'<text class="label" x="{x + 9:.0f}" y="{y + 4:.0f}">{escape(name)}</text>' if labelled else ""
    return f"{shape}<title>{escape(name)}</title>{end}{label}"
