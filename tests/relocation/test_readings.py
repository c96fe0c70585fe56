"""What the report leaves open in POP and GRAPE, and each way to read it that a setting offers."""

from __future__ import annotations

from typing import Any

import pytest

from broker_grpc.content.language import parse_filter
from broker_grpc.core.config import BrokerProcessConfig
from broker_grpc.core.options import BrokerOptions
from broker_grpc.errors import BrokerError
from broker_grpc.machine import DeadlineReached, PeerUp, Received
from broker_grpc.protocols.contentbased.broker import Broker
from broker_grpc.protocols.relocation.grape import Grape
from broker_grpc.protocols.relocation.plug import build_grape
from broker_grpc.protocols.relocation.pop import Pop
from broker_grpc.protocols.relocation.profile import LOCAL, PublisherProfileTable
from broker_grpc.protocols.relocation.settings import GrapeSettings, PopSettings
from protos.body import Envelope
from protos.client_messages import Advertisement, Publication
from protos.relocation_messages import BrokerRtt, PingAnswer, PingRequest, TraceInformationAnswer, TraceResult
from tests.relocation.scene import FIGURE_1, Scene

ALL = "[class,eq,'STOCK'],[symbol,eq,'YHOO']"
FEW = ALL + ",[n,>,8]"  # one publication in ten
QUOTE: dict[str, Any] = {"class": "STOCK", "symbol": "YHOO"}


# ---------------------------------------------------------------- 3.1: rows of POP's profile table


def test_a_row_may_be_averaged_over_the_publications_that_went_down_its_link() -> None:
    table = PublisherProfileTable(0.25, absent="unchanged")
    for _ in range(9):
        table.record({LOCAL: 1})
    table.record({LOCAL: 1, "B2": 8})
    table.record({LOCAL: 1})
    assert table.average == {LOCAL: 1.0, "B2": 8.0}


def test_a_row_first_seen_late_may_weigh_what_was_traced_before() -> None:
    table = PublisherProfileTable(0.25, late_row="weighted")
    table.record({LOCAL: 1})
    table.record({LOCAL: 1, "B2": 8})
    assert table.average == {LOCAL: 1.0, "B2": 2.0}
    first = PublisherProfileTable(0.25, late_row="weighted")
    first.record({"B2": 8})
    assert first.average == {"B2": 8.0}  # nothing was traced before


@pytest.mark.parametrize(("absent", "goes_to"), [("zero", "B1"), ("unchanged", "B2")])
def test_a_few_subscribers_of_many_publications_or_many_of_a_few(absent: Any, goes_to: str) -> None:
    """Two at B1 for every publication, ten behind B2 for one in ten: which is the closest broker?"""
    scene = Scene(FIGURE_1, layer=lambda: Pop(PopSettings(threshold=20, absent=absent)))
    for i in range(2):
        scene.subscriber(f"all{i}", "B1", ALL)
    for i in range(10):
        scene.subscriber(f"few{i}", "B2", FEW)
    scene.publisher("P", "B4", ALL)
    for n in range(60):
        scene.publish("P", **QUOTE, n=n % 10)
        scene.net.settle()
    assert scene.net.peers_of("P") == [goes_to]
    scene.check_deliveries()


# ---------------------------------------------------------------- 4.1, 4.2: GRAPE's estimates


def grape(**settings: Any) -> Scene:
    """The database at B8, forty subscribers to few publications at B3, P at B4; 10 ms of matching."""
    made = GrapeSettings(threshold=10, prioritise="delay", **settings)
    scene = Scene(FIGURE_1, layer=lambda: Grape(made))
    scene.subscriber("database", "B8", ALL)
    for i in range(40):
        scene.subscriber(f"low{i}", "B3", FEW)
    scene.publisher("P", "B4", ALL)
    for layer in scene.layers.values():
        layer.host.monitor.observe_input(0, 10_000)  # type: ignore[attr-defined]
    return scene


def publish(scene: Scene, count: int) -> None:
    for n in range(count):
        scene.publish("P", **QUOTE, n=n % 10)
        scene.net.settle()


@pytest.mark.parametrize(("latency", "told"), [(False, 0), (True, 20_000)])
def test_an_output_delay_contains_the_links_latency_or_not(latency: bool, told: int) -> None:
    """4.1: "output queuing delay to each neighbour broker"; algorithm 1 adds nothing for the way itself."""
    scene = grape(link_latency=latency)
    scene.net.nodes["B5"].links.brokers["B6"].rtt_us = 40_000  # type: ignore[attr-defined]
    seen: dict[str, int] = {}

    def watch(source: str, target: str, envelope: Envelope) -> None:
        if isinstance(envelope.body, TraceInformationAnswer):
            for broker in envelope.body.brokers:
                if broker.broker == "B5":
                    seen.update({o.neighbour: o.output_queueing_us for o in broker.outputs})

    scene.net.on_send = watch
    publish(scene, 10)
    assert (seen["B6"], seen["B1"]) == (told, 0)  # nothing has measured the other link


