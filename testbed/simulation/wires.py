"""The network as the simulator sees it: when does a message from one host arrive at another?

A message takes the planned path. On every link it waits for the link's direction to be free, is sent
at the link's bandwidth, and arrives after the link's latency and jitter. Where packets can be lost, or a
path is cut, a stream is simulated packet by packet (`tcp`): loss and full queues cost time, never messages.
A host talks to itself in no time.

Sizes: an envelope of n bytes travels as n + 5 (gRPC prefix) + 9 (HTTP/2 frame header) bytes of TCP
payload, in packets of at most 1448 bytes with 66 bytes of Ethernet, IPv4 and TCP headers each. Other
traffic (acknowledgements, window updates, pings of HTTP/2) is not modelled.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random

from testbed.topology.paths import NoPath, Routing
from testbed.topology.plan import Link, Plan

FRAMING = 5 + 9
PACKET_PAYLOAD = 1448
PACKET_HEADERS = 66
DEFAULT_QUEUE = 1000  # packets, where the plan leaves it to us

Loses = Callable[[int, str, str], bool]  # a packet sent now, from one host to another: is it lost?


def wire_bytes(envelope_bytes: int) -> int:
    payload = envelope_bytes + FRAMING
    packets = -(-payload // PACKET_PAYLOAD)
    return payload + packets * PACKET_HEADERS


@dataclass
class Way:
    """One direction of one link."""

    latency_us: int
    jitter_us: int
    loss: float
    bandwidth_bps: int
    queue: int = DEFAULT_QUEUE  # messages that may wait
    free_us: int = 0

    @property
    def is_plain(self) -> bool:
        return not (self.jitter_us or self.loss or self.bandwidth_bps)


@dataclass
class Route:
    """A path between two hosts, ready for use."""

    latency_us: int  # of all links and of the pair
    ways: list[Way]
    pair: Way | None
    plain: bool = field(init=False)
    lossy: bool = field(init=False)

    def __post_init__(self) -> None:
        shaped = [*self.ways, *([self.pair] if self.pair else [])]
        self.plain = all(way.is_plain for way in shaped)
        self.lossy = any(way.loss for way in shaped)


class Wires:
    """Seeded: the same plan and seed give the same jitter and loss."""

    def __init__(self, plan: Plan, random: Random, loses: Loses | None = None) -> None:
        """`loses` says which packets are lost, where that is known better than by chance."""
        self._plan = plan
        self._random = random
        self._loses = loses or self._draw
        self._links = {link.id: link for link in plan.network.links}
        self._pairs = {(pair.a, pair.b): pair for pair in plan.network.pairs}
        self._ways: dict[tuple[str, str], Way] = {}
        for link in plan.network.links:
            self._shape(link)
        self._down: set[str] = set()  # links
        self._islands: frozenset[str] = frozenset()  # hosts cut off together by a partition
        self._reset_routes()

    def _shape(self, link: Link) -> None:
        queue = link.queue_packets or DEFAULT_QUEUE
        for a, b in ((link.a, link.b), (link.b, link.a)):
            self._ways[a, b] = Way(link.latency_us, link.jitter_us, link.loss, link.bandwidth_bps, queue)

    def _reset_routes(self) -> None:
        self._routing = Routing(self._plan.network, self._down)
        self._routes: dict[tuple[str, str], Route | None] = {}

    # ------------------------------------------------------------ questions

    def route(self, a: str, b: str) -> Route | None:
        """None while there is no path."""
        key = (a, b)
        if key not in self._routes:
            self._routes[key] = self._find(a, b)
        return self._routes[key]

    def _find(self, a: str, b: str) -> Route | None:
        if a == b:
            return Route(0, [], None)
        if (a in self._islands) != (b in self._islands):
            return None
        try:
            steps = self._routing.path(a, b)
        except NoPath:
            return None
        ways = [self._ways[one, other] for one, other in itertools.pairwise(steps)]
        shaped = self._pairs.get((a, b))
        pair = Way(shaped.latency_us, shaped.jitter_us, shaped.loss, 0) if shaped else None
        latency = sum(way.latency_us for way in ways) + (pair.latency_us if pair else 0)
        return Route(latency, ways, pair)

    def rtt_us(self, a: str, b: str) -> int | None:
        there, back = self.route(a, b), self.route(b, a)
        return None if there is None or back is None else there.latency_us + back.latency_us

    def arrival_us(self, now_us: int, route: Route, envelope_bytes: int) -> int | None:
        """When a message sent now is there, if nothing is lost; None when a queue on its way is full."""
        if route.plain:
            return now_us + route.latency_us
        return self._travel(now_us, route, wire_bytes(envelope_bytes))

    def packet_us(self, now_us: int, a: str, b: str, payload_bytes: int) -> int | None:
        """When one packet sent now is there; None when it is lost, which nobody tells its sender."""
        route = self.route(a, b)
        if route is None or (route.lossy and self._loses(now_us, a, b)):
            return None
        return self._travel(now_us, route, payload_bytes + PACKET_HEADERS)

    def _draw(self, now_us: int, a: str, b: str) -> bool:
        route = self.route(a, b)
        assert route is not None
        shaped = [*route.ways, *([route.pair] if route.pair else [])]
        return any(way.loss and self._random.random() < way.loss for way in shaped)

    def _travel(self, at: int, route: Route, size: int) -> int | None:
        if route.pair is not None:
            at += self._delay(route.pair)
        for way in route.ways:
            if way.bandwidth_bps:
                sending_us = -(-size * 8_000_000 // way.bandwidth_bps)
                if way.free_us - at > way.queue * sending_us:
                    return None
                at = max(at, way.free_us) + sending_us
                way.free_us = at
            at += self._delay(way)
        return at

    def _delay(self, way: Way) -> int:
        """netem's default distribution of jitter is uniform."""
        if not way.jitter_us:
            return way.latency_us
        return max(0, way.latency_us + round((2 * self._random.random() - 1) * way.jitter_us))

    # ------------------------------------------------------------ faults

    def link_down(self, link: str) -> None:
        self._down.add(link)
        self._reset_routes()

    def link_up(self, link: str) -> None:
        self._down.discard(link)
        self._reset_routes()

    def reshape(self, link: str, **changes: int | float) -> None:
        known = self._links[link]
        for name, value in changes.items():
            setattr(known, name, value)
        self._shape(known)
        self._reset_routes()

    def partition(self, nodes: Iterable[str]) -> None:
        self._islands = frozenset(nodes)
        self._reset_routes()

    def heal(self) -> None:
        self._islands = frozenset()
        self._reset_routes()
