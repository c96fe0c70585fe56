"""A topic-based broker with the service model: the same queues as any broker's, computed by hand."""

from __future__ import annotations

from typing import Any

from broker_grpc.content.language import parse_filter
from broker_grpc.core.links import hello_incarnation
from broker_grpc.core.options import BrokerOptions
from broker_grpc.machine import DeadlineReached, Effects, Log, PeerDown, PeerUp, Received, Send, unfolded
from broker_grpc.process.stopwatch import stopwatch_for
from broker_grpc.protocols.topicconnected.broker import TopicBroker
from broker_grpc.protocols.topicconnected.coordinator import Coordinator
from broker_grpc.protocols.topicconnected.settings import CoordinatorSettings, TopicBrokerSettings
from protos.body import Body, Envelope
from protos.client_messages import Publication, Subscription
from protos.envelope import encoded_size
from protos.records import LogEvent
from protos.topicconnected_messages import Farewell, OverlayOrder, TopicInterest

S = 1_000_000


def publication(number: int, payload: bytes = b"") -> Envelope:
    return Envelope(Publication(f"p:{number}", "p", "", 0, {"class": "news", "price": 5}, payload), 1)


def broker(**options: Any) -> TopicBroker:
    """B2 between B1 and B3, all of topic news; client c wants it twice, once only when it is dear."""
    settings = TopicBrokerSettings(coordinator="C", topics=("news",), heartbeat_interval_us=1000 * S)
    made = TopicBroker("B2", settings, BrokerOptions(**options))
    for name in ("C", "B1", "B3"):
        made.handle(0, PeerUp(name, "broker", hello_incarnation(1, 1)))
    made.handle(0, PeerUp("c", "client", hello_incarnation(1, 1)))
    told: list[tuple[str, Body]] = [("C", OverlayOrder(1, ("B1", "B3")))]
    told += [(name, TopicInterest(("news",))) for name in ("B1", "B3")]
    told += [
        ("c", Subscription("", "c", parse_filter(f"[class,eq,news]{more}").predicates))
        for more in ("", ",[price,>,9]")
    ]
    for peer, body in told:
        made.handle(0, Received(peer, Envelope(body)))
    run(made, S)
    made.monitor.utilisations(S)
    return made


def run(machine: TopicBroker | Coordinator, until_us: int) -> list[LogEvent]:
    events: list[LogEvent] = []
    while (deadline := machine.next_deadline_us()) is not None and deadline <= until_us:
        events += logs(machine.handle(deadline, DeadlineReached()))
    return events


def logs(effects: Effects) -> list[LogEvent]:
    return [effect.event for effect in unfolded(effects) if isinstance(effect, Log)]


def arrive(machine: TopicBroker, at_us: int, *numbers: int, source: str = "B1") -> list[LogEvent]:
    return [
        event
        for number in numbers
        for event in logs(machine.handle(at_us, Received(source, publication(number))))
    ]


def test_without_a_model_a_publication_takes_no_time() -> None:
    found = [(e.kind, e.peer, e.t_us) for e in arrive(broker(), 2 * S, 1)]
    assert found == [("PROCESSED", "B1", 2 * S), ("NOTIFIED", "c", 2 * S), ("FORWARDED", "B3", 2 * S)]


def test_matching_takes_its_time_per_message_and_per_filter_of_the_topic() -> None:
    made = broker(matching_us=100, matching_per_candidate_us=10)
    assert arrive(made, 2 * S, 1) == []
    events = run(made, 3 * S)
    assert [e.kind for e in events] == ["PROCESSED", "NOTIFIED", "FORWARDED"]
    assert {e.t_us for e in events} == {2 * S + 120}
    assert (events[0].queueing_us, events[0].matching_us) == (0, 120)