def test_a_latency_that_nothing_measures_is_refused() -> None:
    config = BrokerProcessConfig("B1", "", algorithm={"name": "grape"})
    with pytest.raises(BrokerError, match="heartbeat_interval_us"):
        build_grape(config, GrapeSettings(link_latency=True))


@pytest.mark.parametrize(("ping", "goes_to"), [("half", "B3"), ("whole", "B2")])
def test_half_a_ping_is_the_way_there_or_the_whole_one_counts(ping: Any, goes_to: str) -> None:
    """B3, where nearly all deliveries are, is 10 ms away and back; B2, at no distance, costs 6 ms more."""
    scene = grape(ping=ping)
    asked: list[PingRequest] = []
    scene.publishers["P"].handlers[PingRequest] = lambda peer, envelope, body: asked.append(body)
    publish(scene, 10)
    [request] = asked
    rtts = tuple(BrokerRtt(b, 10_000 if b == "B3" else 0 if b == "B2" else 900_000) for b in request.brokers)
    scene.net.feed("B4", Received("P", Envelope(PingAnswer(request.advertisement, rtts))))
    scene.net.settle()
    assert scene.net.peers_of("P") == [goes_to]


@pytest.mark.parametrize("own", [True, False])
def test_the_candidates_are_the_downstream_brokers_and_perhaps_the_publishers_own(own: bool) -> None:
    """4.2: "the candidate brokers are the downstream brokers that replied with a TIA message"."""
    scene = grape(own_candidate=own)
    asked: list[tuple[str, ...]] = []

    def watch(source: str, target: str, envelope: Envelope) -> None:
        if isinstance(envelope.body, PingRequest):
            asked.append(envelope.body.brokers)

    scene.net.on_send = watch
    publish(scene, 10)
    assert ("B4" in asked[0]) is own
    assert {"B1", "B3", "B8"} <= set(asked[0])


def test_where_no_other_broker_replied_the_publisher_stays() -> None:
    scene = Scene(FIGURE_1, layer=lambda: Grape(GrapeSettings(threshold=5, own_candidate=False)))
    scene.subscriber("here", "B4", ALL)
    scene.publisher("P", "B4", ALL)
    publish(scene, 6)
    assert scene.net.peers_of("P") == ["B4"]
    assert [e.peer for e in scene.net.events("SELECTED")] == ["B4"]


# ---------------------------------------------------------------- 1: "purely publish/subscribe messaging"


def served(internal_messages: str) -> tuple[int, float]:
    """When a trace result has been handled, and the input utilisation of the second it came in."""
    options = BrokerOptions(matching_us=100, matching_per_candidate_us=10, control_us=5, verify_tree=False,
                            internal_messages=internal_messages)  # type: ignore[arg-type]  # fmt: skip
    broker = Broker("B2", options, layer=Pop(PopSettings()))
    broker.handle(0, PeerUp("B1", "broker"))
    while (due := broker.next_deadline_us()) is not None and due <= 500_000:
        broker.handle(due, DeadlineReached())
    broker.monitor.utilisations(1_000_000)
    broker.handle(1_000_000, Received("B1", Envelope(TraceResult("a", "p1", 3))))
    due = broker.next_deadline_us()
    assert due is not None
    broker.handle(due, DeadlineReached())
    return due - 1_000_000, broker.monitor.utilisations(2_000_000)[0]


def test_internal_messages_may_be_matched_like_publications_and_count_as_load() -> None:
    """One subscription matches, its addressee's."""
    assert served("apart") == (5, 0.0)
    assert served("matched") == (110, 0.0)
    assert served("counted") == (110, 0.00011)


def test_routing_messages_are_the_brokers_own_in_every_reading() -> None:
    options = BrokerOptions(matching_us=100, control_us=5, verify_tree=False, internal_messages="counted")
    broker = Broker("B2", options)
    broker.handle(0, PeerUp("B1", "broker"))
    while (due := broker.next_deadline_us()) is not None and due <= 500_000:
        broker.handle(due, DeadlineReached())
    advertisement = Advertisement("a", "P", parse_filter("[class,eq,A]").predicates)
    broker.handle(1_000_000, Received("B1", Envelope(advertisement, 1)))
    assert broker.next_deadline_us() == 1_000_005
    assert broker.monitor.arrivals == 0
    broker.handle(1_000_005, DeadlineReached())
    broker.handle(2_000_000, Received("B1", Envelope(Publication("p", "P", "a", 1, {"class": "A"}), 1)))
    assert broker.monitor.arrivals == 1
