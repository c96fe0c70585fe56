"""Whether packets can pass at all between brokers that are to talk to each other."""

from __future__ import annotations

from testbed.topology.plan import Event, Network, OverlayLink
from testbed.topology.resolve.names import Names
from testbed.topology.resolve.network import components
from testbed.topology.resolve.report import Report


def check_passable(
    network: Network, overlay: list[OverlayLink], names: Names, events: list[Event], report: Report
) -> None:
    """With a lasting loss of 100 % on every way between two brokers their link never comes up."""
    changed = {event.target for event in events if "loss" in event.arguments}
    dead = {link.id for link in network.links if link.loss >= 1 and link.id not in changed}
    edges = [(link.a, link.b) for link in network.links if link.id not in dead]
    parts = components([node.id for node in network.nodes], edges)
    part_of = {node: number for number, part in enumerate(parts) for node in part}
    deaf = {frozenset((pair.a, pair.b)) for pair in network.pairs if pair.loss >= 1}
    for link in overlay:
        a, b = names.hosts.get(link.a, ""), names.hosts.get(link.b, "")
        if part_of.get(a) != part_of.get(b) or frozenset((a, b)) in deaf:
            which = f" on {', '.join(sorted(dead)[:5])}" if dead else ""
            message = f"no packet passes between {link.a} and {link.b}: the loss is 100 %{which}"
            hint = "a smaller loss, or an event that changes it"
            return report.add(("network",), message, hint, key=True)
