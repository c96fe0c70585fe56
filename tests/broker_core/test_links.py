"""Links: faults and repair, bad input, heartbeats, discovery."""

from __future__ import annotations

import random

import pytest

from broker_grpc.core.links import hello_incarnation, process_incarnation
from broker_grpc.core.options import BrokerOptions
from broker_grpc.machine import CloseLink, Log, PeerUp, Received, Rejected, Send
from broker_grpc.protocols.contentbased.broker import Broker
from protos.body import Envelope
from protos.client_messages import Advertisement, Publication, Subscription, Unsubscription
from protos.content_messages import Operator, Predicate
from protos.contentbased_messages import DiscoveryRequest
from protos.core_messages import Refusal
from protos.relocation_messages import RelocationRequest
from tests.broker_core.fifo_network import Network

TREE = [("B1", "B2"), ("B2", "B3"), ("B2", "B4")]


def test_incarnation_of_process_and_dial():
    assert process_incarnation(hello_incarnation(3, 17)) == 3
    assert hello_incarnation(3, 18) > hello_incarnation(3, 17) > hello_incarnation(2, 10_000)


def test_a_stream_that_replaces_another_starts_from_nothing():
    """If the driver does not report the end of the older stream, its routes go all the same."""
    broker = broker_with_peers()
    answers(broker, "c", Subscription("mine", "", (predicate(),)), 1)
    broker.handle(3, PeerUp("c", "client", 2))
    assert len(broker.routing.prt) == 0
    broker.handle(4, Received("B2", Envelope(Advertisement("a", "P", (predicate(),)), 1)))
    effects = broker.handle(5, PeerUp("B2", "broker", 2))
    assert len(broker.routing.srt) == 0
    assert [e.event.kind for e in effects if isinstance(e, Log)][:2] == ["LINK_DOWN", "LINK_UP"]


# ---------------------------------------------------------------- faults and repair


def stock_network(**options) -> Network:
    net = Network(BrokerOptions(**options))
    net.tree(TREE)
    net.client("P", "B1")
    net.client("S", "B3")
    net.advertise("P", "[class,eq,STOCK]", "a")
    net.settle()
    net.subscribe("S", "[class,eq,STOCK]", "s")
    net.settle()
    return net


def deliver(net: Network, id_: str) -> bool:
    net.publish("P", "[class,STOCK]", id_)
    net.settle()
    return id_ in net.plain("S").publications()


@pytest.mark.parametrize("grace_us", [0, 1_000_000])
def test_a_link_that_comes_back_is_repaired_without_duplicates(grace_us):
    net = stock_network(repair_grace_us=grace_us)
    assert deliver(net, "p1")
    net.disconnect("B2", "B3")
    net.settle()
    assert not deliver(net, "p2")
    net.connect("B2", "B3")
    net.settle()
    assert deliver(net, "p3")
    assert net.plain("S").publications() == ["p1", "p3"]
    net.check_tables()


def test_routes_of_a_lost_link_are_withdrawn_everywhere():
    net = stock_network()
    net.disconnect("B2", "B3")
    net.settle()
    assert [len(net.broker(b).routing.prt) for b in ("B1", "B2", "B3")] == [0, 0, 1]
    assert [len(net.broker(b).routing.srt) for b in ("B1", "B2", "B3")] == [1, 1, 0]


def test_with_a_grace_time_a_short_loss_costs_no_message_elsewhere():
    net = stock_network(repair_grace_us=1_000_000, verify_tree=False)
    seen = []
    net.on_send = lambda s, t, e: seen.append((s, t)) if "B1" in (s, t) else None
    net.disconnect("B2", "B3")
    net.settle()
    net.connect("B2", "B3")
    net.settle()
    assert seen == []
    assert deliver(net, "p1")


def test_after_the_grace_time_routes_are_withdrawn():
    net = stock_network(repair_grace_us=1_000_000)
    net.disconnect("B2", "B3")
    net.settle()
    assert len(net.broker("B1").routing.prt) == 1
    net.advance(2_000_000)
    assert len(net.broker("B1").routing.prt) == 0


