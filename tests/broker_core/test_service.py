"""The service model: queueing, utilisation (POP/GRAPE 4.1, 5.2) and bounds, computed by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest

from broker_grpc.content.language import parse_filter
from broker_grpc.core.options import BrokerOptions
from broker_grpc.machine import CloseLink, DeadlineReached, Log, PeerDown, PeerUp, Received, Send, unfolded
from broker_grpc.protocols.contentbased.broker import Broker
from protos.body import Envelope
from protos.client_messages import Advertisement, Publication, Subscription
from protos.envelope import encoded_size, publication_size
from protos.records import LogEvent


def publication(number: int, hops: int = 1, payload: bytes = b"") -> Envelope:
    return Envelope(Publication(f"p{number}", "P", "a", 1, {"class": "A"}, payload), hops)


def broker(**options) -> Broker:
    """Publications come from B1 and go to B3 and to client c."""
    made = Broker("B2", BrokerOptions(verify_tree=False, **options))
    for name in ("B1", "B3"):
        made.handle(0, PeerUp(name, "broker"))
    made.handle(0, PeerUp("c", "client"))
    made.handle(
        0, Received("B1", Envelope(Advertisement("a", "P", parse_filter("[class,eq,A]").predicates), 1))
    )
    for name, id_ in (("B3", "s3"), ("c", "")):
        made.handle(
            0, Received(name, Envelope(Subscription(id_, name, parse_filter("[class,eq,A]").predicates)))
        )
    run(made, 1_000_000)
    made.monitor.utilisations(1_000_000)
    return made


def run(machine: Broker, until_us: int) -> list[LogEvent]:
    """Fire deadlines up to a time; returns the log, and checks that sends come with their record."""
    events: list[LogEvent] = []
    while (deadline := machine.next_deadline_us()) is not None and deadline <= until_us:
        effects = list(unfolded(machine.handle(max(deadline, 0), DeadlineReached())))
        events += [e.event for e in effects if isinstance(e, Log)]
        assert len([e for e in effects if isinstance(e, Send)]) == len(
            [e for e in effects if isinstance(e, Log) and e.event.kind in ("FORWARDED", "NOTIFIED", "SENT")]
        )
    return events


def logs(effects) -> list[LogEvent]:
    return [e.event for e in unfolded(effects) if isinstance(e, Log)]


def test_without_a_model_everything_is_immediate():
    made = broker()
    events = logs(made.handle(2_000_000, Received("B1", publication(1))))
    assert [(e.kind, e.peer, e.t_us) for e in events] == [
        ("PROCESSED", "B1", 2_000_000),
        ("NOTIFIED", "c", 2_000_000),
        ("FORWARDED", "B3", 2_000_000),
    ]
    assert made.next_deadline_us() is None


def test_matching_time_per_message_and_per_candidate():
    made = broker(matching_us=100, matching_per_candidate_us=10)
    made.handle(2_000_000, Received("B1", publication(1)))
    assert made.next_deadline_us() == 2_000_110, "one distinct filter was looked at"
    events = run(made, 3_000_000)
    assert [(e.kind, e.t_us) for e in events] == [
        ("PROCESSED", 2_000_110),
        ("NOTIFIED", 2_000_110),
        ("FORWARDED", 2_000_110),
    ]
    assert (events[0].queueing_us, events[0].matching_us) == (0, 110)


def test_the_input_queue_is_first_come_first_served():
    made = broker(matching_us=100)
    for i in range(3):
        made.handle(2_000_000 + 10 * i, Received("B1", publication(i)))
    events = [e for e in run(made, 3_000_000) if e.kind == "PROCESSED"]
    assert [(e.message, e.t_us, e.queueing_us) for e in events] == [
        ("p0", 2_000_100, 0),
        ("p1", 2_000_200, 90),
        ("p2", 2_000_300, 180),
    ]
    assert made.monitor.input_queueing.mean == 90
    assert made.monitor.matching.mean == 100


def test_control_messages_wait_their_turn():
    made = broker(matching_us=100, control_us=7)
    made.handle(2_000_000, Received("B1", publication(1)))
    subscription = Subscription("s4", "B3", parse_filter("[class,eq,A],[x,>,1]").predicates)
    made.handle(2_000_000, Received("B3", Envelope(subscription, 1)))
    events = run(made, 3_000_000)
    assert [e.t_us for e in events if e.kind == "RECEIVED"] == [2_000_107]


def test_output_bandwidth_and_queueing():
    made = broker(output_bandwidth=1_000_000)  # one byte per microsecond
    effects = made.handle(2_000_000, Received("B1", publication(1, payload=b"x" * 500)))
    assert [e.kind for e in logs(effects)] == ["PROCESSED"]
    to_client = encoded_size(publication(1, 1, b"x" * 500))
    to_broker = encoded_size(publication(1, 2, b"x" * 500))
    events = run(made, 3_000_000)
    assert [(e.kind, e.peer, e.sending_us, e.bytes) for e in events] == [
        ("NOTIFIED", "c", to_client, to_client),
        ("FORWARDED", "B3", to_client + to_broker, to_broker),
    ]
    assert made.monitor.output_queueing_us("c") == to_client
    assert made.monitor.output_queueing_us("B3") == to_client + to_broker
    assert made.monitor.output_queueing_us("B9") == 0


def test_utilisations_are_rate_times_matching_time_and_used_bandwidth():
    """POP/GRAPE 5.2: matching rate versus the flow of incoming traffic; output bandwidth usage."""
    made = broker(matching_us=2_000, output_bandwidth=100_000)
    sizes = 0
    for i in range(100):  # one every 10 ms, each 2 ms of matching: 20 %
        made.handle(1_000_000 + i * 10_000, Received("B1", publication(i)))
        sizes += encoded_size(publication(i)) + encoded_size(publication(i, 2))
    run(made, 2_000_000)
    utilisation_in, utilisation_out = made.monitor.utilisations(2_000_000)
    assert utilisation_in == pytest.approx(0.2)
    assert utilisation_out == pytest.approx(sizes / 100_000, rel=0.02)


def test_overload_is_more_than_one_and_the_queue_is_bounded():
    made = broker(matching_us=2_000, input_queue=10)
    events = []
    for i in range(1000):  # twice what it can do
        events += logs(made.handle(1_000_000 + i * 1_000, Received("B1", publication(i))))
    events += run(made, 5_000_000)
    processed = [e for e in events if e.kind == "PROCESSED"]
    dropped = [e for e in events if e.kind == "DROPPED"]
    assert len(processed) + len(dropped) == 1000
    assert 480 <= len(dropped) <= 500
    assert {e.detail for e in dropped} == {"input queue full"}
    assert max(e.queueing_us for e in processed) <= 11 * 2_000
    assert made.status().dropped == len(dropped)
    assert made.monitor.utilisations(2_000_000)[0] == pytest.approx(2.0)


def test_a_full_output_queue_drops_for_that_peer_and_keeps_routing_messages():
    made = broker(output_bandwidth=1_000, output_queue=5)
    events = []
    for i in range(20):
        events += logs(made.handle(2_000_000, Received("B1", publication(i))))
    subscription = Subscription("s4", "B3", parse_filter("[class,eq,A],[x,>,1]").predicates)
    events += logs(made.handle(2_000_000, Received("B3", Envelope(subscription, 1))))
    assert {(e.peer, e.detail) for e in events if e.kind == "DROPPED"} == {
        ("B3", "output queue full"),
        ("c", "output queue full"),
    }
    events += run(made, 60_000_000)
    for kind in ("FORWARDED", "NOTIFIED"):
        assert [e.message for e in events if e.kind == kind] == [f"p{i}" for i in range(5)]
    assert [e.message for e in events if e.kind == "SENT"] == ["s4"]


def test_what_waits_for_a_lost_peer_is_dropped_and_logged():
    made = broker(output_bandwidth=1_000)
    made.handle(2_000_000, Received("B1", publication(1)))
    made.handle(2_000_001, PeerDown("B3"))
    events = run(made, 60_000_000)
    assert [(e.kind, e.peer) for e in events if e.message == "p1"] == [("NOTIFIED", "c"), ("DROPPED", "B3")]


def test_a_late_driver_changes_no_time_stamp():
    """Deadlines reached late are acted upon at their own times."""
    made = broker(matching_us=100)
    for i in range(3):
        made.handle(2_000_000, Received("B1", publication(i)))
    events = logs(made.handle(9_000_000, DeadlineReached()))
    assert [e.t_us for e in events if e.kind == "PROCESSED"] == [2_000_100, 2_000_200, 2_000_300]


def test_samples_come_at_a_fixed_distance():
    made = broker(sample_every_us=1_000_000)
    made.handle(2_500_000, Received("B1", publication(1)))
    events = [e for e in run(made, 5_500_000) if e.kind == "SAMPLED"]
    times = [e.t_us for e in events]
    assert len(times) >= 4
    assert {b - a for a, b in pairwise(times)} == {1_000_000}


@pytest.mark.parametrize("hops", [0, 1, 127, 128, 300])
@pytest.mark.parametrize("payload", [b"", b"x" * 60, b"x" * 200, b"x" * 20_000])
def test_the_quick_size_is_the_encoded_size(hops, payload):
    envelope = publication(1, hops, payload)
    assert publication_size(envelope) == encoded_size(envelope)
    assert publication_size(envelope) == encoded_size(envelope), "with the cached body size too"
    assert publication_size(Envelope(envelope.body, hops, 300)) == encoded_size(
        Envelope(envelope.body, hops, 300)
    )


# ---------------------------------------------------------------- streams that end while messages wait


def subscription(id_: str, text: str = "[class,eq,A],[x,>,1]") -> Envelope:
    return Envelope(Subscription(id_, "", parse_filter(text).predicates), 1)


def test_a_routing_message_of_a_lost_stream_is_void_on_the_next():
    made = broker(control_us=100)
    made.handle(2_000_000, Received("B3", subscription("old")))
    made.handle(2_000_010, PeerDown("B3"))
    made.handle(2_000_020, PeerUp("B3", "broker", 9))
    events = run(made, 3_000_000)
    assert "old" not in made.routing.prt.routes
    assert [(e.message, e.detail) for e in events if e.kind == "DROPPED"] == [("old", "the link is down")]


def test_what_waited_for_a_lost_stream_does_not_leave_by_the_next():
    made = broker(output_bandwidth=1_000)
    made.handle(2_000_000, Received("B3", subscription("told")))  # waits to be told to B1
    made.handle(2_000_010, PeerDown("B3"))  # and so does that it is gone
    made.handle(2_000_020, PeerDown("B1"))
    made.handle(2_000_030, PeerUp("B1", "broker", 9))
    events = run(made, 60_000_000)
    told = [(e.kind, e.type) for e in events if e.peer == "B1" and e.message == "told"]
    assert told == [("DROPPED", "subscription"), ("DROPPED", "unsubscription")]


@pytest.mark.parametrize(("source", "kind"), [("B1", "broker"), ("c", "client")])
def test_a_publication_that_had_arrived_goes_its_way_when_its_sender_is_gone(source, kind):
    made = broker(matching_us=100)
    envelope = Envelope(Publication("p1", source, "a", 1, {"class": "A"}), 1)
    made.handle(2_000_000, Received(source, envelope))
    made.handle(2_000_010, PeerDown(source))
    events = run(made, 3_000_000)
    assert [(e.kind, e.peer) for e in events if e.message == "p1" and e.kind == "FORWARDED"] == [
        ("FORWARDED", "B3")
    ]


def test_a_flood_of_requests_is_bounded_and_costs_the_flooder_only_its_stream():
    made = broker(control_us=1_000_000, input_queue=10)
    made.handle(2_000_000, PeerUp("flooder", "client"))
    effects = []
    for i in range(1000):
        effects += made.handle(2_000_001, Received("flooder", subscription(f"f{i}")))
    effects += made.handle(2_000_002, Received("B3", subscription("patient")))
    assert [(e.peer, e.reason, e.redial) for e in effects if isinstance(e, CloseLink)] == [
        ("flooder", "input queue full", True)
    ]
    assert made.waiting <= 13
    made.handle(2_000_003, PeerDown("flooder"))
    run(made, 60_000_000)
    assert sorted(made.routing.prt.routes) == ["B2:s1", "patient", "s3"]


def test_answers_that_wait_for_a_slow_output_are_bounded_too():
    made = broker(output_bandwidth=1, output_queue=10)
    effects = []
    for i in range(100):
        request = Envelope(Subscription(f"f{i}", "c", parse_filter("[class,eq,B]").predicates), 0, i + 1)
        effects += made.handle(2_000_000, Received("c", request))
    assert [(e.peer, e.reason) for e in effects if isinstance(e, CloseLink)] == [("c", "output queue full")]
    assert made.waiting <= 30, "twenty answers to c, and what waited for others"
