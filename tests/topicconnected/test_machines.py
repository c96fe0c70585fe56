"""The broker and the coordinator, stimulus by stimulus."""

from __future__ import annotations

from typing import Any

import pytest

from broker_grpc.content.language import parse_filter
from broker_grpc.core.links import hello_incarnation
from broker_grpc.machine import (
    CloseLink,
    DeadlineReached,
    Effects,
    Log,
    OpenLink,
    PeerDown,
    PeerUp,
    Received,
    Send,
    Stimulus,
    unfolded,
)
from broker_grpc.protocols.topicconnected.broker import TopicBroker
from broker_grpc.protocols.topicconnected.components import is_topic_connected
from broker_grpc.protocols.topicconnected.coordinator import Coordinator
from broker_grpc.protocols.topicconnected.settings import CoordinatorSettings, TopicBrokerSettings
from protos.body import Body, Envelope
from protos.client_messages import Publication, Subscription, Unsubscription
from protos.core_messages import Ack, Heartbeat
from protos.topicconnected_messages import Farewell, OverlayOrder, OverlayReport, TopicInterest

S = 1_000_000


def sent(effects: Effects, to: str = "") -> list[Body]:
    return [e.envelope.body for e in unfolded(effects) if isinstance(e, Send) and to in ("", e.peer)]


def receivers(effects: Effects) -> list[str]:
    return [
        e.peer for e in unfolded(effects) if isinstance(e, Send) and isinstance(e.envelope.body, Publication)
    ]


def kinds(effects: Effects) -> list[str]:
    return [e.event.kind for e in unfolded(effects) if isinstance(e, Log)]


def published(number: int, topic: str, client: str = "p") -> Envelope:
    return Envelope(Publication(f"{client}:{number}", client, "", 0, {"class": topic}))


def subscription(text: str, id_: str = "") -> Subscription:
    return Subscription(id_, "", parse_filter(text).predicates)


class Bench:
    """One machine, told things at given seconds; a coordinator's overlay is connected after each of them."""

    def __init__(self, machine: TopicBroker | Coordinator) -> None:
        self.machine = machine
        self.now_us = 0

    def _handle(self, stimulus: Stimulus) -> Effects:
        effects = self.machine.handle(self.now_us, stimulus)
        if isinstance(self.machine, Coordinator):
            assert is_topic_connected(self.machine.maintenance.overlay)
        return effects

    def tell(self, peer: str, body: Body | Envelope, request: int = 0) -> Effects:
        envelope = body if isinstance(body, Envelope) else Envelope(body, 0, request)
        return self._handle(Received(peer, envelope))

    def up(self, peer: str, kind: Any = "broker", incarnation: int = 1) -> Effects:
        return self._handle(PeerUp(peer, kind, hello_incarnation(incarnation, 1)))

    def down(self, peer: str) -> Effects:
        return self._handle(PeerDown(peer, "cut"))

    def wait(self, us: int) -> Effects:
        """Everything that falls due until then."""
        end, effects = self.now_us + us, []
        while (due := self.machine.next_deadline_us()) is not None and due <= end:
            self.now_us = max(self.now_us, due)
            effects += self._handle(DeadlineReached())
        self.now_us = end
        return effects


@pytest.fixture
def broker() -> Bench:
    """B2 with links to B1, B3 and B4; B1 and B3 share `news`, B4 does not."""
    bench = Bench(TopicBroker("B2", TopicBrokerSettings("C", ["news", "sport"])))
    bench.up("C")
    bench.tell("C", OverlayOrder(1, ("B1", "B3", "B4")))
    for name, topics in {"B1": ("news",), "B3": ("news", "sport"), "B4": ("sport",)}.items():
        bench.up(name)
        bench.tell(name, TopicInterest(topics))
    bench.up("p", "client")
    return bench


# ---------------------------------------------------------------- the broker


