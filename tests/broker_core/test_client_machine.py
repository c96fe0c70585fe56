"""The client machine: requests, reconnection, buffering, duplicates, pings, migration, fallback."""

from __future__ import annotations

import pytest

from broker_grpc.client.machine import ClientMachine, ClientOptions
from broker_grpc.content.language import parse_filter, parse_publication
from broker_grpc.errors import LanguageError, NotFoundError
from broker_grpc.machine import (
    Answered,
    CloseLink,
    DeadlineReached,
    Delivered,
    Effects,
    Log,
    OpenLink,
    PeerDown,
    PeerUp,
    Received,
    Send,
)
from protos.body import Envelope
from protos.client_messages import Publication
from protos.contentbased_messages import BrokerInformation
from protos.core_messages import Ack, Probe, ProbeAnswer, Refusal
from protos.relocation_messages import (
    MigrationAbort,
    MigrationOrder,
    MigrationResume,
    PingAnswer,
    PingRequest,
)
from tests.broker_core.fifo_network import Network

STOCK = parse_filter("[class,eq,STOCK]")
QUOTE = {"class": "STOCK", "price": 5}


def sent(effects: Effects, peer: str = "") -> list:
    return [e.envelope.body for e in effects if isinstance(e, Send) and peer in ("", e.peer)]


def kinds(effects: Effects) -> list[str]:
    return [e.event.kind for e in effects if isinstance(e, Log)]


def of(effects: Effects, kind: type) -> list:
    return [e for e in effects if isinstance(e, kind)]


def connected(**options) -> ClientMachine:
    client = ClientMachine("c", "B1", "host:1", options=ClientOptions(**options))
    assert client.start(1) == [OpenLink("B1", "host:1")]
    assert kinds(client.handle(2, PeerUp("B1", "broker"))) == ["CONNECTED"]
    return client


def acknowledge(client: ClientMachine, effects: Effects, id_: str = "B1:a1", error: str = "") -> Effects:
    (request,) = [e.envelope.request for e in effects if isinstance(e, Send)]
    return client.handle(5, Received("B1", Envelope(Ack(id_, error), 0, request)))


def publisher(**options) -> tuple[ClientMachine, int]:
    client = connected(**options)
    token, effects = client.advertise(3, STOCK)
    acknowledge(client, effects)
    return client, token


# ---------------------------------------------------------------- messages


def test_a_message_that_no_part_takes_is_logged():
    client = connected()
    (log,) = client.handle(3, Received("B1", Envelope(BrokerInformation("r1", "B1"))))
    assert (log.event.kind, log.event.type, log.event.peer) == ("DROPPED", "broker_information", "B1")
    assert log.event.detail == "the client has no use for it"
    assert client.dropped == 0  # publications


def test_a_part_adds_itself_to_the_handlers():
    client, taken = connected(), []
    client.handlers[BrokerInformation] = lambda peer, envelope, body: taken.append((peer, body.broker))
    assert client.handle(3, Received("B1", Envelope(BrokerInformation("r1", "B7")))) == []
    assert taken == [("B1", "B7")]


# ---------------------------------------------------------------- requests


def test_subscribe_is_a_round_trip():
    client = connected()
    token, effects = client.subscribe(3, STOCK, group="low")
    assert [m.type for m in sent(effects)] == ["subscription"]
    assert not client.settled()
    effects = acknowledge(client, effects, "B1:s1")
    assert of(effects, Answered) == [Answered(token, "B1:s1")]
    (log,) = of(effects, Log)
    assert (log.event.kind, log.event.message, log.event.group) == ("SUBSCRIBED", "B1:s1", "low")
    assert parse_filter(log.event.content) == STOCK
    assert client.settled()


def test_a_refused_request_is_answered_with_the_error_and_forgotten():
    client = connected()
    token, effects = client.subscribe(3, STOCK)
    effects = acknowledge(client, effects, "", "bad_content: no")
    assert of(effects, Answered) == [Answered(token, "", "bad_content: no")]
    assert client.items == {}


