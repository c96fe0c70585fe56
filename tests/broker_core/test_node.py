"""What every broker machine does alike: one suite, several machines."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from broker_grpc.content.language import parse_filter
from broker_grpc.core.node import Node
from broker_grpc.core.options import BrokerOptions
from broker_grpc.machine import (
    DeadlineReached,
    Effects,
    Log,
    Machine,
    PeerDown,
    PeerUp,
    Received,
    Rejected,
    Send,
)
from broker_grpc.protocols.contentbased.broker import Broker
from broker_grpc.protocols.topicconnected.broker import TopicBroker
from broker_grpc.protocols.topicconnected.coordinator import Coordinator
from broker_grpc.protocols.topicconnected.settings import CoordinatorSettings, TopicBrokerSettings
from protos.body import Body, Envelope
from protos.client_messages import Publication, Subscription, Unsubscription
from protos.contentbased_messages import SyncComplete
from protos.core_messages import Ack, Heartbeat, HeartbeatAnswer, Hello, Probe, ProbeAnswer, Refusal
from protos.envelope import encoded_size
from protos.records import LogEvent
from protos.relocation_messages import RelocationRequest
from protos.topicconnected_messages import OverlayReport, TopicInterest

S = 1_000_000
PREDICATES = parse_filter("[class,eq,sport]").predicates

Make = Callable[[BrokerOptions], Node]
MACHINES: dict[str, Make] = {
    "content-based": lambda options: Broker("B1", options),
    "topic-connected": lambda options: TopicBroker("B1", TopicBrokerSettings("C", ["news"]), options),
    "coordinator": lambda options: Coordinator("B1", CoordinatorSettings(), options),
}
# A message of brokers that this machine takes, and that settles.
ITS_OWN: dict[str, Body] = {
    "content-based": SyncComplete(0),
    "topic-connected": TopicInterest(("news",)),
    "coordinator": TopicInterest(("news",)),
}


@pytest.fixture(params=MACHINES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make(name: str) -> Callable[..., Node]:
    """With a broker B2 and a client c connected."""

    def made(**options: object) -> Node:
        machine = MACHINES[name](BrokerOptions(verify_tree=False, **options))  # type: ignore[arg-type]
        machine.handle(0, PeerUp("B2", "broker", 1 << 20))
        machine.handle(0, PeerUp("c", "client", 1))
        return machine

    return made


@pytest.fixture
def machine(make: Callable[..., Node]) -> Node:
    return make()


def tell(machine: Machine, peer: str, body: Body, request: int = 0, now_us: int = S) -> Effects:
    return machine.handle(now_us, Received(peer, Envelope(body, 1, request)))


def answers(effects: Effects, peer: str) -> list[Body]:
    return [e.envelope.body for e in effects if isinstance(e, Send) and e.peer == peer]


def logged(effects: Effects) -> list[LogEvent]:
    return [e.event for e in effects if isinstance(e, Log)]


def kinds(effects: Effects) -> list[str]:
    return [event.kind for event in logged(effects)]


# ---------------------------------------------------------------- peers


def test_a_link_that_comes_and_goes_is_logged_and_a_client_is_not(machine: Node) -> None:
    up = logged(machine.handle(S, PeerUp("B3", "broker", 1 << 20)))
    assert [(e.kind, e.peer, e.node, e.t_us) for e in up if e.kind == "LINK_UP"] == [
        ("LINK_UP", "B3", "B1", S)
    ]
    down = logged(machine.handle(2 * S, PeerDown("B3", "cut")))
    assert ("LINK_DOWN", "B3", "cut") in [(e.kind, e.peer, e.detail) for e in down]
    assert not {"LINK_UP", "LINK_DOWN"} & set(kinds(machine.handle(3 * S, PeerUp("d", "client", 1))))
    assert not {"LINK_UP", "LINK_DOWN"} & set(kinds(machine.handle(3 * S, PeerDown("d", "cut"))))


def test_a_newer_stream_takes_the_place_of_the_older(machine: Node) -> None:
    effects = machine.handle(S, PeerUp("B2", "broker", 2 << 20))
    assert [kind for kind in kinds(effects) if kind.startswith("LINK")] == ["LINK_DOWN", "LINK_UP"]
    assert list(machine.status().links) == ["B2"]


def test_the_end_of_a_stream_that_is_not_there_is_no_news(machine: Node) -> None:
    assert machine.handle(S, PeerDown("B9", "cut")) == []


def test_delays_to_a_peer_that_is_gone_are_forgotten(machine: Node) -> None:
    machine.monitor.sent("B2", 100, 5)
    machine.handle(S, PeerDown("B2", "cut"))
    assert machine.monitor.output_queueing_us("B2") == 0


# ---------------------------------------------------------------- messages


def test_every_message_is_logged_with_its_size(name: str, machine: Node) -> None:
    event = logged(tell(machine, "B2", ITS_OWN[name]))[0]
    assert (event.kind, event.type, event.peer, event.hops) == ("RECEIVED", ITS_OWN[name].type, "B2", 1)
    assert event.bytes == encoded_size(Envelope(ITS_OWN[name], 1))


def test_who_is_not_connected_is_not_heard(name: str, machine: Node) -> None:
    dropped = logged(tell(machine, "ghost", ITS_OWN[name]))
    assert [(e.kind, e.peer, e.detail) for e in dropped] == [("DROPPED", "ghost", "not connected")]


def test_messages_of_brokers_that_settle_are_counted_and_no_others(name: str, machine: Node) -> None:
    before = machine.status()
    tell(machine, "B2", ITS_OWN[name])
    for body in (Heartbeat(1), HeartbeatAnswer(1), Refusal("protocol", "no")):
        tell(machine, "B2", body)
    tell(machine, "c", Probe(1))
    assert machine.status().control_received - before.control_received == 1


def test_counters_go_with_their_stream(name: str, machine: Node) -> None:
    tell(machine, "B2", ITS_OWN[name])
    machine.handle(2 * S, PeerDown("B2", "cut"))
    status = machine.status()
    assert (status.control_sent, status.control_received) == (0, 0)


def test_a_probe_is_answered(machine: Node) -> None:
    effects = tell(machine, "c", Probe(7), 3)
    assert [(e.envelope.body, e.envelope.request) for e in effects if isinstance(e, Send)] == [
        (ProbeAnswer(7), 3)
    ]


def test_a_heartbeat_is_answered(machine: Node) -> None:
    assert answers(tell(machine, "B2", Heartbeat(7)), "B2") == [HeartbeatAnswer(7)]


@pytest.mark.parametrize("body", [HeartbeatAnswer(3), Refusal("protocol", "no"), Ack("x")])
def test_an_answer_is_never_answered(machine: Node, body: Body) -> None:
    assert kinds(tell(machine, "B2", body)) == ["RECEIVED"]


def test_a_second_hello_is_refused(machine: Node) -> None:
    (answer,) = answers(tell(machine, "B2", Hello("B2")), "B2")
    assert answer == Refusal("protocol", "a second hello on one stream")


def test_what_the_driver_could_not_decode_is_refused_and_the_peer_stays(machine: Node) -> None:
    effects = machine.handle(S, Rejected("B2", "unknown_message", "version 9", 4))
    assert answers(effects, "B2") == [Refusal("unknown_message", "version 9")]
    assert kinds(effects) == ["REFUSED", "SENT"]
    assert "B2" in machine.status().links


@pytest.mark.parametrize(("peer", "body"), [("c", RelocationRequest("a")), ("B2", RelocationRequest("a"))])
def test_what_nobody_knows_is_refused(machine: Node, peer: str, body: Body) -> None:
    (answer,) = answers(tell(machine, peer, body), peer)
    assert isinstance(answer, Refusal)
    assert answer.reason == "protocol"


def test_a_client_that_asked_hears_it_in_the_answer_to_its_request(machine: Node) -> None:
    (answer,) = answers(tell(machine, "c", Unsubscription("nobody's"), 5), "c")
    assert isinstance(answer, Ack)
    assert answer.error


# ---------------------------------------------------------------- publications


def bad(**changes: object) -> Publication:
    return Publication(**{"id": "c:1", "publisher": "c", "attributes": {"class": "news"}} | changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "publication", [bad(publisher="someone"), bad(id=""), bad(attributes={"class": float("nan")})]
)
@pytest.mark.parametrize("name", ["content-based", "topic-connected"], indirect=True)
def test_a_bad_publication_of_a_client_is_refused(machine: Node, publication: Publication) -> None:
    effects = machine.handle(S, Received("c", Envelope(publication)))
    assert kinds(effects) == ["REFUSED", "SENT"]
    assert machine.status().publications == 0


@pytest.mark.parametrize("name", ["content-based", "topic-connected"], indirect=True)
def test_a_publication_is_counted_and_acknowledged_where_that_was_asked_for(machine: Node) -> None:
    effects = machine.handle(S, Received("c", Envelope(bad(), 0, 8)))
    assert answers(effects, "c") == [Ack("c:1")]
    assert kinds(effects) == ["SENT", "PROCESSED"]
    assert machine.status().publications == 1


def test_a_publication_of_nobody_is_dropped(machine: Node) -> None:
    assert kinds(machine.handle(S, Received("ghost", Envelope(bad(), 1)))) == ["DROPPED"]


# ---------------------------------------------------------------- time


def test_samples_come_at_their_times(make: Callable[..., Node]) -> None:
    machine = make(sample_every_us=S)
    machine.handle(0, DeadlineReached())
    sampled = []
    while (due := machine.next_deadline_us()) is not None and due <= 3 * S:
        sampled += [e.t_us for e in logged(machine.handle(due, DeadlineReached())) if e.kind == "SAMPLED"]
    assert sampled == [S, 2 * S, 3 * S]


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("content-based", ["SAMPLED", "LINK_UP"]),
        ("topic-connected", ["LINK_UP", "SAMPLED"]),
        ("coordinator", ["LINK_UP", "SAMPLED"]),
    ],
    indirect=["name"],
)
def test_what_is_due_is_done_before_or_after_what_happens(
    make: Callable[..., Node], order: list[str]
) -> None:
    machine = make(sample_every_us=S)
    machine.handle(0, DeadlineReached())
    assert [k for k in kinds(machine.handle(S, PeerUp("B3", "broker", 1 << 20))) if k in order] == order


def test_a_message_makes_a_content_based_broker_do_nothing_else() -> None:
    """A sample that is due waits for its deadline: the driver calls at the same instant."""
    machine = MACHINES["content-based"](BrokerOptions(sample_every_us=S))
    machine.handle(0, PeerUp("c", "client", 1))
    assert "SAMPLED" not in kinds(tell(machine, "c", Probe(1), now_us=S))
    assert kinds(machine.handle(S, DeadlineReached())) == ["SAMPLED"]


@pytest.mark.parametrize(
    ("options", "steady"),
    [
        ({}, True),
        ({"sample_every_us": S}, True),
        ({"heartbeat_interval_us": S}, False),
        ({"repair_grace_us": S}, False),
        ({"matching_us": 1}, False),
    ],
)
def test_only_samples_leave_a_broker_steady(options: dict[str, int], steady: bool) -> None:
    machine = Broker("B1", BrokerOptions(**options))  # type: ignore[arg-type]
    assert (Publication in machine.timeless) is steady
    assert (Heartbeat in machine.timeless) is ("matching_us" not in options)


def test_a_processor_takes_its_time(make: Callable[..., Node]) -> None:
    machine = make(control_us=500)
    while machine.waiting:
        machine.handle(machine.next_deadline_us() or 0, DeadlineReached())
    assert tell(machine, "c", Probe(1), now_us=S // 2) == []
    assert machine.waiting == 1
    effects = machine.handle(S // 2 + 500, DeadlineReached())
    assert [e.t_us for e in logged(effects) if e.kind == "RECEIVED"] == [S // 2 + 500]


def test_measured_times_are_for_machines_that_model_none(make: Callable[..., Node]) -> None:
    machine = make()
    measures = machine.measures
    assert measures is not None
    measures.handled(40)
    measures.sent("B2", 100, 7)
    assert (machine.monitor.matching.mean, machine.monitor.output_queueing_us("B2")) == (40, 7)
    assert make(matching_us=1).measures is None


# ---------------------------------------------------------------- questions


def test_who_it_is_and_whom_it_knows(name: str) -> None:
    machine = MACHINES[name](BrokerOptions())
    machine.handle(0, PeerUp("B3", "broker", 1 << 20))
    machine.handle(0, PeerUp("B2", "broker", 1 << 20))
    machine.handle(0, PeerUp("c", "client", 1))
    status = machine.status()
    assert (status.broker, status.incarnation, list(status.links), status.clients) == (
        "B1",
        1,
        ["B2", "B3"],
        1,
    )


def test_a_machine_without_links_is_settled(name: str) -> None:
    assert MACHINES[name](BrokerOptions()).settled


def test_a_content_based_broker_is_settled_when_every_link_is_synchronised() -> None:
    machine = Broker("B1", BrokerOptions(verify_tree=False))
    for peer in ("B2", "B3"):
        machine.handle(0, PeerUp(peer, "broker", 1 << 20))
    states = []
    for peer in ("B2", "B3", "B2", "B3"):
        tell(machine, peer, SyncComplete(0))
        states.append((machine.settled, machine.status().settled))
    assert states == [(False, False)] * 3 + [(True, True)]


def test_a_topic_broker_is_settled_when_all_knew_its_interests() -> None:
    machine = TopicBroker("B1", TopicBrokerSettings("C", ["news"], interest_delay_us=S))
    machine.handle(0, PeerUp("C", "broker", 1 << 20))
    machine.handle(0, PeerUp("c", "client", 1))
    assert machine.settled
    tell(machine, "c", Subscription("", "c", PREDICATES), now_us=0)
    assert not machine.settled
    machine.handle(S, DeadlineReached())
    assert machine.settled


def test_a_coordinator_is_settled_when_what_it_decided_is_up() -> None:
    machine = Coordinator("C", CoordinatorSettings(gather_us=S))
    for peer in ("B1", "B2"):
        machine.handle(0, PeerUp(peer, "broker", 1 << 20))
        tell(machine, peer, TopicInterest(("news",)), now_us=0)
    assert not machine.settled
    machine.handle(S, DeadlineReached())
    assert not machine.settled, "the link is ordered, and not up"
    tell(machine, "B1", OverlayReport(1, ("B2",)))
    tell(machine, "B2", OverlayReport(1, ("B1",)))
    assert machine.settled


@pytest.mark.parametrize("name", ["content-based", "coordinator"], indirect=True)
def test_who_has_nothing_to_say_at_the_end_says_nothing(machine: Node) -> None:
    assert machine.farewell(S) == []


def test_what_only_brokers_say_is_refused_from_a_client() -> None:
    machine = MACHINES["content-based"](BrokerOptions())
    machine.handle(0, PeerUp("c", "client", 1))
    (answer,) = answers(tell(machine, "c", Heartbeat(1)), "c")
    assert answer == Refusal("protocol", "a client does not send a heartbeat")