@pytest.mark.parametrize("grace_us", [0, 10_000_000])
def test_a_restarted_broker_is_told_apart_from_a_flapped_link(grace_us):
    """It has forgotten its clients' subscriptions, so its neighbours must as well."""
    net = stock_network(repair_grace_us=grace_us)
    net.crash("B3")
    net.settle()
    net.add_broker("B3")
    net.connect("B2", "B3")
    net.settle()
    assert len(net.broker("B1").routing.prt) == 0
    net.connect("S", "B3")
    net.settle()
    net.subscribe("S", "[class,eq,STOCK]")
    net.settle()
    assert deliver(net, "p1")


def test_what_changed_while_the_link_was_down_is_known_after():
    net = stock_network(repair_grace_us=10_000_000)
    net.disconnect("B2", "B3")
    net.settle()
    net.unsubscribe("S", "s")
    net.unadvertise("P", "a")
    net.settle()
    net.connect("B2", "B3")
    net.settle()
    for name in ("B1", "B2", "B3", "B4"):
        assert len(net.broker(name).routing.srt) == 0
        assert len(net.broker(name).routing.prt) == 0


def test_link_events_are_logged_at_both_ends():
    net = stock_network()
    net.log.clear()
    net.disconnect("B2", "B3", "cable cut")
    net.settle()
    assert sorted((e.node, e.peer, e.detail) for e in net.events("LINK_DOWN")) == [
        ("B2", "B3", "cable cut"),
        ("B3", "B2", "cable cut"),
    ]
    net.connect("B2", "B3")
    net.settle()
    assert sorted((e.node, e.peer) for e in net.events("LINK_UP")) == [("B2", "B3"), ("B3", "B2")]


def test_sent_and_received_routing_messages_agree_when_all_is_quiet_also_after_faults():
    net = stock_network()
    net.disconnect("B2", "B3")
    net.step()
    net.connect("B2", "B3")
    net.settle()
    status = [net.broker(b).status() for b in ("B1", "B2", "B3", "B4")]
    assert sum(s.control_sent for s in status) == sum(s.control_received for s in status) > 0


# ---------------------------------------------------------------- a tree, verified


def test_a_second_path_is_found_at_start_and_its_link_refused():
    net = Network()
    net.tree(TREE)
    net.connect("B3", "B4")
    net.settle()
    assert [(c.peer, c.redial) for c in net.closed] in ([("B3", False)], [("B4", False)])
    assert any("not a tree" in e.detail for e in net.events("REFUSED"))
    assert not net.is_up("B3", "B4")
    net.client("P", "B1")
    net.client("S", "B3")
    net.advertise("P", "[class,eq,A]")
    net.settle()
    net.subscribe("S", "[class,eq,A]")
    net.settle()
    net.publish("P", "[class,A]", "p1")
    net.settle()
    assert net.plain("S").publications() == ["p1"]


def test_without_the_check_a_second_path_makes_no_loop_and_no_duplicate():
    net = Network(BrokerOptions(verify_tree=False))
    net.tree([*TREE, ("B3", "B4")])
    net.client("P", "B1")
    net.client("S", "B3")
    net.advertise("P", "[class,eq,A]", "a")
    net.settle()
    assert any("second path" in e.detail for e in net.events("REFUSED"))
    net.subscribe("S", "[class,eq,A]")
    net.settle()
    net.publish("P", "[class,A]", "p1")
    net.settle()
    assert net.plain("S").publications() == ["p1"]


def test_a_tree_passes_the_check_whatever_the_order_of_its_links():
    for seed in range(10):
        net = Network(seed=seed)
        net.tree(random.Random(seed).sample(TREE, len(TREE)))
        assert net.closed == []
        assert net.events("REFUSED") == []


def test_discovery_names_every_broker_and_link():
    """PANDA's phase-one check: both directions of every link."""
    net = Network()
    net.tree(TREE)
    monitor = net.client("monitor", "B3")
    net.say("monitor", DiscoveryRequest("d1"))
    net.settle()
    found = {e.body.broker: e.body.neighbours for e in monitor.got}
    assert found == {"B1": ("B2",), "B2": ("B1", "B3", "B4"), "B3": ("B2",), "B4": ("B2",)}
    assert next(e.body.clients for e in monitor.got if e.body.broker == "B3") == ("monitor",)


