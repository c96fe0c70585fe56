"""Whole exchanges as text: a change of the protocol shows as a difference to be reviewed."""

from __future__ import annotations

import pytest

from broker_grpc.core.options import BrokerOptions
from protos.client_messages import Publication, Subscription
from protos.content_messages import Operator, Predicate
from protos.contentbased_messages import DiscoveryRequest
from tests.broker_core.fifo_network import Network
from tests.broker_core.trace_text import Trace

TREE = [("B1", "B2"), ("B2", "B3"), ("B2", "B4")]


def built(covering: str = "off") -> Network:
    net = Network(BrokerOptions(subscription_covering=covering, advertisement_covering=covering))
    net.tree(TREE)
    for client, broker in (("P", "B1"), ("S", "B3"), ("T", "B4")):
        net.client(client, broker)
    return net


def test_start_of_an_overlay(rewrite: bool) -> None:
    net = Network()
    for name in ("B1", "B2", "B3"):
        net.add_broker(name)
    trace = Trace(net)
    for link in (("B1", "B2"), ("B2", "B3")):
        trace.heading(f"the link {link[0]} {link[1]} comes up")
        net.connect(*link)
        net.settle()
    trace.heading("client P asks who is there")
    net.client("P", "B1")
    net.say("P", DiscoveryRequest("d1"))
    net.settle()
    trace.check("overlay_start", rewrite)


@pytest.mark.parametrize("covering", ["off", "lazy", "active"])
def test_life_of_a_subscription(covering: str, rewrite: bool) -> None:
    net = built(covering)
    trace = Trace(net)

    def step(text: str, *actions) -> None:
        trace.heading(text)
        for call, *arguments in actions:
            call(*arguments)
            net.settle()

    step("P advertises", (net.advertise, "P", "[class,eq,STOCK],[price,isPresent,0]"))
    step("S subscribes narrowly", (net.subscribe, "S", "[class,eq,STOCK],[price,>,5]"))
    step("T subscribes widely", (net.subscribe, "T", "[class,eq,STOCK],[price,>,1]"))
    step("P publishes", (net.publish, "P", "[class,STOCK],[price,3]", "p1"))
    step("P publishes for both", (net.publish, "P", "[class,STOCK],[price,8.5]", "p2"))
    step("T unsubscribes", (net.unsubscribe, "T", "B4:s1"))
    step("P unadvertises", (net.unadvertise, "P", "B1:a1"))
    trace.check(f"subscription_covering_{covering}", rewrite)


def test_a_link_goes_down_and_comes_back(rewrite: bool) -> None:
    net = built()
    net.advertise("P", "[class,eq,STOCK]")
    net.settle()
    net.subscribe("S", "[class,eq,STOCK]")
    net.settle()
    trace = Trace(net)
    trace.heading("the link B2 B3 is lost")
    net.disconnect("B2", "B3")
    net.settle()
    trace.heading("it is back")
    net.connect("B2", "B3")
    net.settle()
    trace.heading("P publishes")
    net.publish("P", "[class,STOCK]", "p1")
    net.settle()
    trace.check("link_repair", rewrite)


def test_refusals(rewrite: bool) -> None:
    net = built()
    trace = Trace(net)
    trace.heading("S takes back what it does not hold")
    net.unsubscribe("S", "B3:s9")
    net.settle()
    trace.heading("P publishes in the name of S")
    net.say("P", Publication("p1", "S", "", 1, {"class": "STOCK"}))
    net.settle()
    trace.heading("P subscribes without class")
    net.say("P", Subscription("", "P", (Predicate("price", Operator.GT, 5),)), 7)
    net.settle()
    trace.check("refusals", rewrite)