def test_a_refusal_that_names_the_request_is_its_answer():
    client = connected()
    token, effects = client.subscribe(3, STOCK)
    request = of(effects, Send)[0].envelope.request
    effects = client.handle(4, Received("B1", Envelope(Refusal("limit_exceeded", "too much"), 0, request)))
    assert of(effects, Answered) == [Answered(token, "", "limit_exceeded: too much")]


def test_requests_before_the_connection_wait_for_it():
    client = ClientMachine("c", "B1")
    client.start(1)
    _, effects = client.subscribe(2, STOCK)
    assert effects == []
    effects = client.handle(3, PeerUp("B1", "broker"))
    assert [m.type for m in sent(effects)] == ["subscription"]


def test_withdraw():
    client = connected()
    token, effects = client.subscribe(3, STOCK)
    acknowledge(client, effects, "B1:s1")
    effects = client.withdraw(6, token)
    assert [(m.type, m.id) for m in sent(effects)] == [("unsubscription", "B1:s1")]
    effects = acknowledge(client, effects, "B1:s1")
    assert kinds(effects) == ["UNSUBSCRIBED"]
    assert of(effects, Answered) == [Answered(token, "B1:s1")]
    with pytest.raises(NotFoundError):
        client.withdraw(7, token)


def test_withdraw_before_the_acknowledgement_waits_for_the_id():
    client = connected()
    token, asked = client.subscribe(3, STOCK)
    assert client.withdraw(4, token) == []
    effects = acknowledge(client, asked, "B1:s1")
    assert [(m.type, m.id) for m in sent(effects)] == [("unsubscription", "B1:s1")]


def test_close_withdraws_everything_then_disconnects():
    client, _ = publisher()
    _, effects = client.subscribe(6, STOCK)
    acknowledge(client, effects, "B1:s1")
    effects = client.close(7)
    assert sorted(m.type for m in sent(effects)) == ["unadvertisement", "unsubscription"]
    assert of(effects, CloseLink) == []
    for e in of(effects, Send):
        effects = client.handle(8, Received("B1", Envelope(Ack(e.envelope.body.id), 0, e.envelope.request)))
    assert [c.peer for c in of(effects, CloseLink)] == ["B1"]
    client.handle(9, PeerDown("B1"))
    assert client.closed


# ---------------------------------------------------------------- publishing


def test_publish_hands_over_with_time_and_advertisement():
    client, _ = publisher()
    id_, effects = client.publish(10, QUOTE, b"xyz")
    (publication,) = sent(effects)
    assert publication == Publication(id_, "c", "B1:a1", 10, QUOTE, b"xyz")
    (log,) = of(effects, Log)
    assert (log.event.kind, log.event.message, log.event.peer) == ("PUBLISHED", id_, "B1")
    assert parse_publication(log.event.content) == QUOTE


def test_a_publication_belongs_to_the_advertisement_that_it_matches():
    client = connected()
    for number, text in ((1, "[class,eq,'OTHER']"), (2, "[class,eq,'STOCK']")):
        _, effects = client.advertise(3, parse_filter(text))
        acknowledge(client, effects, f"B1:a{number}")
    _, effects = client.publish(4, QUOTE)
    assert sent(effects)[0].advertisement == "B1:a2"
    _, effects = client.publish(5, {"class": "NEITHER"})
    assert sent(effects)[0].advertisement == "B1:a1"
    _, effects = client.publish(6, QUOTE, advertisement=1)
    assert sent(effects)[0].advertisement == "B1:a1"


def test_a_refusal_after_a_reconnection_is_logged():
    """The application had its answer long ago: only the log can tell it."""
    client, _ = publisher()
    client.handle(7, PeerDown("B1"))
    effects = client.handle(8, PeerUp("B1", "broker"))
    effects = acknowledge(client, effects, "", "limit_exceeded: no more")
    assert kinds(effects) == ["REFUSED"]


def test_publication_ids_are_unique_over_restarts():
    first, second = ClientMachine("c", "B1"), ClientMachine("c", "B1", incarnation=2)
    assert first.publish(1, QUOTE)[0] != second.publish(1, QUOTE)[0]