def test_a_publication_goes_to_neighbours_that_share_its_topic(broker: Bench) -> None:
    assert receivers(broker.tell("p", published(1, "news"))) == ["B1", "B3"]
    assert receivers(broker.tell("B3", published(9, "sport", "q"))) == ["B4"]


def test_a_second_copy_goes_nowhere(broker: Bench) -> None:
    broker.tell("B1", published(1, "news", "q"))
    effects = broker.tell("B3", published(1, "news", "q"))
    assert receivers(effects) == []
    assert kinds(effects) == ["DROPPED"]
    assert broker.machine.duplicates == 1  # type: ignore[union-attr]


def test_what_is_remembered_is_bounded() -> None:
    bench = Bench(TopicBroker("B2", TopicBrokerSettings("C", ["news"], remembered=2)))
    bench.up("p", "client")
    for number in range(5):
        bench.tell("p", published(number, "news"))
    assert len(bench.machine._seen) == 2  # type: ignore[union-attr]


def test_a_topic_without_interest_here_is_refused(broker: Bench) -> None:
    answer = sent(broker.tell("p", Envelope(published(1, "weather").body, 0, 7)), "p")[0]
    assert isinstance(answer, Ack)
    assert "takes no part in topic 'weather'" in answer.error


def test_a_filter_without_a_topic_is_refused(broker: Bench) -> None:
    answer = sent(broker.tell("p", subscription("[price,eq,5]"), 7), "p")[0]
    assert isinstance(answer, Ack)
    assert "names its topic" in answer.error


def test_a_subscription_adds_to_the_interest_and_an_unsubscription_fades(broker: Bench) -> None:
    ack = sent(broker.tell("p", subscription("[class,eq,'weather']"), 1), "p")[0]
    assert isinstance(ack, Ack)
    effects = broker.wait(200_000)
    assert TopicInterest(("news", "sport", "weather"), ("B1", "B3", "B4")) in sent(effects, "C")
    assert TopicInterest(("news", "sport", "weather")) in sent(effects, "B1")
    broker.tell("p", Unsubscription(ack.id), 2)
    effects = broker.wait(200_000)
    assert TopicInterest(("news", "sport"), ("B1", "B3", "B4")) in sent(effects, "C")
    assert TopicInterest(("news", "sport", "weather")) in sent(effects, "B1"), "carried until repaired"
    assert TopicInterest(("news", "sport")) in sent(broker.wait(11 * S), "B1")


def test_the_smaller_id_dials_and_hangs_up(broker: Bench) -> None:
    effects = broker.tell("C", OverlayOrder(2, ("B1", "B5")))
    assert [e.peer for e in effects if isinstance(e, OpenLink)] == ["B5"]
    assert [e.peer for e in effects if isinstance(e, CloseLink)] == ["B3", "B4"]
    effects = broker.tell("C", OverlayOrder(3, ("B5",)))
    assert not any(isinstance(e, CloseLink) for e in effects), "B1 dialled, B1 hangs up"
    assert receivers(broker.tell("p", published(2, "news"))) == [], "but nothing is sent to it"


def test_it_says_which_links_are_up(broker: Bench) -> None:
    assert sent(broker.down("B3"), "C") == [OverlayReport(1, ("B1", "B4"))]


def test_orders_come_from_the_coordinator_only(broker: Bench) -> None:
    broker.tell("B1", OverlayOrder(9, ()))
    assert broker.machine.wanted == {"B1", "B3", "B4"}  # type: ignore[union-attr]


def test_it_goes_on_without_its_coordinator(broker: Bench) -> None:
    broker.down("C")
    assert receivers(broker.tell("p", published(1, "news"))) == ["B1", "B3"]
    assert sent(broker.wait(10 * S)) == [], "no heartbeats to nobody"
    told = sent(broker.up("C", incarnation=2), "C")
    assert told == [TopicInterest(("news", "sport"), ("B1", "B3", "B4"))]


# ---------------------------------------------------------------- the coordinator


