"""A FIFO network of rendezvous brokers, and what its trees should be."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from random import Random

from broker_grpc.machine import DeadlineReached
from broker_grpc.protocols.rendezvous.broker import RendezvousBroker
from broker_grpc.protocols.rendezvous.rings import ring_of
from broker_grpc.protocols.rendezvous.settings import RendezvousSettings
from broker_grpc.protocols.rendezvous.table import Topic
from broker_grpc.protocols.ring.identifiers import id_of, key_of
from broker_grpc.protocols.ring.static import StaticRing, members_of
from tests.broker_core.fifo_network import Network, PlainClient


class Ground(Network):
    """Brokers that find each other; each has a client `c-<broker>`."""

    kind: type[RendezvousBroker] = RendezvousBroker

    def __init__(self, settings: RendezvousSettings, brokers: Iterable[str], seed: int = 0) -> None:
        super().__init__(seed=seed, through_the_wire=True)
        self.settings = settings
        self.everybody = sorted(brokers)
        self.addresses = {name: f"10.0.0.1:{port}" for port, name in enumerate(self.everybody, 5000)}
        for name in self.everybody:
            self.begin(name)
        self.settle()

    def begin(self, name: str) -> RendezvousBroker:
        again = self._incarnation.get(name, 0) + 1
        ring = ring_of(self.settings.ring, self.everybody, again)
        broker = self.kind(name, self.settings, ring, None, self.addresses, again, Random(again))
        self.add(name, broker, "broker")
        self._incarnation[name] = again
        self.feed(name, DeadlineReached())
        self.client(f"c-{name}", name)
        return broker

    def vanish(self, name: str) -> None:
        """A broker is killed, and its client's stream with it."""
        self.crash(name)
        self.nodes.pop(f"c-{name}", None)

    def depart(self, name: str) -> None:
        """A broker says farewell, and is gone when that has arrived."""
        self.apply(name, self.at(name).farewell(self.now_us))
        self.settle()
        self.vanish(name)

    def tell_ring(self, name: str) -> None:
        """This broker's ring learns who is there."""
        broker = self.at(name)
        ring = broker.planes[0].ring
        assert isinstance(ring, StaticRing)
        effects = broker._outbox.begin(self.now_us)
        ring.replace(members_of(self.alive()))
        self.apply(name, effects)
        self.feed(name, DeadlineReached())

    def tell_rings(self) -> None:
        """All learn it, in any order, while messages are on their way."""
        names = self.alive()
        self.random.shuffle(names)
        for number, name in enumerate(names):
            self.tell_ring(name)
            for _ in range(number % 3):
                self.step()
        self.settle()

    def at(self, name: str) -> RendezvousBroker:
        broker = self.nodes[name]
        assert isinstance(broker, RendezvousBroker)
        return broker

    def alive(self) -> list[str]:
        return [name for name in self.everybody if name in self.nodes]

    def topic(self, name: str, topic: str) -> Topic | None:
        return self.at(name).planes[0].trees.table.get(topic)

    # ------------------------------------------------------------ what a topic's tree is

    def root(self, topic: str) -> str:
        (root,) = [n for n in self.alive() if self.at(n).planes[0].ring.next_hop(key_of(topic)) is None]
        return root

    def route(self, start: str, key: int) -> list[str]:
        way = [start]
        while (hop := self.at(way[-1]).planes[0].ring.next_hop(key)) is not None:
            assert hop not in way, f"a circle: {way} {hop}"
            way.append(hop)
        return way

    def union_of_routes(self, topic: str, members: Iterable[str]) -> set[tuple[str, str]]:
        """Edges (parent, child), brute force."""
        edges: set[tuple[str, str]] = set()
        for member in members:
            if self.settings.grow == "reverse_path":
                way = self.route(member, key_of(topic))[::-1]
            else:
                way = self.route(self.root(topic), id_of(member))
            edges.update(pairwise(way))
        return edges

    def edges(self, topic: str) -> set[tuple[str, str]]:
        """As the parents see it; children must see the same."""
        down, up = set(), set()
        for name in self.alive():
            found = self.topic(name, topic)
            if found is not None:
                down.update((name, child) for child in found.children)
                up.update([(found.parent, name)] if found.parent else [])
        assert down == up, f"{topic}: parents say {sorted(down)}, children {sorted(up)}"
        return down

    def check(self, topic: str, members: set[str]) -> None:
        assert self.edges(topic) == self.union_of_routes(topic, members)
        assert all(self.at(name).settled for name in self.alive())

    # ------------------------------------------------------------ clients

    def want(self, broker: str, topic: str) -> None:
        self.subscribe(f"c-{broker}", f"[class,eq,'{topic}']", f"{broker}-{topic}")

    def unwant(self, broker: str, topic: str) -> None:
        self.unsubscribe(f"c-{broker}", f"{broker}-{topic}")

    def tell(self, broker: str, topic: str, id_: str) -> None:
        self.publish(f"c-{broker}", f"[class,'{topic}']", id_)

    def got(self, broker: str) -> list[str]:
        client = self.nodes[f"c-{broker}"]
        assert isinstance(client, PlainClient)
        return client.publications()
