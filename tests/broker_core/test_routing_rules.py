"""The routing rules of PADRES, one test per rule (developer guide 8.1.2 and 11.1, user guide on covering).

The tree of most tests, with publisher P at B1 and subscribers where a test puts them:

    B1 - B2 - B3
          |
          B4
"""

from __future__ import annotations

import pytest

from broker_grpc.core.options import BrokerOptions
from protos.body import Envelope
from protos.client_messages import Publication
from tests.broker_core.fifo_network import Network

TREE = [("B1", "B2"), ("B2", "B3"), ("B2", "B4")]
STOCK = "[class,eq,STOCK],[price,isPresent,0]"


class Traffic:
    """What crosses links from now on, as (from, to, type, id)."""

    def __init__(self, net: Network) -> None:
        self.sent: list[tuple[str, str, str, str]] = []
        net.on_send = self._note

    def _note(self, source: str, target: str, envelope: Envelope) -> None:
        self.sent.append((source, target, envelope.body.type, getattr(envelope.body, "id", "")))

    def of(self, *types: str) -> list[tuple[str, str, str]]:
        """(from, to, id) between brokers."""
        return sorted((s, t, i) for s, t, k, i in self.sent if k in types and s[0] == t[0] == "B")


def network(**options) -> Network:
    net = Network(BrokerOptions(verify_tree=False, **options))
    net.tree(TREE)
    net.client("P", "B1")
    return net


def test_rule_1_an_advertisement_is_broadcast_but_not_back():
    net = network()
    traffic = Traffic(net)
    net.advertise("P", STOCK, "a")
    net.settle()
    assert traffic.of("advertisement") == [("B1", "B2", "a"), ("B2", "B3", "a"), ("B2", "B4", "a")]
    assert [net.broker(b).routing.srt.routes["a"].hop for b in ("B1", "B2", "B3", "B4")] == [
        "P",
        "B1",
        "B2",
        "B2",
    ]


def test_rule_1_known_intersecting_subscriptions_go_towards_a_new_advertisement():
    net = network()
    net.client("S", "B3")
    net.subscribe("S", "[class,eq,STOCK],[price,>,10]", "s")
    net.subscribe("S", "[class,eq,SPORT]", "other")
    net.settle()
    assert len(net.broker("B2").routing.prt) == 0, "no advertisement, so nothing is forwarded"
    traffic = Traffic(net)
    net.advertise("P", STOCK, "a")
    net.settle()
    assert traffic.of("subscription") == [("B2", "B1", "s"), ("B3", "B2", "s")]


def test_rule_2_one_copy_per_distinct_last_hop_of_intersecting_advertisements():
    net = network()
    net.client("P3", "B3")
    for i in range(3):
        net.advertise("P", f"[class,eq,STOCK],[price,>,{i}]", f"a{i}")
        net.advertise("P3", f"[class,eq,STOCK],[price,>,{i}]", f"b{i}")
    net.client("S", "B4")
    net.settle()
    traffic = Traffic(net)
    net.subscribe("S", "[class,eq,STOCK],[price,=,5]", "s")
    net.settle()
    assert traffic.of("subscription") == [("B2", "B1", "s"), ("B2", "B3", "s"), ("B4", "B2", "s")]


def test_rule_2_not_to_advertisements_that_do_not_intersect_and_never_to_clients():
    net = network()
    net.advertise("P", "[class,eq,STOCK],[price,<,10]", "a")
    net.client("S", "B4")
    net.settle()
    traffic = Traffic(net)
    net.subscribe("S", "[class,eq,STOCK],[price,>,10]", "s")
    net.settle()
    assert traffic.of("subscription") == []
    assert not [sent for sent in traffic.sent if sent[2] == "subscription" and sent[1] == "P"]


def test_rule_3_one_copy_per_distinct_last_hop():
    net = network()
    net.advertise("P", STOCK, "a")
    for client, broker in (("S1", "B3"), ("S2", "B3"), ("S3", "B4")):
        net.client(client, broker)
        for i in range(3):
            net.subscribe(client, f"[class,eq,STOCK],[price,>,{i}]", f"{client}.{i}")
    net.settle()
    traffic = Traffic(net)
    net.publish("P", "[class,STOCK],[price,5]", "p1")
    net.settle()
    assert traffic.of("publication") == [("B1", "B2", "p1"), ("B2", "B3", "p1"), ("B2", "B4", "p1")]
    for client in ("S1", "S2", "S3"):
        assert net.plain(client).publications() == ["p1"]