@pytest.fixture
def coordinator() -> Bench:
    """B1, B2 and B3 share a topic; the overlay is built and up."""
    bench = Bench(Coordinator("C", CoordinatorSettings(heartbeat_timeout_us=3 * S)))
    for name in ("B1", "B2", "B3"):
        bench.up(name)
        bench.tell(name, TopicInterest(("news",)))
    confirm(bench, bench.wait(2 * S))
    return bench


def confirm(bench: Bench, effects: Effects) -> Effects:
    """Every broker reports what it was ordered, in turn."""
    out: Effects = []
    orders = [(e.peer, e.envelope.body) for e in effects if isinstance(e, Send)]
    for peer, order in orders:
        if isinstance(order, OverlayOrder):
            out += bench.tell(peer, OverlayReport(order.epoch, order.neighbours))
    return out


def links(bench: Bench) -> set[tuple[str, str]]:
    return bench.machine.maintenance.links()  # type: ignore[union-attr]


def test_the_brokers_it_heard_are_linked_after_the_gathering(coordinator: Bench) -> None:
    assert len(links(coordinator)) == 2
    assert coordinator.machine.settled


def test_a_silent_broker_has_left_and_a_cut_stream_alone_is_none(coordinator: Bench) -> None:
    coordinator.down("B3")
    noticed = []
    for _ in range(7):
        coordinator.tell("B1", Heartbeat(1))
        coordinator.tell("B2", Heartbeat(1))
        noticed.append("LEFT" in kinds(coordinator.wait(S // 2)))
    assert noticed.index(True) == 5, "three seconds after it was heard last"
    assert noticed.count(True) == 1
    assert "B3" not in coordinator.machine.members  # type: ignore[union-attr]


def test_a_farewell_needs_no_waiting(coordinator: Bench) -> None:
    effects = coordinator.tell("B1", Farewell("stopped"))
    assert kinds(effects).count("LEFT") == 1
    assert links(coordinator) == {("B2", "B3")}


def test_decisions_that_take_time_wait_for_each_other() -> None:
    """Ordered when its time is over; the second begins then, and knows what the first decided."""
    settings = CoordinatorSettings(heartbeat_timeout_us=90 * S, join_takes_us=2 * S, leave_takes_us=5 * S)
    bench = Bench(Coordinator("C", settings))
    for name in ("B1", "B2", "B3", "B4"):
        bench.up(name)
        bench.tell(name, TopicInterest(("news",)))
    confirm(bench, bench.wait(2 * S))  # who is there at the start is charged to nobody
    assert all(bench.machine.status().links.values())
    begun = bench.now_us
    assert not sent(bench.tell("B1", Farewell("stopped")))
    bench.up("B5")
    assert not sent(bench.tell("B5", TopicInterest(("news",))))
    assert not any(bench.machine.status().links.values())
    assert kinds(bench.wait(5 * S - 1)) == []
    first = bench.wait(1)
    assert kinds(first).count("REPAIRED") == 1
    assert "B5" not in {end for order in sent(first) for end in order.neighbours}  # type: ignore[attr-defined]
    confirm(bench, first)
    second = bench.wait(2 * S)
    assert kinds(second).count("REPAIRED") == 1
    assert bench.now_us == begun + 7 * S
    assert sent(second, "B5")


def test_other_topics_are_one_round(coordinator: Bench) -> None:
    coordinator.tell("B3", TopicInterest(("sport",)))
    assert links(coordinator) == {("B1", "B2")}
    assert coordinator.machine.maintenance.rounds == 2  # type: ignore[union-attr]


def test_a_restarted_broker_with_the_same_topics_is_told_its_links_again(coordinator: Bench) -> None:
    before = links(coordinator)
    coordinator.up("B2", incarnation=2)
    orders = sent(coordinator.tell("B2", TopicInterest(("news",))), "B2")
    assert links(coordinator) == before
    assert [type(order) for order in orders] == [OverlayOrder]


def test_old_links_stay_until_the_new_ones_are_up() -> None:
    bench = Bench(Coordinator("C", CoordinatorSettings("low-oda")))
    for name, topics in {"B1": ("a", "b"), "B2": ("a",), "B3": ("b",)}.items():
        bench.up(name)
        bench.tell(name, TopicInterest(topics))
    confirm(bench, bench.wait(2 * S))
    assert links(bench) == {("B1", "B2"), ("B1", "B3")}
    bench.up("B0")
    effects = bench.tell("B0", TopicInterest(("a", "b")))
    new = links(bench)
    orders = {e.peer: e.envelope.body for e in effects if isinstance(e, Send)}
    held = {peer: set(order.neighbours) for peer, order in orders.items() if isinstance(order, OverlayOrder)}
    assert {"B2", "B3"} <= held.get("B1", {"B2", "B3"}), "nothing is torn down yet"
    after = confirm(bench, effects)
    assert "OVERLAY_UP" in kinds(after)
    assert bench.machine.maintenance.links() == new  # type: ignore[union-attr]


def test_a_restarted_coordinator_takes_what_the_brokers_hold() -> None:
    bench = Bench(Coordinator("C", CoordinatorSettings(), incarnation=2))
    held = {"B1": ("B2",), "B2": ("B1", "B3"), "B3": ("B2",), "B4": ()}
    for name, neighbours in held.items():
        bench.up(name)
        bench.tell(name, TopicInterest(("news",), neighbours))
    bench.wait(2 * S)
    assert links(bench) >= {("B1", "B2"), ("B2", "B3")}
    assert len(links(bench)) == 3, "B4 was left out, and is linked once"


def test_a_broker_that_others_hold_links_to_is_waited_for() -> None:
    bench = Bench(Coordinator("C", CoordinatorSettings(heartbeat_timeout_us=60 * S), incarnation=2))
    bench.up("B1")
    bench.tell("B1", TopicInterest(("news",), ("B2",)))
    assert "REPAIRED" not in kinds(bench.wait(4 * S)), "two seconds would do without B2"
    bench.up("B2")
    assert kinds(bench.tell("B2", TopicInterest(("news",), ("B1",)))).count("REPAIRED") == 1
    assert links(bench) == {("B1", "B2")}


def test_it_is_not_waited_for_without_end() -> None:
    """The longest redial (5 s) and a heartbeat time-out after the gathering, it is taken for dead."""
    bench = Bench(Coordinator("C", CoordinatorSettings(heartbeat_timeout_us=3 * S), incarnation=2))
    for name in ("B1", "B3"):
        bench.up(name)
        bench.tell(name, TopicInterest(("news",), ("B2",)))
    seen = []
    for _ in range(11):
        bench.tell("B1", Heartbeat(1))
        bench.tell("B3", Heartbeat(1))
        seen.append("REPAIRED" in kinds(bench.wait(S)))
    assert seen.index(True) == 9
    assert links(bench) == {("B1", "B3")}


def test_an_island_that_is_heard_of_late_keeps_its_links() -> None:
    bench = Bench(Coordinator("C", CoordinatorSettings(heartbeat_timeout_us=60 * S), incarnation=2))
    for name, other in (("B1", "B2"), ("B2", "B1")):
        bench.up(name)
        bench.tell(name, TopicInterest(("news",), (other,)))
    bench.wait(2 * S)
    assert links(bench) == {("B1", "B2")}
    bench.up("B3")
    early = bench.tell("B3", TopicInterest(("sport",), ("B4",)))
    assert not any(isinstance(body, OverlayOrder) for body in sent(early, "B3")), "it goes on as it is"
    bench.up("B4")
    bench.tell("B4", TopicInterest(("sport",), ("B3",)))
    assert links(bench) == {("B1", "B2"), ("B3", "B4")}


def test_clients_have_no_business_with_it(coordinator: Bench) -> None:
    coordinator.up("p", "client")
    answer = sent(coordinator.tell("p", subscription("[class,eq,'news']"), 3), "p")[0]
    assert isinstance(answer, Ack)
    assert "no use for" in answer.error