def test_a_discovery_needs_an_id_of_its_own():
    net = Network()
    net.tree(TREE)
    monitor = net.client("monitor", "B3")
    for _ in range(2):
        net.say("monitor", DiscoveryRequest("d1"))
        net.settle()
    assert [e.body.type for e in monitor.got] == ["broker_information"] * 4 + ["refusal"]
    assert monitor.got[-1].body.reason == "duplicate"


# ---------------------------------------------------------------- bad input: refused, and the link stays up


def broker_with_peers() -> Broker:
    broker = Broker("B1")
    broker.handle(1, PeerUp("B2", "broker"))
    broker.handle(1, PeerUp("c", "client"))
    return broker


def answers(broker: Broker, peer: str, body, request: int = 0) -> list:
    effects = broker.handle(2, Received(peer, Envelope(body, 0, request)))
    return [e.envelope.body for e in effects if isinstance(e, Send) and e.peer == peer]


def predicate(attribute="class", operator=Operator.EQ, value="A") -> Predicate:
    return Predicate(attribute, operator, value)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (Subscription("", "d", (predicate(),)), "protocol"),
        (Advertisement("", "d", (predicate(),)), "protocol"),
        (Subscription("", "", ()), "bad_content"),
        (Subscription("", "", (predicate(value=float("nan")),)), "bad_content"),
        (Subscription("", "", (predicate(operator=Operator.OPERATOR_UNKNOWN),)), "bad_content"),
        (Subscription("", "", (predicate("x", Operator.STR_PREFIX, 5), predicate())), "bad_content"),
        (Advertisement("", "", (predicate("x", Operator.GT, 1),)), "bad_content"),
        (Subscription("", "", (predicate(),) * 65), "limit_exceeded"),
        (Unsubscription("nobody's"), "not_found"),
        (RelocationRequest("a"), "protocol"),
    ],
)
def test_a_bad_request_is_answered_with_its_reason(body, reason):
    for request in (0, 9):
        broker = broker_with_peers()
        (answer,) = answers(broker, "c", body, request)
        text = answer.reason if isinstance(answer, Refusal) else answer.error
        assert text.startswith(reason)
        assert isinstance(answer, Refusal) == (request == 0)
        assert broker.has_client("c")


@pytest.mark.parametrize(
    "publication",
    [
        Publication("p", "c", "", 1, {}),
        Publication("p", "c", "", 1, {"class": "A", "x": float("inf")}),
        Publication("p", "c", "", 1, {"x": 1, "y": 2}),
        Publication("p", "someone", "", 1, {"class": "A"}),
        Publication("", "c", "", 1, {"class": "A"}),
        Publication("p", "c", "", 1, {f"a{i}": 1 for i in range(200)}),
    ],
)
def test_a_bad_publication_is_refused_and_goes_nowhere(publication):
    broker = broker_with_peers()
    effects = broker.handle(2, Received("c", Envelope(publication)))
    assert [e.envelope.body.type for e in effects if isinstance(e, Send)] == ["refusal"]
    assert [e.event.kind for e in effects if isinstance(e, Log)] == ["REFUSED", "SENT"]


def test_an_id_in_use_is_refused():
    broker = broker_with_peers()
    first = answers(broker, "c", Subscription("mine", "", (predicate(),)), 1)
    second = answers(broker, "c", Subscription("mine", "", (predicate(),)), 2)
    assert [first[0].error, second[0].error[:9]] == ["", "duplicate"]


def test_ids_given_by_a_restarted_broker_are_new():
    first = answers(broker_with_peers(), "c", Subscription("", "", (predicate(),)), 1)[0].id
    restarted = Broker("B1", incarnation=2)
    restarted.handle(1, PeerUp("c", "client"))
    assert answers(restarted, "c", Subscription("", "", (predicate(),)), 1)[0].id != first


def test_a_client_cannot_take_back_what_another_holds():
    broker = broker_with_peers()
    broker.handle(2, PeerUp("d", "client"))
    answers(broker, "c", Subscription("mine", "", (predicate(),)), 1)
    assert answers(broker, "d", Unsubscription("mine"), 2)[0].error.startswith("not_found")
    assert len(broker.routing.prt) == 1


