"""The manager's decisions (section 5.1) and bad cases of its protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_grpc.protocols.dynatops.configuration import Configuration, by_themselves, members
from broker_grpc.protocols.dynatops.plan import Known, decide
from broker_grpc.protocols.dynatops.planning import reconfiguration_cost
from broker_grpc.protocols.dynatops.settings import DynatopsSettings, ManagerSettings, StillRing
from broker_grpc.protocols.dynatops.steps import Step
from broker_grpc.protocols.ring.converged import Converged
from broker_grpc.protocols.ring.identifiers import key_of
from protos.body import Body, Envelope
from protos.dynatops_messages import RcfgDone, RcfgFinish, RcfgInit, RcfgOverlay
from tests.dynatops.field import SECOND, Field
from tests.dynatops.test_protocol import Drama
from tests.dynatops.trees import check_whole

NAMES = [f"B{number}" for number in range(1, 9)]
SETS = st.dictionaries(st.sampled_from(NAMES), st.frozensets(st.sampled_from("abcdefghij"), max_size=6))
EVENTS = st.dictionaries(st.sampled_from("abcdefghijkl"), st.floats(0, 10_000), max_size=12)
RING = StillRing()


def known(subscribed: Any, events: Any, brokers: list[str] | None = None) -> Known:
    return Known(by_themselves(brokers or NAMES), subscribed, events, {})


def brute_force(configuration: Configuration, one: Known, weight: float) -> float:
    """(1) to (5), by following every route."""
    ring = Converged(members(configuration), RING)
    ids = {member.broker: member.id for member in ring.members}
    total = 0.0
    for topic, events in one.events.items():
        root = ring.responsible(key_of(topic))
        subscribed = [name for name, topics in one.subscribed.items() if topic in topics]
        routes = [ring.route(root, ids[name]) for name in subscribed]
        relays = {name for route in routes for name in route} - set(subscribed) - {root}
        total += events * (len(relays) + weight * sum(len(route) - 1 for route in routes))
    return total


@settings(max_examples=40, deadline=None)
@given(SETS, EVENTS, st.sampled_from([0.0, 1.0, 10.0]))
def test_costs_are_those_of_the_routes(subscribed: Any, events: Any, weight: float) -> None:
    one = known(subscribed, events)
    decision = decide(one, ManagerSettings(delay_weight=weight, demand=0.0))
    assert decision.cost == pytest.approx(brute_force(one.configuration, one, weight))
    assert decision.after == pytest.approx(brute_force(decision.configuration, one, weight))
    assert sorted(decision.configuration.values()) == sorted(one.configuration.values())
    moved = sum(one.configuration[name] != id_ for name, id_ in decision.configuration.items())
    assert decision.moved == moved
    if decision.outcome == "planned":
        assert decision.price == reconfiguration_cost(8, decision.topics, moved)
        assert decision.benefit > decision.price, "only if Bft > Cst (algorithm 2, step 3)"
    else:
        assert decision.configuration == one.configuration


def test_low_demand_computes_nothing() -> None:
    """ "larger than the threshold": beta max Cst."""
    one = known({"B3": {"a"}}, {"a": 5.0})
    assert decide(one, ManagerSettings()).outcome == "low_demand"
    assert decide(one, ManagerSettings(demand=0.0)).outcome == "not_worth_it"


@pytest.mark.parametrize("weight", [0.0, 1.0, 1e12])
@pytest.mark.parametrize(
    ("subscribed", "events"),
    [
        ({}, {}),
        ({name: frozenset("a") for name in NAMES}, {"a": 1e6}),  # all on one topic
        ({"B1": frozenset(f"t{n}" for n in range(300))}, {f"t{n}": 100.0 for n in range(300)}),  # few keys
        ({"B1": frozenset("a"), "B2": frozenset("b")}, {"a": 1e5}),  # nobody publishes b
        ({}, {"a": 1e5}),  # nobody subscribes
    ],
    ids=["nothing", "one-topic", "many-topics", "silent-topic", "no-subscriber"],
)
@pytest.mark.parametrize("brokers", [NAMES, ["B1"], ["B1", "B2"]], ids=len)
def test_bad_cases(weight: float, subscribed: Any, events: Any, brokers: list[str]) -> None:
    here = {name: topics for name, topics in subscribed.items() if name in brokers}
    decision = decide(known(here, events, brokers), ManagerSettings(delay_weight=weight))
    assert sorted(decision.configuration) == sorted(brokers)
    assert decision.after <= decision.cost


def test_with_an_infinite_weight_only_the_delay_counts() -> None:
    one = known({name: frozenset("ab"[at % 2]) for at, name in enumerate(NAMES)}, {"a": 1e4, "b": 1e4})
    decision = decide(one, ManagerSettings(delay_weight=1e12))
    assert decision.outcome == "planned"
    assert brute_force(decision.configuration, one, 1e12) < brute_force(one.configuration, one, 1e12)


def test_measured_round_trips_are_delays_in_units_of_their_mean() -> None:
    rtts = {(a, b): 2_000 for a in NAMES for b in NAMES if a < b}
    one = known({name: frozenset("ab"[at % 2]) for at, name in enumerate(NAMES)}, {"a": 1e4, "b": 1e4})
    even = Known(one.configuration, one.subscribed, one.events, rtts)
    hops = decide(one, ManagerSettings(demand=0.0))
    assert decide(even, ManagerSettings(demand=0.0, delays="measured")).cost == pytest.approx(hops.cost)
    far = Known(one.configuration, one.subscribed, one.events, rtts | {("B1", "B2"): 90_000})
    assert decide(far, ManagerSettings(demand=0.0, delays="measured")).cost != pytest.approx(hops.cost)


# ---------------------------------------------------------------- periods


def managed(**more: Any) -> Field:
    field = Field(DynatopsSettings(placement="static", manager="M"), NAMES, 1, "M")
    field.crash("M")
    field.begin_manager(ManagerSettings(**({"free_period_us": 60 * SECOND, "demand": 0.0} | more)))
    field.settle()
    return field


def busy(field: Field, events: int = 400) -> None:
    for at, name in enumerate(NAMES):
        field.user(f"u{at}", name, "ab"[at % 2])
    field.settle()
    for _ in range(events):
        field.tell("B1", "a")
        field.tell("B2", "b")
    field.settle()


def planned(field: Field) -> list[str]:
    return [event.type for event in field.events("RECONFIGURATION_PLANNED")]


def test_a_period_ends_in_a_reconfiguration_that_is_worth_it() -> None:
    """Algorithm 2, from the reports to the new places: the cost of the routes falls as it was computed."""
    field = managed()
    busy(field)
    field.advance(61 * SECOND)
    (event,) = field.events("RECONFIGURATION_PLANNED")
    said = json.loads(event.content)
    assert event.type == "planned"
    assert said["benefit"] > said["price"] > 0
    field.advance(20 * SECOND)
    assert [e.type for e in field.events("RECONFIGURATION_ENDED")] == ["done"]
    check_whole(field, "ab")
    assert field.manager.configuration == {name: after for name, (_, after) in said["places"].items()}
    field.advance(60 * SECOND)
    assert planned(field)[1:] in (["not_worth_it"], ["low_demand"]), "nothing was published since"


def test_rates_are_filtered() -> None:
    """(8): 0.7 of the estimate and 0.3 of what was seen; the first period is taken as it is."""
    field = managed(free_period_us=10 * SECOND)
    field.tell("B1", "a")
    field.settle()
    field.advance(11 * SECOND)
    first = field.manager.rates["a"]
    assert first == pytest.approx(0.1, rel=0.02)
    field.advance(10 * SECOND)
    assert field.manager.rates["a"] == pytest.approx(0.7 * first)


def test_without_all_reports_nothing_is_decided() -> None:
    field = managed()
    busy(field, 20)
    field.vanish("B5")
    field.advance(70 * SECOND)
    assert planned(field) == ["no_reports"]
    assert field.events("RECONFIGURATION_PLANNED")[0].detail == "of B5"
    field.begin("B5")
    field.redial()
    field.settle()
    field.advance(60 * SECOND)
    assert planned(field)[1:] != ["no_reports"]
    assert field.manager.rates["a"] > 0, "what was counted before is not forgotten"


def test_a_period_shorter_than_a_reconfiguration_waits_for_it() -> None:
    """ "the minimum period between two consecutive reconfigurations"."""
    field = managed(free_period_us=SECOND, repeat_us=SECOND)
    busy(field)
    field.deaf.add("B3")
    field.advance(15 * SECOND)
    assert planned(field) == ["planned"], "one is under way"
    field.deaf.clear()
    field.advance(5 * SECOND)
    assert [e.type for e in field.events("RECONFIGURATION_ENDED")] == ["done"]
    assert len(planned(field)) > 1
    check_whole_after(field)


def check_whole_after(field: Field) -> None:
    while field.manager.drive is not None:
        field.advance(SECOND)
    field.manager.settings.free_period_us = 3600 * SECOND
    field.advance(2 * SECOND)
    field.advance(60 * SECOND)
    check_whole(field, "ab")


# ---------------------------------------------------------------- a broker that does not answer


@pytest.mark.parametrize("step", [Step.INIT, Step.OVERLAY, Step.RESTORE, Step.REPAIR], ids=lambda s: s.name)
def test_a_broker_that_never_acknowledges_a_step(step: Step) -> None:
    """The step is given up in time, and all go on in the version that they had."""
    drama = Drama(3)
    field = drama.field
    drama.begin()
    while field.manager.drive is not None and field.manager.drive.step < step:
        field.step()
    field.deaf.add("B3")
    for _ in range(40):
        drama.step()
    field.settle()
    field.advance(29 * SECOND)
    assert field.manager.drive is not None
    field.advance(2 * SECOND)
    field.deaf.clear()
    field.advance(40 * SECOND)
    (ended,) = field.events("RECONFIGURATION_ENDED")
    assert (ended.type, ended.detail) == ("aborted", f"no {step.name} of B3")
    assert {field.at(name).plane for name in NAMES} == {0}
    assert (drama.missed(), drama.doubled()) == ([], [])
    check_whole(field, "abcd")
    drama.begin()
    drama.rest()
    assert field.events("RECONFIGURATION_ENDED")[-1].type == "done"
    assert field.manager.version == 2, "a version that was given up does not come again"


@pytest.mark.parametrize("step", [Step.FINISH, Step.RETIRE], ids=lambda s: s.name)
def test_what_somebody_routes_in_is_not_taken_back(step: Step) -> None:
    drama = Drama(4)
    field = drama.field
    drama.begin()
    while field.manager.drive is not None and field.manager.drive.step < step:
        field.step()
    field.deaf.add("B3")
    field.settle()
    field.advance(200 * SECOND)
    assert field.manager.drive is not None, "it is asked for again and again"
    drama.tell()
    field.settle()
    field.deaf.clear()
    drama.rest()
    assert [e.type for e in field.events("RECONFIGURATION_ENDED")] == ["done"]
    assert (drama.missed(), drama.doubled()) == ([], [])
    check_whole(field, "abcd")


# ---------------------------------------------------------------- orders that cannot be


def said(field: Field, source: str, target: str, body: Body) -> None:
    field._send(source, target, Envelope(body, 1))
    field.settle()


@pytest.mark.parametrize("body", [RcfgInit(1, 0), RcfgFinish(1), RcfgDone(1, 1)], ids=lambda body: body.type)
def test_only_the_manager_gives_orders(body: Body) -> None:
    field = managed()
    (peer, *_) = [name for name in NAMES if field.is_up("B1", name)]
    said(field, peer, "B1", body)
    assert [event.node for event in field.events("REFUSED")] == ["B1"]
    assert field.at("B1").changing.next is None


@pytest.mark.parametrize(
    "order",
    [
        RcfgOverlay(1, ("B1",), ()),
        RcfgOverlay(1, ("B9",), (5,)),
        RcfgOverlay(1, ("B1", "B2"), (5, 5)),
        RcfgOverlay(2, ("B1",), (5,)),
    ],
    ids=["lists", "unknown", "same-id", "version"],
)
def test_places_that_cannot_be_are_refused(order: RcfgOverlay) -> None:
    field = managed()
    said(field, "M", "B1", RcfgInit(1, 0))
    said(field, "M", "B1", order)
    assert len(field.events("REFUSED")) == 1
    assert field.at("B1").changing.configurations[1] == field.at("B1").changing.configurations[0]
