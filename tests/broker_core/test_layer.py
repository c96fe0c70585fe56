"""The seat of a relocation algorithm: what a layer sees and what it can do."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from broker_grpc.content.language import parse_filter
from broker_grpc.core.config import BrokerProcessConfig
from broker_grpc.errors import BrokerError, ProtocolError
from broker_grpc.machine import DeadlineReached, PeerDown, PeerUp, Received, Send, unfolded
from broker_grpc.protocols.contentbased.broker import Broker
from broker_grpc.protocols.contentbased.layer import ExchangeEnded, LayerHost
from broker_grpc.registry import machine_of
from protos.body import Envelope
from protos.client_messages import Advertisement, Publication, Subscription, Trace
from protos.relocation_messages import RelocationAnswer, RelocationRequest, TraceResult

STOCK = parse_filter("[class,eq,STOCK]").predicates


class Recorder:
    """Traces every publication, reports to the source, and notes everything."""

    def __init__(self) -> None:
        self.seen: list[tuple[object, ...]] = []
        self.host: LayerHost
        self.due: int | None = None

    def attach(self, host: LayerHost) -> None:
        self.host = host

    def publication_accepted(self, now_us: int, publication: Publication) -> Publication:
        return msgspec.structs.replace(publication, trace=Trace(counted=True), wire=b"", wire_size=-1)

    def publication_processed(
        self, now_us: int, envelope: Envelope, source: str, neighbours: Sequence[str], subscribers: int
    ) -> None:
        body = envelope.body
        assert isinstance(body, Publication)
        self.seen.append(
            ("processed", body.id, body.trace is not None, source, list(neighbours), subscribers)
        )
        if source in self.host.neighbours():
            self.host.send(source, TraceResult("a", body.id, subscribers))

    def received(self, now_us: int, peer: str, envelope: Envelope) -> None:
        if isinstance(envelope.body, RelocationAnswer):
            raise ProtocolError("not asked for")
        self.seen.append(("received", peer, envelope.body.type))

    def peer_up(self, now_us: int, peer: str) -> None:
        self.seen.append(("up", peer))

    def peer_down(self, now_us: int, peer: str) -> None:
        self.seen.append(("down", peer))

    def deadline(self, now_us: int) -> None:
        self.seen.append(("deadline", now_us))
        self.due = None

    def next_deadline_us(self) -> int | None:
        return self.due

    def objection(self) -> str:
        return ""

    def exchange_ended(self, now_us: int, ended: ExchangeEnded) -> None:
        self.seen.append(("exchange", ended.outcome, ended.reason))


@pytest.fixture
def layered() -> tuple[Broker, Recorder]:
    layer = Recorder()
    broker = Broker("B1", layer=layer)
    for name, kind in (
        ("B2", "broker"),
        ("B3", "broker"),
        ("P", "client"),
        ("S1", "client"),
        ("S2", "client"),
    ):
        broker.handle(1, PeerUp(name, kind))  # type: ignore[arg-type]
    broker.handle(2, Received("P", Envelope(Advertisement("", "P", STOCK), 0, 1)))
    broker.handle(2, Received("B2", Envelope(Advertisement("a2", "Q", STOCK), 1)))
    for name in ("S1", "S2"):
        broker.handle(2, Received(name, Envelope(Subscription("", name, STOCK), 0, 1)))
    broker.handle(2, Received("B3", Envelope(Subscription("s3", "S3", STOCK), 1)))
    layer.seen.clear()
    return broker, layer


def publication(id_: str, publisher: str) -> Publication:
    return Publication(id_, publisher, "a", 1, {"class": "STOCK"})


def test_a_publication_of_a_local_client_can_be_stamped(layered):
    broker, layer = layered
    effects = broker.handle(3, Received("P", Envelope(publication("p1", "P"))))
    assert layer.seen == [("processed", "p1", True, "P", ["B3"], 2)]
    assert all(e.envelope.body.trace == Trace(counted=True) for e in unfolded(effects) if isinstance(e, Send))


def test_a_publication_of_a_neighbour_is_seen_as_it_comes_and_answers_go_out(layered):
    broker, layer = layered
    effects = broker.handle(3, Received("B2", Envelope(publication("q1", "Q"), 1)))
    assert layer.seen == [("processed", "q1", False, "B2", ["B3"], 2)]
    assert [e.envelope.body for e in unfolded(effects) if isinstance(e, Send) and e.peer == "B2"] == [
        TraceResult("a", "q1", 2)
    ]


def test_relocation_messages_go_to_the_layer_and_its_errors_to_the_sender(layered):
    broker, layer = layered
    broker.handle(3, Received("B2", Envelope(RelocationRequest("a"))))
    assert layer.seen == [("received", "B2", "relocation_request")]
    effects = broker.handle(3, Received("B2", Envelope(RelocationAnswer("a"))))
    assert [e.envelope.body.type for e in effects if isinstance(e, Send)] == ["refusal"]


def test_peers_and_deadlines(layered):
    broker, layer = layered
    broker.handle(3, PeerDown("B2"))
    layer.due = 50
    assert broker.next_deadline_us() == 50
    broker.handle(50, DeadlineReached())
    assert layer.seen == [("down", "B2"), ("deadline", 50)]
    assert broker.next_deadline_us() is None


def test_an_advertisement_that_neighbours_know_can_be_placed(layered):
    broker, layer = layered
    layer.host.accept_advertisement(Advertisement("moved", "X", STOCK), "B2")
    assert broker.routing.srt.routes["moved"].hop == "B2"
    assert "moved" in broker.routing.advertisements_told["B3"]
    assert "moved" not in broker.routing.advertisements_told["B2"]


def test_build_names_an_unknown_option():
    with pytest.raises(BrokerError, match="speed"):
        machine_of(BrokerProcessConfig("B1", "127.0.0.1:0", options={"speed": 3}))
    with pytest.raises(BrokerError, match="subscription_covering"):
        machine_of(BrokerProcessConfig("B1", "127.0.0.1:0", options={"subscription_covering": "sometimes"}))
    with pytest.raises(BrokerError, match="no algorithm 'magic'"):
        machine_of(BrokerProcessConfig("B1", "127.0.0.1:0", algorithm={"name": "magic"}))


def test_build():
    broker = machine_of(
        BrokerProcessConfig("B1", "127.0.0.1:0", options={"matching_us": 3}, sample_every_us=7)
    )
    assert (broker.options.matching_us, broker.options.sample_every_us) == (3, 7)