def test_a_client_may_hold_so_much_and_no_more():
    broker = Broker("B1", BrokerOptions(max_routes_per_client=2))
    broker.handle(1, PeerUp("c", "client"))
    errors = [answers(broker, "c", Subscription("", "", (predicate(),)), i)[0].error for i in (1, 2, 3)]
    assert [e.split(":")[0] for e in errors] == ["", "", "limit_exceeded"]
    answers(broker, "c", Unsubscription("B1:s1"), 4)
    assert answers(broker, "c", Subscription("", "", (predicate(),)), 5)[0].error == ""


def test_hop_limit():
    net = Network(BrokerOptions(max_hops=1))
    net.tree([("B1", "B2"), ("B2", "B3")])
    net.client("P", "B1")
    net.client("S", "B2")
    net.advertise("P", "[class,eq,A]")
    net.settle()
    assert [len(net.broker(b).routing.srt) for b in ("B1", "B2", "B3")] == [1, 1, 0]
    assert [e.detail for e in net.events("DROPPED")] == ["more than 1 hops"]
    net.subscribe("S", "[class,eq,A]")
    net.settle()
    net.publish("P", "[class,A]", "p1")
    net.settle()
    assert net.plain("S").publications() == ["p1"]


@pytest.mark.parametrize(("covering", "count", "told"), [("off", 10_000, 10_000), ("lazy", 1_000, 100)])
def test_many_subscriptions_then_disconnect_leave_nothing(covering, count, told):
    net = Network(BrokerOptions(subscription_covering=covering))
    net.tree([("B1", "B2")])
    net.client("P", "B1")
    net.client("S", "B2")
    net.advertise("P", "[class,eq,A]")
    net.settle()
    for i in range(count):
        net.subscribe("S", f"[class,eq,A],[symbol,eq,S{i % 100}],[price,>,{i}]")
    net.settle()
    assert len(net.broker("B2").routing.prt) == count
    assert len(net.broker("B1").routing.prt) == told
    net.log.clear()
    net.disconnect("S", "B2")
    net.settle()
    assert len([e for e in net.events("SENT") if e.type == "unsubscription"]) == told
    assert [e for e in net.events("SENT") if e.type == "subscription"] == []
    for name in ("B1", "B2"):
        routing = net.broker(name).routing
        assert len(routing.prt) == 0
        assert routing.prt.index.distinct() == 0
        assert routing.prt.index._pairs == {}
        assert all(len(export) == 0 for export in routing.subscriptions_told.values())


# ---------------------------------------------------------------- heartbeats


def heartbeat_network() -> Network:
    options = BrokerOptions(
        heartbeat_interval_us=3_000_000,
        heartbeat_timeout_us=5_000_000,
        heartbeat_threshold=3,
        verify_tree=False,
    )
    net = Network(options)
    net.tree([("B1", "B2")])
    return net


def test_heartbeats_are_off_by_default():
    net = Network()
    net.tree([("B1", "B2")])
    assert net.broker("B1").next_deadline_us() is None


def test_answered_heartbeats_keep_a_link():
    net = heartbeat_network()
    net.advance(60_000_000)
    assert net.closed == []
    beats = [e for e in net.events("SENT") if e.type == "heartbeat" and e.node == "B1"]
    assert 19 <= len(beats) <= 22


def test_a_silent_neighbour_is_cut_off_after_the_threshold():
    net = heartbeat_network()
    broker = net.broker("B1")
    now, closed = net.now_us, []
    while not closed and now < net.now_us + 120_000_000:
        now = max(now + 1, broker.next_deadline_us())
        closed = [e for e in broker.handle(now, Rejected("nobody", "", "")) if isinstance(e, CloseLink)]
    assert [(c.peer, c.redial) for c in closed] == [("B2", True)]
    assert 15_000_000 <= now - net.now_us <= 30_000_000, "three timeouts of five seconds, seen every three"
    assert broker.handle(now + 3_000_000, Rejected("nobody", "", ""))
    assert not [e for e in broker.handle(now + 6_000_000, Rejected("x", "", "")) if isinstance(e, CloseLink)]
