"""The network as the simulator sees it: when does a message from one host arrive at another?

A message takes the planned path. On every link it waits for the link's direction to be free, is sent
at the link's bandwidth, and arrives after the link's latency and jitter. Where packets can be lost, or the
plan cuts a path, a stream is simulated packet by packet (`tcp`): loss and full queues cost time, never
messages. What is on a link when it is cut is lost; a partition drops what arrives. A host talks to itself in
no time.

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
    """One direction of one link, or of a pair of hosts, with chances of its own: what crosses one way never
    changes what is drawn for another."""

    name: str  # seed, link and direction
    latency_us: int
    jitter_us: int
    loss: float
    bandwidth_bps: int
    queue: int = DEFAULT_QUEUE  # messages that may wait
    free_us: int = 0
    _jitters: Random | None = None  # made when needed: they are large, and most ways are plain
    _losses: Random | None = None

    @property
    def is_plain(self) -> bool:
        return not (self.jitter_us or self.loss or self.bandwidth_bps)

    def delay_us(self) -> int:
        """netem's default distribution of jitter is uniform."""
        if not self.jitter_us:
            return self.latency_us
        if self._jitters is None:
            self._jitters = Random(f"{self.name}/jitter")
        return max(0, self.latency_us + round((2 * self._jitters.random() - 1) * self.jitter_us))

    def loses(self) -> bool:
        if not self.loss:
            return False
        if self._losses is None:
            self._losses = Random(f"{self.name}/loss")
        return self._losses.random() < self.loss


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


@dataclass(frozen=True)
class Cut:
    """A link that went down, and who sent over it until then."""

    at_us: int
    link: frozenset[str]  # its ends
    steps: dict[tuple[str, str], list[str]]  # the paths of that time


