"""User placement as brokers do it: section 4 of the paper, by the sentence."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_grpc.protocols.dynatops.clusters import cluster_of
from broker_grpc.protocols.dynatops.settings import DynatopsSettings
from protos.relocation_messages import BrokerRtt, PingAnswer, PingRequest
from tests.dynatops.field import OVERLAP_US, SECOND, Field

NAMES = [f"B{number}" for number in range(1, 7)]
DELAY_US = 500_000


def field_of(seed: int = 0, **more: Any) -> Field:
    return Field(DynatopsSettings(**({"update_us": 10 * SECOND, "load_weight": 0.1} | more)), NAMES, seed)


def placed(field: Field) -> list[tuple[str, str, str]]:
    return [(event.node, event.peer, event.detail) for event in field.events("PLACED")]


def quiet(field: Field) -> None:
    """Until clients have been handed over, and left the old broker."""
    field.settle()
    field.advance(DELAY_US)
    field.advance(2 * OVERLAP_US)


def test_a_user_goes_to_the_broker_with_its_topics() -> None:
    """Algorithm 1: the requested broker answers with the best of those it sees; the user connects there."""
    field = field_of()
    field.user("old", "B3", "a", "b", "c")
    quiet(field)
    field.advance(10 * SECOND)
    field.user("new", "B1", "a", "b")
    quiet(field)
    assert placed(field) == [("B1", "new", "B3")]
    assert field.home("new") == "B3"
    assert field.at("B1").interests.subscribed() == frozenset()
    assert field.at("B3").interests.subscriptions == 5


def test_subscriptions_made_together_are_one_join_request() -> None:
    """ "with its subscriptions": not one evaluation for each of them."""
    field = field_of()
    field.user("one", "B3", "a")
    field.user("all", "B4", "a", "b", "c")
    quiet(field)
    field.advance(10 * SECOND)
    field.user("new", "B1", "a", "b", "c")
    quiet(field)
    assert placed(field) == [("B1", "new", "B4")]


def test_a_change_of_subscriptions_is_a_request_too() -> None:
    """ "every time a user subscribes to a new topic, or unsubscribes"."""
    field = field_of()
    field.user("sport", "B2", "football", "tennis")
    field.user("music", "B5", "jazz", "opera")
    field.user("fan", "B2", "football")
    quiet(field)
    field.advance(10 * SECOND)
    assert field.home("fan") == "B2"
    field.want("fan", "jazz")
    field.unwant("fan", "football")
    quiet(field)
    assert placed(field) == [("B2", "fan", "B5")]


def test_who_was_sent_here_stays_until_it_changes_something() -> None:
    """The broker that was asked has decided; its choice is not taken back where the user arrives."""
    field = field_of(load_weight=5.0)
    field.user("many", "B3", *"abcdefgh")
    quiet(field)
    field.advance(10 * SECOND)
    for number in range(6):  # all see the same old loads, and flock
        field.user(f"u{number}", "B1", "x")
    quiet(field)
    moves = placed(field)
    assert len({client for _, client, _ in moves}) == len(moves), "nobody is sent on"


def test_views_are_as_old_as_the_last_update() -> None:
    """ "each broker only updates the information every T_update period"."""
    field = field_of()
    field.advance(SECOND)
    field.user("old", "B3", "a")
    quiet(field)
    field.user("early", "B2", "a")
    quiet(field)
    assert placed(field) == [], "nobody has been told of B3's topic yet"
    field.advance(10 * SECOND)
    field.user("late", "B1", "a")
    quiet(field)
    assert placed(field) == [("B1", "late", "B2")], "of two that are equal the first by name"


def test_only_brokers_of_the_cluster_are_seen() -> None:
    """ "only evaluates utilities for brokers from the same cluster"."""
    field = field_of(cluster_size=3)
    field.user("other", "B5", "a")
    quiet(field)
    field.advance(10 * SECOND)
    field.user("new", "B1", "a")
    quiet(field)
    assert placed(field) == []
    assert set(field.at("B1").placing.view) == {"B2", "B3"}
    told = [e for e in field.events("SENT") if e.type == "cluster_view" and e.node == "B1"]
    assert {event.peer for event in told} == {"B2", "B3"}


def test_clusters_are_of_neighbours_by_number() -> None:
    names = [f"B{number}" for number in range(1, 25)]
    assert cluster_of("B2", names, 10) == frozenset(names[:10])
    assert cluster_of("B11", names, 10) == frozenset(names[10:20])
    assert cluster_of("B24", names, 10) == frozenset(names[20:])
    assert cluster_of("B1", ["B1"], 10) == {"B1"}


def test_static_users_stay() -> None:
    field = field_of(placement="static")
    field.user("old", "B3", "a")
    field.user("new", "B1", "a")
    quiet(field)
    field.advance(30 * SECOND)
    assert field.home("new") == "B1"
    assert [e for e in field.events("SENT") if e.type in ("cluster_view", "user_sent")] == []


def test_location_based_users_go_to_the_nearest_broker() -> None:
    """The rival "loc": by the round trips that the user measures itself; who does not answer is far."""
    field = field_of(placement="nearest")
    field.subscribe("p-B1", "[class,eq,'a']", "s")
    field.settle()
    field.advance(DELAY_US)
    (asked,) = [one.body for one in field.plain("p-B1").got if isinstance(one.body, PingRequest)]
    assert set(asked.brokers) == set(NAMES)
    rtts = {"B1": 50, "B2": -1, "B4": 10, "B5": 10, "B9": 1}
    field.say("p-B1", PingAnswer("", tuple(BrokerRtt(*one) for one in rtts.items())))
    field.settle()
    assert placed(field) == [("B1", "p-B1", "B4")]


def test_one_broker_has_nowhere_to_send_its_users() -> None:
    field = Field(DynatopsSettings(), ["B1"])
    field.user("one", "B1", "a")
    quiet(field)
    field.tell("B1", "a")
    field.settle()
    assert field.delivered("one") == ["e1"]
    assert placed(field) == []


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_all_users_on_one_topic(weight: float) -> None:
    """Similarity alone gathers them at one broker; load drives them apart."""
    field = field_of(load_weight=weight, update_us=SECOND)
    for number in range(24):
        field.user(f"u{number:02}", NAMES[number % 2], "a")
        quiet(field)
    field.tell("B6", "a")
    field.settle()
    homes = {field.home(user) for user in field.users}
    assert len(homes) <= 2 if weight == 0 else len(homes) >= 2
    assert all(field.delivered(user).count("e1") == 1 for user in field.users)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abcde")), max_size=20))
def test_nothing_is_lost_or_doubled_while_users_move(seed: int, changes: list[tuple[int, str]]) -> None:
    """Placed in any order, with publications all the while: what a user wanted throughout it gets once."""
    field = field_of(seed, update_us=SECOND)
    for number in range(5):
        field.user(f"u{number}", NAMES[number], "a")
    quiet(field)
    for number, topic in changes:
        user = f"u{number}"
        if topic in field.wants(user) and topic != "a":
            field.unwant(user, topic)
        elif topic not in field.wants(user):
            field.want(user, topic)
        field.tell(NAMES[(number + 3) % 6], "a")
        field.advance(DELAY_US // 2)
    quiet(field)
    for user in field.users:
        got = [id_ for id_ in field.delivered(user)]
        assert sorted(got) == sorted(f"e{number}" for number in range(1, field.told + 1))
