"""Any message from anyone at any time: acted upon or refused, and nobody's stream ends for it."""

from __future__ import annotations

import os
import typing
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_grpc.client.machine import ClientMachine
from broker_grpc.content.language import parse_filter
from broker_grpc.core.config import BrokerProcessConfig
from broker_grpc.core.options import BrokerOptions
from broker_grpc.machine import (
    CloseLink,
    DeadlineReached,
    Machine,
    PeerDown,
    PeerUp,
    Received,
    Send,
    unfolded,
)
from broker_grpc.protocols.contentbased.broker import Broker
from broker_grpc.registry import machine_of
from protos.body import Envelope
from protos.client_messages import Advertisement, Publication, Subscription
from protos.content_messages import Operator, Predicate
from protos.core_messages import Ack
from protos.envelope import TYPE_OF, encode

EXAMPLES = int(os.environ.get("BROKER_EXAMPLES", "40"))
PEERS = ["B2", "B3", "c", "d", "ghost"]
# Ids that exist, ids that do not, ids of the wrong kind.
NAMES = st.sampled_from(
    ["", "B1", "B2", "B3", "c", "d", "a1", "s1", "B1:a1", "m", "c:1", "tree:B1:B2:1", "x"]
)
VALUES = st.one_of(NAMES, st.integers(-3, 3), st.floats(allow_nan=True), st.just(1 << 62))
PREDICATES = st.builds(Predicate, st.sampled_from(["class", "x", ""]), st.sampled_from(Operator), VALUES)
FILTERS = st.one_of(
    st.lists(PREDICATES, max_size=3).map(tuple),
    st.sampled_from(["[class,eq,'A']", "[class,eq,'A'],[x,>,1]"]).map(
        lambda text: parse_filter(text).predicates
    ),
)


