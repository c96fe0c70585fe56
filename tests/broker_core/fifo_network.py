"""A tiny network for tests: FIFO links, any interleaving, links that break with what they carry.

Nodes are machines (`Broker`, `ClientMachine`) or plain clients that record what they get. A stream has
an epoch: what a node sends before it has noticed that its stream was replaced is lost, as in real life.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable

from broker_grpc.content.language import parse_filter, parse_publication
from broker_grpc.core.links import hello_incarnation
from broker_grpc.core.options import BrokerOptions
from broker_grpc.machine import (
    CloseLink,
    DeadlineReached,
    Effects,
    Log,
    Machine,
    OpenLink,
    PeerDown,
    PeerUp,
    Received,
    Send,
    Stimulus,
    unfolded,
)
from broker_grpc.protocols.contentbased.broker import Broker
from protos.body import Body, Envelope
from protos.client_messages import Advertisement, Publication, Subscription, Unadvertisement, Unsubscription
from protos.core_messages import Ack
from protos.envelope import decode, encode
from protos.records import LogEvent

Pair = tuple[str, str]


class PlainClient:
    """Sends what it is told to and remembers everything it gets."""

    def __init__(self) -> None:
        self.got: list[Envelope] = []

    def handle(self, now_us: int, stimulus: Stimulus) -> Effects:
        if isinstance(stimulus, Received):
            self.got.append(stimulus.envelope)
        return []

    def next_deadline_us(self) -> int | None:
        return None

    def publications(self) -> list[str]:
        return [e.body.id for e in self.got if isinstance(e.body, Publication)]

    def acks(self) -> list[Ack]:
        return [e.body for e in self.got if isinstance(e.body, Ack)]


class Network:
    """`through_the_wire` encodes and decodes every envelope on its way."""

    def __init__(
        self, options: BrokerOptions | None = None, seed: int = 0, through_the_wire: bool = False
    ) -> None:
        self.options = options or BrokerOptions()
        self.random = random.Random(seed)
        self.nodes: dict[str, Machine] = {}
        self.now_us = 1_000_000
        self.log: list[LogEvent] = []
        self.closed: list[CloseLink] = []
        self.on_send: Callable[[str, str, Envelope], None] = lambda source, target, envelope: None
        self._queues: dict[Pair, deque[tuple[int, Stimulus]]] = {}  # (from, to) -> (epoch, stimulus)
        self._epoch: dict[frozenset[str], int] = {}  # of streams that are up
        self._view: dict[Pair, int] = {}  # (node, peer) -> epoch of the stream the node believes in
        self._incarnation: dict[str, int] = {}
        self._kinds: dict[str, str] = {}
        self._wire = through_the_wire
        self._count = 0

    # ------------------------------------------------------------ building

    def add_broker(self, name: str, options: BrokerOptions | None = None) -> Broker:
        self._incarnation[name] = self._incarnation.get(name, 0) + 1
        broker = Broker(name, options or self.options, incarnation=self._incarnation[name])
        self.nodes[name] = broker
        return broker

    def add(self, name: str, machine: Machine, kind: str = "") -> None:
        """`kind` as its peers see it; by itself a `Broker` is a broker and all else a client."""
        self.nodes[name] = machine
        self._kinds[name] = kind
        self._incarnation.setdefault(name, 1)

    def tree(self, links: Iterable[Pair]) -> None:
        links = list(links)
        for name in sorted({end for link in links for end in link}):
            if name not in self.nodes:
                self.add_broker(name)
        for a, b in links:
            self.connect(a, b)
        self.settle()

    def client(self, name: str, broker: str) -> PlainClient:
        client = PlainClient()
        self.add(name, client)
        self.connect(name, broker)
        self.settle()
        return client

    def broker(self, name: str) -> Broker:
        broker = self.nodes[name]
        assert isinstance(broker, Broker)
        return broker

    def plain(self, name: str) -> PlainClient:
        client = self.nodes[name]
        assert isinstance(client, PlainClient)
        return client

    # ------------------------------------------------------------ streams

    def is_up(self, a: str, b: str) -> bool:
        return frozenset((a, b)) in self._epoch

    def connect(self, a: str, b: str) -> None:
        """A stream comes up; each end notices in its own time."""
        assert not self.is_up(a, b)
        self._count += 1
        epoch = self._epoch[frozenset((a, b))] = self._count
        for node, peer in ((a, b), (b, a)):
            kind = self._kinds.get(peer) or ("broker" if isinstance(self.nodes[peer], Broker) else "client")
            up = PeerUp(peer, kind, hello_incarnation(self._incarnation[peer], epoch))  # type: ignore[arg-type]
            self._queue(peer, node).append((epoch, up))

    def disconnect(self, a: str, b: str, reason: str = "lost") -> None:
        """A stream breaks; what it carries is lost; each end notices in its own time."""
        if self._epoch.pop(frozenset((a, b)), None) is None:
            return
        for node, peer in ((a, b), (b, a)):
            queue = self._queue(peer, node)
            queue.clear()
            if (node, peer) in self._view:
                queue.append((self._view[node, peer], PeerDown(peer, reason)))

    def can_send(self, node: str, peer: str) -> bool:
        """Whether the node knows of the newest stream to this peer."""
        epoch = self._epoch.get(frozenset((node, peer)))
        return epoch is not None and self._view.get((node, peer)) == epoch

    def peers_of(self, name: str) -> list[str]:
        return sorted(next(iter(ends - {name})) for ends in self._epoch if name in ends)

    def crash(self, name: str) -> list[str]:
        """A node is gone with all it knew; returns the peers it had."""
        peers = self.peers_of(name)
        for peer in peers:
            self.disconnect(name, peer, "crashed")
            self._queue(peer, name).clear()
        for view in [v for v in self._view if v[0] == name]:
            del self._view[view]
        del self.nodes[name]
        return peers

    def _queue(self, source: str, target: str) -> deque[tuple[int, Stimulus]]:
        return self._queues.setdefault((source, target), deque())

    # ------------------------------------------------------------ running

    def feed(self, name: str, stimulus: Stimulus) -> None:
        self.now_us += 1
        self.apply(name, self.nodes[name].handle(self.now_us, stimulus))

    def apply(self, name: str, effects: Effects) -> None:
        for effect in unfolded(effects):
            if isinstance(effect, Send):
                self._send(name, effect.peer, effect.envelope)
            elif isinstance(effect, Log):
                self.log.append(effect.event)
            elif isinstance(effect, OpenLink):
                if effect.peer in self.nodes and not self.is_up(name, effect.peer):
                    self.connect(name, effect.peer)
            elif isinstance(effect, CloseLink):
                self.closed.append(effect)
                self.disconnect(name, effect.peer, effect.reason)

    def _send(self, source: str, target: str, envelope: Envelope) -> None:
        if not self.can_send(source, target):
            return
        epoch = self._view[source, target]
        self.on_send(source, target, envelope)
        if self._wire:
            envelope = decode(encode(envelope))
        self._queue(source, target).append((epoch, Received(source, envelope)))

    def step(self) -> bool:
        """Deliver the first message of one queue; False if there is none."""
        ready = sorted(pair for pair, queue in self._queues.items() if queue and pair[1] in self.nodes)
        if not ready:
            return False
        source, target = self._next(ready)
        epoch, stimulus = self._queues[source, target].popleft()
        if isinstance(stimulus, PeerUp):
            self._view[target, source] = epoch
        elif isinstance(stimulus, PeerDown):
            self._view.pop((target, source), None)
        self.feed(target, stimulus)
        return True

    def _next(self, ready: list[Pair]) -> Pair:
        """Any link may be the next to deliver."""
        return self.random.choice(ready)

    def settle(self) -> None:
        """Until no message is on a link or in a broker's queues."""
        for _ in range(200_000):
            if not self.step() and not self._serve():
                return
        raise AssertionError("the network does not come to rest")

    def _serve(self) -> bool:
        """Let the broker with a service model that is next finish something; False if none has work."""
        due = [
            (node.next_deadline_us() or 0, name)
            for name, node in self.nodes.items()
            if isinstance(node, Broker) and node.waiting
        ]
        if due:
            deadline, name = min(due)
            self.now_us = max(self.now_us, deadline)
            self.feed(name, DeadlineReached())
        return bool(due)

    def advance(self, by_us: int) -> None:
        """Let time pass: fire the deadlines in their order, deliver what follows from each at once."""
        end = self.now_us + by_us
        while True:
            due = [(d, name) for name, m in self.nodes.items() if (d := m.next_deadline_us()) is not None]
            if not due or min(due)[0] > end:
                break
            deadline, name = min(due)
            self.now_us = max(self.now_us, deadline - 1)
            self.feed(name, DeadlineReached())
            self.settle()
        self.now_us = max(self.now_us, end)

    # ------------------------------------------------------------ plain clients' requests

    def say(self, client: str, body: Body, request: int = 0) -> None:
        """From a plain client to the broker it is connected to."""
        for peer in self.peers_of(client):
            self._send(client, peer, Envelope(body, 0, request))

    def advertise(self, client: str, text: str, id_: str = "") -> None:
        self.say(client, Advertisement(id_, client, parse_filter(text).predicates), 1)

    def subscribe(self, client: str, text: str, id_: str = "") -> None:
        self.say(client, Subscription(id_, client, parse_filter(text).predicates), 1)

    def unadvertise(self, client: str, id_: str) -> None:
        self.say(client, Unadvertisement(id_), 1)

    def unsubscribe(self, client: str, id_: str) -> None:
        self.say(client, Unsubscription(id_), 1)

    def publish(self, client: str, text: str, id_: str) -> None:
        self.say(client, Publication(id_, client, "", self.now_us, parse_publication(text)))

    # ------------------------------------------------------------ looking

    def events(self, kind: str) -> list[LogEvent]:
        return [event for event in self.log if event.kind == kind]

    def check_tables(self) -> None:
        """On a quiet network: what a broker holds from a neighbour is exactly what that one has told."""
        for name, node in sorted(self.nodes.items()):
            if not isinstance(node, Broker):
                continue
            for peer in self.peers_of(name):
                other = self.nodes[peer]
                if isinstance(other, Broker):
                    told = other.routing
                    assert node.routing.srt.of_hop(peer) == sorted(told.advertisements_told[name].told.ids())
                    assert node.routing.prt.of_hop(peer) == sorted(told.subscriptions_told[name].told.ids())
