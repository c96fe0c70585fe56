"""A client that is sent to another broker: make before break, nothing lost or doubled."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_grpc.client.machine import ClientMachine, ClientOptions
from broker_grpc.content.language import parse_filter
from broker_grpc.machine import Received
from protos.body import Envelope
from protos.client_messages import Redirect
from tests.broker_core.fifo_network import Network

CHAIN = [("B1", "B2"), ("B2", "B3"), ("B3", "B4")]
OVERLAP_US = 1_000_000
OPTIONS = ClientOptions(handover_overlap_us=OVERLAP_US, handover_timeout_us=5_000_000)


class Scene(Network):
    """A chain of brokers, a publisher at its end, and a subscriber that is a real client machine."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed=seed)
        self.tree(CHAIN)
        self.client("pub", "B4")
        self.advertise("pub", "[class,eq,'T']")
        self.settle()
        self.told = 0
        self.machine = ClientMachine("sub", "B1", "a:1", options=OPTIONS)
        self.add("sub", self.machine)  # type: ignore[arg-type]
        self.run_client(self.machine.start(self.now_us))
        self.token, effects = self.machine.subscribe(self.now_us, parse_filter("[class,eq,'T']"))
        self.run_client(effects)
        self.settle()

    def run_client(self, effects: list) -> None:  # type: ignore[type-arg]
        self.apply("sub", effects)

    def redirect(self, broker: str, source: str = "") -> None:
        order = Envelope(Redirect(broker, "a:2"))
        self.feed("sub", Received(source or self.machine.broker, order))

    def tell(self) -> None:
        self.told += 1
        self.publish("pub", "[class,'T']", f"p:{self.told}")

    def delivered(self) -> list[str]:
        return [e.message for e in self.events("DELIVERED") if e.node == "sub"]

    def moves(self) -> list[tuple[str, str]]:
        return [(e.detail, e.peer) for e in self.events("HANDED_OVER")]


def test_subscriptions_are_at_the_new_broker_before_the_old_one_is_left() -> None:
    scene = Scene()
    scene.tell()
    scene.settle()
    scene.redirect("B3")
    scene.settle()
    assert scene.is_up("sub", "B1")
    assert scene.is_up("sub", "B3")
    assert scene.moves() == [("B1", "B3")]
    scene.tell()
    scene.settle()
    scene.advance(OVERLAP_US)
    scene.settle()
    assert not scene.is_up("sub", "B1")
    scene.tell()
    scene.settle()
    assert scene.delivered() == ["p:1", "p:2", "p:3"]
    assert scene.machine.broker == "B3"
    (record,) = scene.events("HANDED_OVER")
    assert record.duration_us > 0
    assert list(json.loads(record.content).values()) == [scene.machine.items[scene.token].id]


def test_a_subscription_can_be_withdrawn_at_the_new_broker() -> None:
    scene = Scene()
    scene.redirect("B2")
    scene.settle()
    scene.run_client(scene.machine.withdraw(scene.now_us, scene.token))
    scene.settle()
    scene.advance(3 * OVERLAP_US)
    scene.tell()
    scene.settle()
    assert scene.delivered() == []
    assert not scene.machine.items


def test_a_broker_that_cannot_be_reached_changes_nothing() -> None:
    scene = Scene()
    scene.redirect("B9")
    scene.advance(6_000_000)
    scene.tell()
    scene.settle()
    assert scene.delivered() == ["p:1"]
    assert scene.machine.broker == "B1"
    assert scene.moves() == []
    (record,) = [e for e in scene.events("DROPPED") if e.type == "redirect"]
    assert "given up" in record.detail


def test_orders_that_cannot_be_followed_are_in_the_log() -> None:
    scene = Scene()
    for broker, source in (("B1", "B1"), ("B2", "B3"), ("", "B1")):
        scene.redirect(broker, source)
    scene.settle()
    assert len([e for e in scene.events("DROPPED") if e.type == "redirect"]) == 3
    assert scene.moves() == []


def test_the_old_broker_lost_before_the_new_one_holds_everything_is_a_lost_broker() -> None:
    scene = Scene()
    scene.redirect("B3")
    scene.disconnect("sub", "B1")
    scene.settle()
    assert scene.moves() == []
    assert scene.machine.broker == "B1"
    scene.connect("sub", "B1")
    scene.settle()
    scene.tell()
    scene.settle()
    assert scene.delivered() == ["p:1"]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.lists(st.one_of(st.just("publish"), st.sampled_from(["B1", "B2", "B3", "B4"])), max_size=25),
    st.integers(0, 40),
)
def test_whatever_is_published_while_a_client_moves_arrives_once(
    seed: int, steps: list[str], pace: int
) -> None:
    scene = Scene(seed)
    for number, step in enumerate(steps):
        if step == "publish":
            scene.tell()
        else:
            scene.redirect(step)
        for _ in range((number * 7 + pace) % 9):
            scene.step()
        if number % 5 == 4:
            scene.settle()
            scene.advance(OVERLAP_US + 1)
    scene.settle()
    scene.advance(10 * OVERLAP_US)
    scene.settle()
    delivered = scene.delivered()
    assert sorted(delivered) == sorted(f"p:{number}" for number in range(1, scene.told + 1))
    assert scene.peers_of("sub") == [scene.machine.broker]