def strategy(hint: Any) -> st.SearchStrategy[Any]:
    """Small values of a field's type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is str:
        return NAMES
    if hint is int:
        return st.one_of(st.integers(0, 3), st.just((1 << 32) - 1))
    if hint is float:
        return st.floats(0, 100)
    if hint is bool:
        return st.booleans()
    if hint is bytes:
        return st.binary(max_size=4)
    if hint == tuple[Predicate, ...]:
        return FILTERS
    if origin is tuple:
        return st.lists(strategy(arguments[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(st.sampled_from(["class", "x", ""]), VALUES, max_size=3)
    if arguments:  # Something | None
        return st.one_of(st.none(), *(strategy(one) for one in arguments if one is not type(None)))
    if issubclass(hint, int):
        return st.sampled_from(hint)
    return message(hint)


def message(kind: Any) -> st.SearchStrategy[Any]:
    hints = typing.get_type_hints(kind)
    fields = [name for name in kind.__struct_fields__ if not name.startswith("wire")]
    return st.builds(kind, **{name: strategy(hints[name]) for name in fields})


BODIES = st.one_of(*(message(kind) for kind in TYPE_OF))
STIMULI = st.one_of(
    st.tuples(st.just("message"), st.sampled_from(PEERS), BODIES, st.integers(0, 3)),
    st.tuples(st.just("message"), st.sampled_from(PEERS), BODIES, st.integers(0, 3)),
    st.tuples(st.just("message"), st.sampled_from(PEERS), BODIES, st.integers(0, 3)),
    st.tuples(st.just("up"), st.sampled_from(PEERS), st.none(), st.integers(0, 3)),
    st.tuples(st.just("down"), st.sampled_from(PEERS), st.none(), st.integers(0, 3)),
    st.tuples(st.just("time"), st.just(""), st.none(), st.integers(0, 30_000_000)),
)

ALGORITHMS: dict[str, dict[str, Any]] = {
    "none": {},
    "pop": {"name": "pop", "threshold": 1, "traced_per_window": 1},
    "grape": {"name": "grape", "threshold": 1},
}
OPTIONS = {
    "plain": BrokerOptions(),
    "model": BrokerOptions(
        matching_us=10, control_us=5, output_bandwidth=10_000, input_queue=5, output_queue=5
    ),
    "covering": BrokerOptions(
        subscription_covering="active",
        advertisement_covering="lazy",
        repair_grace_us=1_000_000,
        heartbeat_interval_us=1_000_000,
        conformance=True,
        max_hops=3,
    ),
}


def drive(machine: Machine, stimuli: list[tuple[str, str, Any, int]], kinds: dict[str, Any]) -> None:
    """What it answers can be encoded, and it ends no stream but for a reason of its own."""
    now = 1_000_000
    for what, peer, body, number in stimuli:
        now += 1
        if what == "message":
            effects = machine.handle(now, Received(peer, Envelope(body, number, number)))
        elif what == "up" and peer in kinds:
            effects = machine.handle(now, PeerUp(peer, kinds[peer], number << 20))
        elif what == "down":
            effects = machine.handle(now, PeerDown(peer))
        else:
            now += number
            effects = machine.handle(now, DeadlineReached())
        for effect in unfolded(effects):
            if isinstance(effect, Send):
                encode(effect.envelope)
            if isinstance(effect, CloseLink) and isinstance(machine, Broker):
                assert effect.reason in REASONS
        deadline = machine.next_deadline_us()
        assert deadline is None or isinstance(deadline, int)


REASONS = ("the overlay is not a tree", "no answer to heartbeats", "input queue full", "output queue full")


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@settings(max_examples=EXAMPLES)
@given(stimuli=st.lists(STIMULI, max_size=12))
def test_a_broker_survives_any_message(options: str, algorithm: str, stimuli: list[Any]) -> None:
    chosen = msgspec.to_builtins(OPTIONS[options])
    broker = machine_of(BrokerProcessConfig("B1", "", options=chosen, algorithm=ALGORITHMS[algorithm]))
    kinds = {"B2": "broker", "B3": "broker", "c": "client", "d": "client"}
    for peer, kind in kinds.items():
        broker.handle(0, PeerUp(peer, kind, 1))  # type: ignore[arg-type]
    a = parse_filter("[class,eq,'A']").predicates
    for peer, body in (
        ("c", Advertisement("a1", "c", a)),
        ("B2", Subscription("s1", "d", a)),
        ("c", Publication("c:1", "c", "a1", 1, {"class": "A"})),
    ):
        broker.handle(0, Received(peer, Envelope(body, 0, 1)))
    drive(broker, stimuli, kinds)


@settings(max_examples=EXAMPLES)
@given(stimuli=st.lists(STIMULI, max_size=12))
def test_a_client_survives_any_message(stimuli: list[Any]) -> None:
    client = ClientMachine("c", "B1", "h:1", addresses={"B2": "h:2", "B3": "h:3"})
    client.start(0)
    client.handle(0, PeerUp("B1", "broker"))
    client.advertise(0, parse_filter("[class,eq,'A']"))
    client.handle(0, Received("B1", Envelope(Ack("a1"), 0, 1)))
    client.subscribe(0, parse_filter("[class,eq,'A']"))
    client.publish(0, {"class": "A"})
    drive(client, stimuli, dict.fromkeys(["B1", "B2", "B3"], "broker"))


@pytest.mark.parametrize(
    "algorithm", [{"name": "topic_connected", "coordinator": "B2"}, {"name": "coordinator"}]
)
@settings(max_examples=EXAMPLES)
@given(stimuli=st.lists(STIMULI, max_size=12))
def test_the_machines_of_topic_connected_overlays_survive_any_message(
    algorithm: dict[str, Any], stimuli: list[Any]
) -> None:
    book = {"B2": "10.0.0.2:5000", "B3": "10.0.0.3:5000"}
    config = BrokerProcessConfig("B1", "10.0.0.1:5000", address_book=book, algorithm=algorithm)
    machine = machine_of(config)
    kinds = {"B2": "broker", "B3": "broker", "c": "client", "d": "client"}
    for peer, kind in kinds.items():
        machine.handle(0, PeerUp(peer, kind, 1))  # type: ignore[arg-type]
    drive(machine, stimuli, kinds)