def test_bad_publications_are_refused_before_they_are_sent():
    client, _ = publisher()
    with pytest.raises(LanguageError):
        client.publish(10, {"class": "A", "x": float("nan")})
    with pytest.raises(LanguageError, match="surrogate"):
        client.publish(10, {"class": "A", "x": "\ud800"})
    assert client.published == 0


def test_publications_wait_for_the_acknowledgement_of_their_advertisement():
    client = connected()
    _, asked = client.advertise(3, STOCK)
    _, effects = client.publish(4, QUOTE)
    assert effects == []
    assert client.buffered == 1
    effects = acknowledge(client, asked)
    assert [m.advertisement for m in sent(effects)] == ["B1:a1"]
    assert client.buffered == 0


def test_the_buffer_is_bounded_and_drops_are_logged():
    client, _ = publisher(buffer=3)
    client.handle(6, PeerDown("B1"))
    dropped = [kinds(client.publish(7, QUOTE)[1]) for _ in range(5)]
    assert dropped == [[], [], [], ["DROPPED"], ["DROPPED"]]
    assert (client.buffered, client.dropped) == (3, 2)


def test_publications_of_a_refused_advertisement_are_dropped():
    client = connected()
    _, asked = client.advertise(3, STOCK)
    client.publish(4, QUOTE)
    effects = acknowledge(client, asked, "", "bad_content: no")
    assert kinds(effects) == ["REFUSED", "DROPPED"]
    assert client.buffered == 0


# ---------------------------------------------------------------- reconnection


def test_after_a_lost_connection_everything_wanted_is_asked_for_again():
    client, _ = publisher()
    _, effects = client.subscribe(6, STOCK)
    acknowledge(client, effects, "B1:s1")
    assert kinds(client.handle(7, PeerDown("B1", "lost"))) == ["DISCONNECTED"]
    client.publish(8, QUOTE)
    assert not client.settled()
    effects = client.handle(9, PeerUp("B1", "broker"))
    assert sorted(m.type for m in sent(effects)) == ["advertisement", "subscription"], (
        "and nothing published yet"
    )
    requests = {e.envelope.body.type: e.envelope.request for e in of(effects, Send)}
    answer = Envelope(Ack("B1:a9"), 0, requests["advertisement"])
    effects = client.handle(10, Received("B1", answer))
    assert [m.advertisement for m in sent(effects)] == ["B1:a9"], "the new id"
    assert of(effects, Answered) == [], "the application had its answer"


def test_an_answer_that_the_lost_stream_took_along_is_not_waited_for():
    client = connected()
    _, asked = client.subscribe(3, STOCK)
    client.handle(4, PeerDown("B1"))
    again = client.handle(5, PeerUp("B1", "broker"))
    assert of(acknowledge(client, again, "B1:s2"), Answered)
    assert of(acknowledge(client, asked, "B1:s1"), Answered) == []


def test_fallback_broker():
    """GRAPE 4.2: if the first broker fails, the publisher can reconnect to any other broker."""
    client = ClientMachine(
        "c", "B1", "h:1", addresses={"B2": "h:2"}, fallbacks=["B2"],
        options=ClientOptions(fallback_after_us=1000),
    )  # fmt: skip
    client.start(1)
    client.advertise(2, STOCK)
    assert client.next_deadline_us() == 1001
    effects = client.handle(1001, DeadlineReached())
    assert of(effects, CloseLink)[0].peer == "B1"
    assert of(effects, OpenLink) == [OpenLink("B2", "h:2")]
    effects = client.handle(1002, PeerUp("B2", "broker"))
    assert [m.type for m in sent(effects, "B2")] == ["advertisement"]
    assert client.next_deadline_us() is None
    client.handle(2000, PeerDown("B2"))
    assert of(client.handle(3000, DeadlineReached()), OpenLink) == [OpenLink("B1", "h:1")]


# ---------------------------------------------------------------- delivery