def test_rule_3_never_back_to_the_broker_it_came_from_but_back_to_the_client():
    net = network()
    net.client("Q", "B3")
    for client in ("P", "Q"):
        net.advertise(client, STOCK)
        net.subscribe(client, "[class,eq,STOCK]")
    net.settle()
    traffic = Traffic(net)
    net.publish("P", "[class,STOCK],[price,5]", "p1")
    net.settle()
    assert traffic.of("publication") == [("B1", "B2", "p1"), ("B2", "B3", "p1")]
    assert net.plain("P").publications() == ["p1"]
    assert net.plain("Q").publications() == ["p1"]


def test_rule_3_hops_are_the_links_crossed():
    net = network()
    net.advertise("P", STOCK)
    for client, broker in (("S1", "B1"), ("S2", "B2"), ("S3", "B3")):
        net.client(client, broker)
        net.subscribe(client, "[class,eq,STOCK]")
    net.settle()
    net.publish("P", "[class,STOCK],[price,5]", "p1")
    net.settle()
    assert [net.plain(c).got[-1].hops for c in ("S1", "S2", "S3")] == [0, 1, 2]
    forwarded = [(e.node, e.peer, e.hops) for e in net.events("FORWARDED")]
    assert forwarded == [("B1", "B2", 1), ("B2", "B3", 2)]


def test_rule_3_conformance_check():
    net = network(conformance=True)
    net.advertise("P", "[class,eq,STOCK],[price,>,10]")
    net.client("S", "B3")
    net.subscribe("S", "[class,eq,STOCK]")
    net.settle()
    net.publish("P", "[class,STOCK],[price,5]", "p1")
    net.publish("P", "[class,STOCK],[price,15]", "p2")
    net.settle()
    assert net.plain("S").publications() == ["p2"]
    assert [e.detail.split(":")[0] for e in net.events("REFUSED")] == ["not_conforming"]


def test_rule_4_an_unsubscription_follows_the_subscription():
    net = network()
    net.advertise("P", STOCK)
    net.client("S", "B3")
    net.subscribe("S", "[class,eq,STOCK]", "s")
    net.settle()
    traffic = Traffic(net)
    net.unsubscribe("S", "s")
    net.settle()
    assert traffic.of("unsubscription") == [("B2", "B1", "s"), ("B3", "B2", "s")]
    assert all(len(net.broker(b).routing.prt) == 0 for b in ("B1", "B2", "B3", "B4"))


def test_rule_4_an_unadvertisement_is_broadcast_and_takes_the_subscriptions_along():
    net = network()
    net.advertise("P", STOCK, "a")
    net.client("S", "B3")
    net.subscribe("S", "[class,eq,STOCK]", "s")
    net.settle()
    traffic = Traffic(net)
    net.unadvertise("P", "a")
    net.settle()
    assert traffic.of("unadvertisement") == [("B1", "B2", "a"), ("B2", "B3", "a"), ("B2", "B4", "a")]
    assert all(len(net.broker(b).routing.srt) == 0 for b in ("B1", "B2", "B3", "B4"))
    assert [len(net.broker(b).routing.prt) for b in ("B1", "B2", "B3", "B4")] == [0, 0, 1, 0]


def test_rule_5_a_new_link_is_told_all_advertisements_and_answers_with_subscriptions():
    net = network()
    net.advertise("P", STOCK, "a")
    net.add_broker("B5")
    net.settle()
    net.client("S", "B5")
    net.subscribe("S", "[class,eq,STOCK]", "s")
    net.settle()
    traffic = Traffic(net)
    net.connect("B5", "B4")
    net.settle()
    assert traffic.of("advertisement") == [("B4", "B5", "a")]
    assert traffic.of("subscription") == [("B2", "B1", "s"), ("B4", "B2", "s"), ("B5", "B4", "s")]
    assert net.broker("B4").links.brokers["B5"].synced
    assert net.broker("B5").links.brokers["B4"].synced
    net.publish("P", "[class,STOCK],[price,1]", "p1")
    net.settle()
    assert net.plain("S").publications() == ["p1"]


# ---------------------------------------------------------------- covering

WIDE, NARROW = "[class,eq,STOCK],[price,>,1]", "[class,eq,STOCK],[price,>,5]"


