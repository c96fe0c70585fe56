"""The network as the simulator sees it: the paths between hosts, and what faults do to them.

A packet takes the path that was planned when it was sent (`carrier` takes it along). A host talks to itself
in no time.

Sizes: an envelope of n bytes travels as n + 5 (gRPC prefix) + 9 (HTTP/2 frame header) bytes of TCP
payload, in packets of at most 1448 bytes with 66 bytes of Ethernet, IPv4 and TCP headers each.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from testbed.simulation.ways import Way
from testbed.topology.paths import NoPath, Routing
from testbed.topology.plan import PairLatency, Plan

FRAMING = 5 + 9
PACKET_PAYLOAD = 1448
PACKET_HEADERS = 66

Loses = Callable[[int, str, str], bool]  # a packet sent now, from one host to another: is it lost?


def packets(payload_bytes: int) -> list[int]:
    """Payloads of the packets that carry so much; one without payload carries nothing."""
    full, rest = divmod(payload_bytes, PACKET_PAYLOAD)
    return [PACKET_PAYLOAD] * full + ([rest] if rest or not full else [])


@dataclass(slots=True)
class Route:
    """A path between two hosts, ready for use."""

    latency_us: int  # of all links and of the pair
    legs: tuple[tuple[int, Way], ...]  # ways that are not plain, each behind the latency of plain ones
    rest_us: int  # latency of the plain ways behind the last leg
    lossy: bool

    @property
    def plain(self) -> bool:
        return not self.legs


def route_of(ways: Iterable[Way]) -> Route:
    legs, before_us, latency_us, lossy = [], 0, 0, False
    for way in ways:
        latency_us += way.latency_us
        lossy = lossy or way.loss > 0
        if way.is_plain:
            before_us += way.latency_us
        else:
            legs.append((before_us, way))
            before_us = 0
    return Route(latency_us, tuple(legs), before_us, lossy)


class Wires:
    """Seeded by the plan: the same plan and seed give the same jitter and loss."""

    def __init__(self, plan: Plan, loses: Loses | None = None) -> None:
        """`loses` says which packets are lost, where that is known better than by chance."""
        self._plan = plan
        self.loses = loses
        self._links = {link.id: link for link in plan.network.links}
        self._pairs = {(p.a, p.b): Way(f"{plan.seed}/pair/{p.a}/{p.b}", p) for p in plan.network.pairs}
        self._ways = {
            (a, b): Way(f"{plan.seed}/link/{link.id}/{a}/{b}", link)
            for link in plan.network.links
            for a, b in ((link.a, link.b), (link.b, link.a))
        }
        for event in plan.events:
            if event.action == "link_down":
                for way in self._both(event.target):
                    way.doomed = True
        parted = [e.arguments["nodes"] for e in plan.events if e.action == "partition"]
        self._doomed_sides = [self._hosts_of(nodes) for nodes in parted]
        self._down: set[str] = set()  # links
        self._islands: frozenset[str] = frozenset()  # hosts cut off together by a partition
        self._reset_routes()

    def _both(self, link: str) -> tuple[Way, Way]:
        """The two directions."""
        a, b = self._links[link].a, self._links[link].b
        return self._ways[a, b], self._ways[b, a]

    def _reset_routes(self) -> None:
        self._routing = Routing(self._plan.network, self._down)
        self._paths: dict[tuple[str, str], Route | None] = {}

    def _hosts_of(self, nodes: Iterable[str]) -> frozenset[str]:
        """Of a switch, the hosts at it are meant."""
        hosts = {node.id for node in self._plan.network.nodes if node.kind == "host"}
        named = set(nodes)
        ends = [(link.a, link.b) for link in self._links.values()]
        at_switches = {b for pair in ends for a, b in (pair, pair[::-1]) if a in named - hosts}
        return frozenset((named | at_switches) & hosts)

    # ------------------------------------------------------------ questions

    def route(self, a: str, b: str) -> Route | None:
        """None while nothing that is sent there arrives."""
        return None if self.parted(a, b) else self.path(a, b)

    def parted(self, a: str, b: str) -> bool:
        """Whether a partition drops what arrives from the one at the other."""
        return (a in self._islands) != (b in self._islands)

    def path(self, a: str, b: str) -> Route | None:
        """Whatever a partition drops; None where there is none."""
        key = (a, b)
        if key not in self._paths:
            self._paths[key] = self._find_path(a, b)
        return self._paths[key]

    def _find_path(self, a: str, b: str) -> Route | None:
        if a == b:
            return route_of(())
        try:
            steps = self._routing.path(a, b)
        except NoPath:
            return None
        ways = [self._ways[one, other] for one, other in itertools.pairwise(steps)]
        pair = self._pairs.get((a, b))
        return route_of(ways if pair is None else [pair, *ways])

    def needs_tcp(self, a: str, b: str) -> bool:
        """Whether packets between these hosts are lost, now or when the plan cuts their path."""
        routes = self.route(a, b), self.route(b, a)
        return self.is_doomed(a, b) or any(route is not None and route.lossy for route in routes)

    def is_doomed(self, a: str, b: str) -> bool:
        """Whether the plan cuts the path between these hosts, or back, at some time."""
        if any((a in side) != (b in side) for side in self._doomed_sides):
            return True
        paths = self.path(a, b), self.path(b, a)
        return any(way.doomed for path in paths if path is not None for _, way in path.legs)

    # ------------------------------------------------------------ faults

    def link_down(self, link: str, now_us: int = 0) -> None:
        for way in self._both(link):
            way.go_down(now_us)
        self._down.add(link)
        self._reset_routes()

    def link_up(self, link: str) -> None:
        for way in self._both(link):
            way.down = False
        self._down.discard(link)
        self._reset_routes()

    def reshape(self, link: str, **changes: int | float) -> None:
        known = self._links[link]
        for name, value in changes.items():
            setattr(known, name, value)
        for way in self._both(link):
            way.reshape(known)
        self._reset_routes()

    def reshape_pairs(self, latencies: Iterable[tuple[str, str, int]]) -> None:
        for a, b, latency_us in latencies:
            self._pairs[a, b].reshape(PairLatency(a, b, latency_us))
        self._reset_routes()

    def partition(self, nodes: Iterable[str]) -> None:
        self._islands = self._hosts_of(nodes)

    def heal(self) -> None:
        self._islands = frozenset()