def test_delivery_and_duplicates():
    client = connected(window=2)
    counts = []
    for number in (1, 1, 2, 3, 1):
        publication = Publication(f"p{number}", "P", "a", 5, QUOTE)
        effects = client.handle(10, Received("B1", Envelope(publication, 3)))
        (log,) = of(effects, Log)
        counts.append((len(of(effects, Delivered)), log.event.kind, log.event.detail))
    assert counts == [
        (1, "DELIVERED", ""),
        (0, "DELIVERED", "duplicate"),  # the application does not see it, whoever reads the log does
        (1, "DELIVERED", ""),
        (1, "DELIVERED", ""),
        (1, "DELIVERED", ""),  # p1 has left the window of two
    ]
    assert client.delivered == 4


# ---------------------------------------------------------------- pings


def test_round_trips_to_candidate_brokers():
    client = ClientMachine("c", "B1", "h:1", addresses={"B2": "h:2", "B3": "h:3"})
    client.start(1)
    client.handle(2, PeerUp("B1", "broker"))
    effects = client.handle(10, Received("B1", Envelope(PingRequest("a", ("B1", "B2", "B3", "B9")))))
    assert [m.type for m in sent(effects, "B1")] == ["probe"]
    assert of(effects, OpenLink) == [OpenLink("B2", "h:2"), OpenLink("B3", "h:3")]
    probe: Probe = sent(effects, "B1")[0]
    client.handle(15, Received("B1", Envelope(ProbeAnswer(probe.sequence))))
    probe = sent(client.handle(100, PeerUp("B2", "broker")), "B2")[0]
    effects = client.handle(130, Received("B2", Envelope(ProbeAnswer(probe.sequence))))
    assert [c.peer for c in of(effects, CloseLink)] == ["B2"]
    assert client.next_deadline_us() == 5_000_010
    effects = client.handle(5_000_010, DeadlineReached())
    (answer,) = sent(effects, "B1")
    assert isinstance(answer, PingAnswer)
    assert [(r.broker, r.rtt_us) for r in answer.rtts] == [("B1", 5), ("B2", 30), ("B3", -1), ("B9", -1)]
    assert [c.peer for c in of(effects, CloseLink)] == ["B3"]


# ---------------------------------------------------------------- migration (POP 3.3)


def migrating() -> ClientMachine:
    client, _ = publisher()
    effects = client.handle(
        10, Received("B1", Envelope(MigrationOrder("m", "B1:a1", ("B6", "B5", "B1"), "h:6")))
    )
    assert of(effects, OpenLink) == [OpenLink("B6", "h:6")]
    assert "MIGRATION_STARTED" in kinds(effects)
    return client


def test_a_migrating_publisher_pauses_and_resumes_at_the_target():
    client = migrating()
    assert sent(client.publish(11, QUOTE)[1]) == [], "paused"
    effects = client.handle(12, PeerUp("B6", "broker"))
    (message,) = sent(effects, "B6")
    assert (message.type, message.advertisement.id) == ("migration_advertisement", "B1:a1")
    assert message.brokers == ("B6", "B5", "B1")
    effects = client.handle(40, Received("B6", Envelope(MigrationResume("m", "B1:a1", "B6"))))
    assert [m.type for m in sent(effects, "B6")] == ["publication"]
    assert [c.peer for c in of(effects, CloseLink)] == ["B1"]
    (migrated,) = [e.event for e in of(effects, Log) if e.event.kind == "MIGRATED"]
    assert migrated.duration_us == 30
    assert client.broker == "B6"
    assert [m.type for m in sent(client.publish(41, QUOTE)[1], "B6")] == ["publication"]


def test_a_client_that_also_subscribes_stays_connected_to_the_source():
    client, _ = publisher()
    _, effects = client.subscribe(6, STOCK)
    acknowledge(client, effects, "B1:s1")
    client.handle(10, Received("B1", Envelope(MigrationOrder("m", "B1:a1", ("B6", "B1"), "h:6"))))
    client.handle(12, PeerUp("B6", "broker"))
    effects = client.handle(40, Received("B6", Envelope(MigrationResume("m", "B1:a1", "B6"))))
    assert of(effects, CloseLink) == []
    assert client.broker == "B1"