def covering(mode: str, first: str, then: str) -> tuple[Network, Traffic]:
    net = network(subscription_covering=mode)
    net.advertise("P", STOCK)
    net.client("S1", "B3")
    net.client("S2", "B3")
    net.settle()
    traffic = Traffic(net)
    net.subscribe("S1", first, "first")
    net.settle()
    net.subscribe("S2", then, "then")
    net.settle()
    return net, traffic


@pytest.mark.parametrize(("mode", "messages"), [("off", 4), ("lazy", 2), ("active", 2)])
def test_covering_keeps_back_a_covered_subscription(mode, messages):
    net, traffic = covering(mode, WIDE, NARROW)
    assert len(traffic.of("subscription")) == messages
    net.publish("P", "[class,STOCK],[price,9]", "p1")
    net.publish("P", "[class,STOCK],[price,3]", "p2")
    net.settle()
    assert net.plain("S1").publications() == ["p1", "p2"]
    assert net.plain("S2").publications() == ["p1"]


@pytest.mark.parametrize(("mode", "unsubscribed"), [("off", 0), ("lazy", 0), ("active", 2)])
def test_active_covering_takes_back_what_becomes_covered(mode, unsubscribed):
    net, traffic = covering(mode, NARROW, WIDE)
    assert len(traffic.of("subscription")) == 4
    assert len(traffic.of("unsubscription")) == unsubscribed
    assert len(net.broker("B1").routing.prt) == (1 if mode == "active" else 2)


@pytest.mark.parametrize("mode", ["lazy", "active"])
def test_unsubscription_uncovers(mode):
    net, traffic = covering(mode, WIDE, NARROW)
    traffic.sent.clear()
    net.unsubscribe("S1", "first")
    net.settle()
    steps = [(k, i) for s, t, k, i in traffic.sent if (s, t) == ("B3", "B2")]
    assert steps == [("subscription", "then"), ("unsubscription", "first")], "told before taken back"
    net.publish("P", "[class,STOCK],[price,9]", "p1")
    net.settle()
    assert net.plain("S2").publications() == ["p1"]
    assert net.plain("S1").publications() == []


@pytest.mark.parametrize(("mode", "messages"), [("off", 6), ("lazy", 3), ("active", 3)])
def test_advertisement_covering(mode, messages):
    net = network(advertisement_covering=mode)
    traffic = Traffic(net)
    net.advertise("P", WIDE, "wide")
    net.settle()
    net.advertise("P", NARROW, "narrow")
    net.settle()
    assert len(traffic.of("advertisement")) == messages
    net.client("S", "B3")
    net.subscribe("S", "[class,eq,STOCK],[price,>,7]")
    net.unadvertise("P", "wide")
    net.settle()
    assert set(net.broker("B3").routing.srt.routes) == {"narrow"}
    net.publish("P", "[class,STOCK],[price,9]", "p1")
    net.settle()
    assert net.plain("S").publications() == ["p1"]


def test_active_advertisement_covering_takes_back_what_becomes_covered():
    net = network(advertisement_covering="active")
    net.advertise("P", NARROW, "narrow")
    net.settle()
    net.advertise("P", WIDE, "wide")
    net.settle()
    assert set(net.broker("B2").routing.srt.routes) == {"wide"}
    assert set(net.broker("B3").routing.srt.routes) == {"wide"}


def test_equal_subscriptions_of_many_clients_cost_one_message_per_link_with_covering():
    net = network(subscription_covering="lazy")
    net.advertise("P", STOCK)
    for i in range(10):
        net.client(f"S{i}", "B3")
    net.settle()
    traffic = Traffic(net)
    for i in range(10):
        net.subscribe(f"S{i}", WIDE)
    net.settle()
    assert len(traffic.of("subscription")) == 2
    net.publish("P", "[class,STOCK],[price,9]", "p1")
    net.settle()
    assert all(net.plain(f"S{i}").publications() == ["p1"] for i in range(10))


def test_the_payload_and_all_fields_arrive_as_they_were_published():
    net = Network(through_the_wire=True)
    net.tree(TREE)
    net.client("P", "B1")
    net.client("S", "B3")
    net.advertise("P", STOCK)
    net.settle()
    net.subscribe("S", "[class,eq,STOCK]")
    net.settle()
    sent = Publication("p1", "P", "a1", 123, {"class": "STOCK", "price": 1.5, "n": -3}, b"\x00payload")
    net.say("P", sent)
    net.settle()
    assert net.plain("S").got[-1].body == sent