class Wires:
    """Seeded by the plan: the same plan and seed give the same jitter and loss."""

    def __init__(self, plan: Plan, loses: Loses | None = None) -> None:
        """`loses` says which packets are lost, where that is known better than by chance."""
        self._plan = plan
        self._loses = loses or self._draw
        self._links = {link.id: link for link in plan.network.links}
        self._pairs = {
            (p.a, p.b): Way(f"{plan.seed}/pair/{p.a}/{p.b}", p.latency_us, p.jitter_us, p.loss, 0)
            for p in plan.network.pairs
        }
        self._ways: dict[tuple[str, str], Way] = {}
        for link in plan.network.links:
            self._shape(link)
        self._down: set[str] = set()  # links
        self._cuts: list[Cut] = []
        self._islands: frozenset[str] = frozenset()  # hosts cut off together by a partition
        self._steps: dict[tuple[str, str], list[str]] = {}
        self._reset_routes()
        self._doomed_links = {
            frozenset((self._links[e.target].a, self._links[e.target].b))
            for e in plan.events
            if e.action == "link_down"
        }
        parted = [e.arguments["nodes"] for e in plan.events if e.action == "partition"]
        self._doomed_sides = [self._hosts_of(nodes) for nodes in parted]

    def _shape(self, link: Link) -> None:
        queue = link.queue_packets or DEFAULT_QUEUE
        shape = link.latency_us, link.jitter_us, link.loss, link.bandwidth_bps, queue
        for a, b in ((link.a, link.b), (link.b, link.a)):
            before = self._ways.get((a, b))
            way = self._ways[a, b] = Way(f"{self._plan.seed}/link/{link.id}/{a}/{b}", *shape)
            if before is not None:  # reshaped: what waits and what was drawn stays
                way.free_us, way._jitters, way._losses = before.free_us, before._jitters, before._losses

    def _reset_routes(self) -> None:
        self._routing = Routing(self._plan.network, self._down)
        self._routes: dict[tuple[str, str], Route | None] = {}
        self._paths: dict[tuple[str, str], Route | None] = {}  # whatever a partition drops
        self._steps = {}

    def _hosts_of(self, nodes: Iterable[str]) -> frozenset[str]:
        """Of a switch, the hosts at it are meant."""
        hosts = {node.id for node in self._plan.network.nodes if node.kind == "host"}
        named = set(nodes)
        ends = [(link.a, link.b) for link in self._links.values()]
        at_switches = {b for pair in ends for a, b in (pair, pair[::-1]) if a in named - hosts}
        return frozenset((named | at_switches) & hosts)

    # ------------------------------------------------------------ questions

    def route(self, a: str, b: str) -> Route | None:
        """None while there is no path."""
        key = (a, b)
        if key not in self._routes:
            self._routes[key] = self._find(a, b)
        return self._routes[key]

    def _find(self, a: str, b: str) -> Route | None:
        return None if (a in self._islands) != (b in self._islands) else self._path(a, b)

    def _path(self, a: str, b: str) -> Route | None:
        key = (a, b)
        if key not in self._paths:
            self._paths[key] = self._find_path(a, b)
        return self._paths[key]

    def _find_path(self, a: str, b: str) -> Route | None:
        if a == b:
            return Route(0, [], None)
        try:
            steps = self._routing.path(a, b)
        except NoPath:
            return None
        self._steps[a, b] = steps
        ways = [self._ways[one, other] for one, other in itertools.pairwise(steps)]
        pair = self._pairs.get((a, b))
        latency = sum(way.latency_us for way in ways) + (pair.latency_us if pair else 0)
        return Route(latency, ways, pair)

    def crossing_us(self, now_us: int, a: str, b: str, payloads: Iterable[int]) -> int | None:
        """When the last of these packets is there, if nothing is lost; None without a path."""
        route = self.route(a, b)
        if route is None or route.plain:
            return None if route is None else now_us + route.latency_us
        arrivals = [self._travel(now_us, route, size + PACKET_HEADERS) for size in payloads]
        return max((at for at in arrivals if at is not None), default=None)

    def needs_tcp(self, a: str, b: str) -> bool:
        """Whether packets between these hosts are lost, now or when the plan cuts their path."""
        routes = self.route(a, b), self.route(b, a)
        return self.is_doomed(a, b) or any(route is not None and route.lossy for route in routes)

    def is_doomed(self, a: str, b: str) -> bool:
        """Whether the plan cuts the path between these hosts, or back, at some time."""
        if any((a in side) != (b in side) for side in self._doomed_sides):
            return True
        return bool(self._doomed_links) and (self._crosses_doomed(a, b) or self._crosses_doomed(b, a))

    def _crosses_doomed(self, a: str, b: str) -> bool:
        self._path(a, b)
        steps = self._steps.get((a, b), [])
        return any(frozenset(step) in self._doomed_links for step in itertools.pairwise(steps))

    def survives(self, now_us: int, a: str, b: str, sent_us: int) -> bool:
        """A packet that should be there now: was nothing cut under it, or before it?"""
        if (a in self._islands) != (b in self._islands):
            return False
        return not any(sent_us < cut.at_us and self._is_hit(cut, a, b, sent_us) for cut in self._cuts)

    def _is_hit(self, cut: Cut, a: str, b: str, sent_us: int) -> bool:
        """It has not left the link when that goes down."""
        at, pair = sent_us, self._pairs.get((a, b))
        if pair is not None:
            at += pair.latency_us
        for one, other in itertools.pairwise(cut.steps.get((a, b), [])):
            at += self._ways[one, other].latency_us
            if {one, other} == cut.link:
                return at > cut.at_us
        return False

    def arrival_us(self, now_us: int, route: Route, envelope_bytes: int) -> int | None:
        """When a message sent now is there, if nothing is lost; None when a queue on its way is full."""
        if route.plain:
            return now_us + route.latency_us
        return self._travel(now_us, route, wire_bytes(envelope_bytes))

    def packet_us(self, now_us: int, a: str, b: str, payload_bytes: int) -> int | None:
        """When one packet sent now is there; None when it is lost, which nobody tells its sender."""
        route = self._path(a, b)
        if route is None or (route.lossy and self._loses(now_us, a, b)):
            return None
        return self._travel(now_us, route, payload_bytes + PACKET_HEADERS)

    def _draw(self, now_us: int, a: str, b: str) -> bool:
        route = self._path(a, b)
        assert route is not None
        shaped = [*route.ways, *([route.pair] if route.pair else [])]
        return any(way.loses() for way in shaped)

    def _travel(self, at: int, route: Route, size: int) -> int | None:
        if route.pair is not None:
            at += route.pair.delay_us()
        for way in route.ways:
            if way.bandwidth_bps:
                sending_us = -(-size * 8_000_000 // way.bandwidth_bps)
                if way.free_us - at > way.queue * sending_us:
                    return None
                at = max(at, way.free_us) + sending_us
                way.free_us = at
            at += way.delay_us()
        return at

    # ------------------------------------------------------------ faults

    def link_down(self, link: str, now_us: int = 0) -> None:
        known = self._links[link]
        self._cuts.append(Cut(now_us, frozenset((known.a, known.b)), self._steps))
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
        self._islands = self._hosts_of(nodes)
        self._reset_routes()

    def heal(self) -> None:
        self._islands = frozenset()
        self._reset_routes()
