"""Brokers with a relocation layer, publishers that migrate, subscribers that count: a stage for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from broker_grpc.client.machine import ClientMachine
from broker_grpc.content.language import parse_filter
from broker_grpc.core.options import BrokerOptions
from broker_grpc.machine import DeadlineReached
from broker_grpc.protocols.contentbased.broker import Broker
from broker_grpc.protocols.contentbased.layer import Layer
from broker_grpc.protocols.relocation.layer import Relocation
from protos.body import Envelope
from protos.client_messages import Publication
from tests.broker_core.fifo_network import Network, PlainClient

# Figure 1, as far as the text gives it: B1 - B2, B4, B5; B5 - B6; B6 - B7, B8; B2 - B3.
FIGURE_1 = [("B1", "B2"), ("B1", "B4"), ("B1", "B5"), ("B2", "B3"), ("B5", "B6"), ("B6", "B7"), ("B6", "B8")]


class ByHand(Relocation):
    """No tracing and no selection: a test orders the migrations."""

    def __init__(self) -> None:
        self.orders: list[tuple[str, str, tuple[str, ...]]] = []  # carried out at the next deadline

    def forget(self, advertisement: str) -> None:
        pass

    def received_other(self, now_us: int, peer: str, envelope: Envelope) -> None:
        raise AssertionError(envelope)

    def neighbour_lost(self, now_us: int, peer: str) -> None:
        pass

    def publication_accepted(self, now_us: int, publication: Publication) -> Publication:
        return publication

    def publication_processed(
        self, now_us: int, envelope: Envelope, source: str, neighbours: Sequence[str], subscribers: int
    ) -> None:
        pass

    def deadline(self, now_us: int) -> None:
        for order in self.orders:
            self.migration.order(*order)
        self.orders.clear()

    def next_deadline_us(self) -> int | None:
        return 0 if self.orders else None


class Scene:
    """A tree of brokers; every publication that a publisher hands over is remembered with its content."""

    def __init__(
        self,
        links: Sequence[tuple[str, str]],
        layer: Callable[[], Layer] = ByHand,
        options: BrokerOptions | None = None,
        seed: int = 0,
        net: Network | None = None,
    ) -> None:
        self.net = net or Network(options, seed, through_the_wire=True)
        self.links = list(links)
        self.layers: dict[str, Layer] = {}
        self.publishers: dict[str, ClientMachine] = {}
        self.tokens: dict[str, int] = {}
        self.published: list[tuple[str, dict[str, object]]] = []
        self.interests: dict[str, str] = {}
        for name in sorted({end for link in links for end in link}):
            self.layers[name] = layer()
            broker = Broker(name, options, rng=Random(7), layer=self.layers[name])
            self.net.add(name, broker)
        for a, b in links:
            self.net.connect(a, b)
        self.net.settle()

    def path(self, source: str, target: str) -> tuple[str, ...]:
        near: dict[str, list[str]] = {}
        for a, b in self.links:
            near.setdefault(a, []).append(b)
            near.setdefault(b, []).append(a)
        ways: list[list[str]] = [[source]]
        for way in ways:
            if way[-1] == target:
                return tuple(reversed(way))
            ways += [[*way, n] for n in near.get(way[-1], []) if n not in way]
        raise AssertionError("no path")

    def subscriber(self, name: str, broker: str, text: str) -> PlainClient:
        client = self.net.client(name, broker)
        self.net.subscribe(name, text)
        self.interests[name] = text
        self.net.settle()
        return client

    def publisher(self, name: str, broker: str, text: str) -> ClientMachine:
        client = ClientMachine(name, broker, addresses={b: b for b in self.layers})
        self.net.add(name, client)
        self.net.apply(name, client.start(self.net.now_us))
        self.net.settle()
        self.tokens[name], effects = client.advertise(self.net.now_us, parse_filter(text))
        self.net.apply(name, effects)
        self.net.settle()
        self.publishers[name] = client
        return client

    def publish(self, name: str, **attributes: str | int | float) -> str:
        self.net.now_us += 1
        id_, effects = self.publishers[name].publish(self.net.now_us, dict(attributes))
        self.net.apply(name, effects)
        self.published.append((id_, dict(attributes)))
        return id_

    def advertisement(self, name: str) -> str:
        return self.publishers[name].items[self.tokens[name]].id

    def order(self, name: str, target: str) -> None:
        """The publisher's broker orders it to move."""
        client = self.publishers[name]
        source = client.items[self.tokens[name]].home
        layer = self.layers[source]
        assert isinstance(layer, ByHand)
        layer.orders.append((self.advertisement(name), name, self.path(source, target)))
        self.net.feed(source, DeadlineReached())

    def check_deliveries(self, published: Sequence[tuple[str, dict[str, object]]] | None = None) -> None:
        """No phantom, no duplicate, nothing missing, for every subscriber and every publication."""
        expected = self.published if published is None else published
        ids = {id_ for id_, _ in expected}
        for name, text in self.interests.items():
            filter_ = parse_filter(text)
            wanted = [id_ for id_, attributes in expected if filter_.matches(attributes)]  # type: ignore[arg-type]
            got = [id_ for id_ in self.net.plain(name).publications() if id_ in ids]
            assert sorted(got) == sorted(wanted), name
