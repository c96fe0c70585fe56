"""When is a phase ready? Pure questions about one look at the processes."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from testbed.run.stimuli import BrokerLook, Look
from testbed.topology.plan import OverlayLink

SHOWN = 5  # a reason names this many culprits and counts the rest


def links_missing(overlay: Iterable[OverlayLink], alive: Collection[str], look: Look) -> list[str]:
    """The overlay links between live brokers that not both ends report as up (PANDA's rule for phase one)."""
    missing = []
    for link in overlay:
        if link.a in alive and link.b in alive:
            silent = [f"{end} has no {peer}" for end, peer in ends(link) if not reports_up(look, end, peer)]
            if silent:
                missing.append(f"{link.a}-{link.b} ({', '.join(silent)})")
    return missing


def links_verified(overlay: Iterable[OverlayLink], look: Look) -> int:
    """How many overlay links both ends report as up."""
    return sum(all(reports_up(look, end, peer) for end, peer in ends(link)) for link in overlay)


def ends(link: OverlayLink) -> tuple[tuple[str, str], tuple[str, str]]:
    return (link.a, link.b), (link.b, link.a)


def reports_up(look: Look, end: str, peer: str) -> bool:
    status = look.brokers.get(end)
    return status is not None and any(link.peer == peer and link.up for link in status.links)


def links_unsynced(look: Look) -> list[str]:
    """Links that are up and still exchange what each side holds for the other."""
    return [
        f"{broker}-{link.peer}"
        for broker, status in look.brokers.items()
        for link in status.links
        if link.up and not link.synced
    ]


def brokers_unsettled(look: Look) -> list[str]:
    """Brokers that say of themselves that routing is not what it will be."""
    return [broker for broker, status in look.brokers.items() if not status.settled]


def clients_missing(started: Iterable[str], look: Look) -> list[str]:
    """Started clients that are not connected, or whose subscriptions are not all acknowledged."""
    missing = []
    for client in started:
        seen = look.clients.get(client)
        if seen is None or not seen.connected:
            missing.append(f"{client} (not connected)")
        elif seen.subscribed < seen.wanted:
            missing.append(f"{client} ({seen.subscribed} of {seen.wanted} subscriptions)")
    return missing


def control_in_flight(look: Look) -> int:
    """Messages that settle, sent by some broker and received by none."""
    return sum(status.control_sent - status.control_received for status in look.brokers.values())


def control_counters(look: Look) -> dict[str, tuple[int, int]]:
    return {broker: (seen.control_sent, seen.control_received) for broker, seen in look.brokers.items()}


def traffic_counters(look: Look) -> dict[str, tuple[int, int, int]]:
    """What changes while publications are under way."""
    return {
        broker: (seen.publications, seen.deliveries, sum(link.queued for link in seen.links))
        for broker, seen in look.brokers.items()
    } | {client: (seen.published, seen.delivered, 0) for client, seen in look.clients.items()}


def unsettled(clients: Iterable[str], look: Look, before: Look | None, counters_lost: bool) -> str:
    """Why subscriptions are not settled yet; empty when they are.

    Every client has its subscriptions acknowledged, every broker says that it is settled, every message that
    settles was received by whom it was sent to, and none was sent or received since the look `before`: real
    processes answer one after the other, so the sums of a single look may be equal by chance. Messages that
    do not settle (heartbeats, a ring's upkeep) count in neither. A broker that died took its counters along
    (`counters_lost`): then sent and received cannot be compared any more, and quiet must do.
    """
    missing = clients_missing(clients, look)
    if missing:
        return "clients without their subscriptions: " + shorten(missing)
    busy = brokers_unsettled(look)
    if busy:
        links = links_unsynced(look)
        return "links still synchronising: " + shorten(links) if links else "not settled: " + shorten(busy)
    in_flight = control_in_flight(look)
    if in_flight and not counters_lost:
        return f"{in_flight} routing messages sent and not received"
    if before is None or control_counters(before) != control_counters(look):
        return "routing messages still flow"
    return ""


def queued(status: BrokerLook) -> int:
    return sum(link.queued for link in status.links)


def shorten(names: list[str]) -> str:
    rest = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")