def test_an_aborted_migration_goes_on_at_the_source():
    client = migrating()
    client.publish(11, QUOTE)
    client.handle(12, PeerUp("B6", "broker"))
    effects = client.handle(20, Received("B6", Envelope(MigrationAbort("m", "B1:a1", (), "no path"))))
    assert "MIGRATION_ABORTED" in kinds(effects)
    assert [m.type for m in sent(effects, "B1")] == ["migration_abort", "publication"]
    assert [c.peer for c in of(effects, CloseLink)] == ["B6"]


def test_a_target_that_cannot_be_reached_ends_the_migration():
    client = migrating()
    client.publish(11, QUOTE)
    effects = client.handle(client.next_deadline_us(), DeadlineReached())
    assert [m.type for m in sent(effects, "B1")] == ["migration_abort", "publication"]
    assert [c.peer for c in of(effects, CloseLink)] == ["B6"]


def test_an_order_for_an_advertisement_that_is_not_held_is_refused():
    client, _ = publisher()
    effects = client.handle(10, Received("B1", Envelope(MigrationOrder("m", "B1:a7", ("B6", "B1")))))
    assert [m.type for m in sent(effects, "B1")] == ["migration_abort"]


# ---------------------------------------------------------------- with real brokers


def drive(net: Network, client: ClientMachine, effects: Effects) -> None:
    net.apply(client.id, effects)
    net.settle()


def test_clients_and_brokers_over_a_crash_of_the_broker():
    """After the restart everything is advertised and subscribed again, and nothing comes twice."""
    net = Network(through_the_wire=True)
    net.tree([("B1", "B2"), ("B2", "B3")])
    source, sink = ClientMachine("P", "B1"), ClientMachine("S", "B3")
    for client in (source, sink):
        net.add(client.id, client)
        drive(net, client, client.start(net.now_us))
    drive(net, source, source.advertise(net.now_us, STOCK)[1])
    drive(net, sink, sink.subscribe(net.now_us, STOCK)[1])
    drive(net, source, source.publish(net.now_us, QUOTE)[1])
    for broker in ("B2", "B3", "B1"):
        peers = net.crash(broker)
        net.settle()
        drive(net, source, source.publish(net.now_us, QUOTE)[1])
        net.add_broker(broker)
        for peer in peers:
            net.connect(peer, broker)
        net.settle()
        net.check_tables()
        drive(net, source, source.publish(net.now_us, QUOTE)[1])
    delivered = [e.message for e in net.events("DELIVERED")]
    assert len(delivered) == len(set(delivered))
    # P:6 was buffered while B1 was away and handed over as soon as it could be: before subscriptions had
    # come back to B1, so it may or may not arrive. All that was published on a quiet network must.
    assert [id_ for id_ in delivered if id_ != "P:6"] == ["P:1", "P:3", "P:5", "P:7"]
    assert "P:6" in [e.message for e in net.events("PUBLISHED")]


def test_a_part_is_made_when_the_first_of_its_messages_comes() -> None:
    """And is told what happens from then on; parts of a client that is asked for nothing cost nothing."""
    client = ClientMachine("c", "B1", "h:1", addresses={"B2": "h:2"})
    client.start(0)
    client.handle(0, PeerUp("B1", "broker"))
    assert client.handlers.keys() == {Ack, Refusal}
    assert client.next_deadline_us() is None
    asked = client.receive(5, "B1", Envelope(PingRequest("a", ("B2",))))
    assert [type(effect) for effect in asked] == [OpenLink]
    assert client.handlers.keys() == {Ack, Refusal, PingRequest, ProbeAnswer}
    assert client.next_deadline_us() == 5 + client.options.ping_timeout_us
    assert Send("B2", Envelope(Probe(1))) in client.handle(9, PeerUp("B2", "broker"))