def test_publications_wait_for_the_one_before() -> None:
    made = broker(matching_us=100)
    arrive(made, 2 * S, 1, 2, 3)
    assert made.waiting == 3
    processed = [e for e in run(made, 3 * S) if e.kind == "PROCESSED"]
    assert [(e.queueing_us, e.matching_us) for e in processed] == [(0, 100), (100, 100), (200, 100)]
    assert made.monitor.input_queueing.mean == 100
    assert made.waiting == 0


def test_sending_takes_the_bandwidth_that_there_is() -> None:
    made = broker(output_bandwidth=1_000)
    sizes = {"c": encoded_size(publication(1)), "B3": encoded_size(Envelope(publication(1).body, 2))}
    arrive(made, 2 * S, 1)
    sent = [e for e in run(made, 9 * S) if e.kind in ("NOTIFIED", "FORWARDED")]
    first = sizes["c"] * 1000
    assert [(e.peer, e.sending_us) for e in sent] == [("c", first), ("B3", first + sizes["B3"] * 1000)]
    assert made.monitor.utilisations(9 * S)[1] == sum(sizes.values()) / 8_000


def test_a_full_queue_drops_and_says_so() -> None:
    made = broker(matching_us=100, input_queue=2)
    dropped = arrive(made, 2 * S, 1, 2, 3, 4)
    assert [(e.kind, e.message, e.detail) for e in dropped] == [("DROPPED", "p:4", "input queue full")]
    assert made.status().dropped == 1


def test_a_copy_that_came_twice_is_found_out_when_it_is_served() -> None:
    made = broker(matching_us=100)
    arrive(made, 2 * S, 1)
    arrive(made, 2 * S, 1, source="B3")
    kinds = [(e.kind, e.detail) for e in run(made, 3 * S)]
    assert kinds == [("PROCESSED", ""), ("NOTIFIED", ""), ("FORWARDED", ""), ("DROPPED", "duplicate")]


def test_what_has_arrived_goes_its_way_though_its_sender_is_gone() -> None:
    made = broker(matching_us=100)
    arrive(made, 2 * S, 1)
    made.handle(2 * S + 50, PeerDown("B1", "cut"))
    assert [e.peer for e in run(made, 3 * S) if e.kind == "FORWARDED"] == ["B3"]


def test_samples_show_the_queue() -> None:
    made = broker(matching_us=S, sample_every_us=S)
    run(made, 2 * S)
    arrive(made, 2 * S, 1, 2, 3)
    sampled = [e for e in run(made, 4 * S + 1) if e.kind == "SAMPLED"]
    assert [e.queue for e in sampled] == [2, 1]
    assert sampled[0].input_utilisation == 3.0  # three came in the second, each takes one


def test_a_farewell_waits_its_turn_and_a_driver_knows() -> None:
    made = broker(output_bandwidth=1_000)
    assert not [e for e in made.farewell(2 * S) if isinstance(e, Send)]
    assert made.waiting == 1
    effects = made.handle(made.next_deadline_us() or 0, DeadlineReached())
    assert [e.envelope.body for e in effects if isinstance(e, Send)] == [Farewell("stopped")]


def test_the_coordinator_takes_time_too() -> None:
    made = Coordinator("C", CoordinatorSettings(), BrokerOptions(control_us=500))
    made.handle(S, PeerUp("B1", "broker", hello_incarnation(1, 1)))
    assert made.handle(2 * S, Received("B1", Envelope(TopicInterest(("news",))))) == []
    assert made.next_deadline_us() == 2 * S + 500
    assert [e.t_us for e in run(made, 2 * S + 500) if e.kind == "RECEIVED"] == [2 * S + 500]


def test_in_real_time_the_clock_measures_a_broker_without_a_model() -> None:
    made = broker()
    watch = stopwatch_for(made.measures)
    assert watch is not None
    processed = logs(watch.matching(made, 2 * S, Received("B1", publication(1))))[0]
    assert processed.matching_us > 0
    assert made.monitor.arrivals == 1
    assert stopwatch_for(broker(matching_us=1).measures) is None
