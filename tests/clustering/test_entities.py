"""Entities in every order of messages: invariants at quiet points; one thing at a time, the same as flow."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields
from enum import Enum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_grpc.protocols.clustering import messages
from broker_grpc.protocols.clustering.channel import State
from broker_grpc.protocols.clustering.clusterchannel import ClusterChannel
from broker_grpc.protocols.clustering.draws import identity
from broker_grpc.protocols.clustering.entity import Entity
from broker_grpc.protocols.clustering.messages import Address, Message
from broker_grpc.protocols.clustering.settings import ClusteringSettings
from broker_grpc.protocols.clustering.subscriber import Interest, Membership, Subscriber
from broker_grpc.protocols.clustering.topicchannel import TopicChannel
from testbed.flow.clustering.system import bits
from testbed.flow.clustering.timeline import Timeline
from tests.clustering.entities import Network

TOPICS, USERS = 6, 10
FREQUENCIES = [0.0, 0.01, 0.05, 0.1, 0.3, 0.8]
EXACT = ClusteringSettings(margin=0)
SETTINGS = st.builds(
    ClusteringSettings, margin=st.sampled_from([0.0, 0.4]), phi=st.sampled_from([0.9, 0.999])
)


# ---------------------------------------------------------------- in every order


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), SETTINGS, st.integers(10, 150))
def test_whatever_the_order_all_comes_to_rest_and_is_covered(
    seed: int, chosen: ClusteringSettings, n: int
) -> None:
    """Operations, samples and events at any time, between messages that are under way."""
    chance = random.Random(seed)
    network = Network(FREQUENCIES, USERS, chosen, seed, chance.randrange)
    for _ in range(n):
        something(network, chance)()
        for _ in range(chance.randrange(12)):
            if network.links:
                network.step()
    network.settle()
    network.check_never_twice()
    network.check_quiet()
    network.check_exactly_once()
    network.check_never_twice()


def something(network: Network, chance: random.Random) -> Callable[[], object]:
    user, topic, kind = chance.randrange(USERS), chance.randrange(TOPICS), chance.random()
    if kind < 0.6:
        return lambda: network.declare(user, topic)
    if kind < 0.75:
        return lambda: network.withdraw(user, topic)
    if kind < 0.85:
        return lambda: network.publish(topic)
    channels = network.channels()
    return lambda: network.sample(chance.choice(channels)) if channels else None


# ---------------------------------------------------------------- flow and machines


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.05]), st.integers(20, 200))
def test_flow_and_machines_do_the_same_in_integers(seed: int, margin: float, n: int) -> None:
    """Spaced operations: each comes to rest before the next."""
    chance, chosen = random.Random(seed), ClusteringSettings(margin=margin)
    network, flow = Network(FREQUENCIES, USERS, chosen, seed), Timeline(FREQUENCIES, USERS, chosen, seed)
    for at in range(n):
        user, topic, wanted = chance.randrange(USERS), chance.randrange(TOPICS), chance.random() < 0.75
        (network.declare if wanted else network.withdraw)(user, topic)
        network.settle()
        (flow.users.subscribe if wanted else flow.users.unsubscribe)(user, topic)
        if at % 8 == 7:
            network.round()
            flow.rounds.round()
        compare(network, flow)
    network.check_quiet()


def compare(network: Network, flow: Timeline) -> None:
    system = flow.system
    clusters = {
        c.identity: {identity(f"topic {t}") for t in bits(c.topics)} for c in system.clusters.values()
    }
    there = {i: set(c.content) for i, c in network.clusters.items() if c.state is State.OPEN}
    assert there == clusters
    for topic, channel in enumerate(network.topics):
        assert len(channel.members) == system.size(topic)
    for row, cluster in system.clusters.items():
        members = {network.users[u].identity for u in system.held.of(row).tolist()}
        assert network.clusters[cluster.identity].members == members
    for purpose in ("lookup", "trigger", "survey", "proposal"):
        assert network.sent[purpose] == system.messages[purpose], purpose


# ---------------------------------------------------------------- bad cases


def everyone_wants(network: Network, topics: range) -> None:
    for user in range(len(network.users)):
        for topic in topics:
            network.declare(user, topic)
    network.settle()


def test_a_survey_whose_peers_have_gone_ends_with_those_that_answered() -> None:
    network = Network(FREQUENCIES, USERS, EXACT, 1)
    everyone_wants(network, range(2))
    network.lost = {user.address for user in network.users[:4]}
    network.sample(network.topics[0])
    network.settle()
    assert network.topics[0].surveys, "four have not answered"
    network.give_up_waiting()
    assert not network.topics[0].surveys
    assert [c for c in network.clusters.values() if c.state is State.OPEN], "the six others were enough"


def test_a_survey_that_nobody_answers_changes_nothing() -> None:
    network = Network(FREQUENCIES, USERS, EXACT, 1)
    everyone_wants(network, range(2))
    network.lost = {user.address for user in network.users}
    network.round()
    network.give_up_waiting()
    assert not network.clusters


@pytest.mark.parametrize("seed", range(20))
def test_three_clusters_that_propose_at_the_same_time(seed: int) -> None:
    """The lock: nobody is merged into two, and after some rounds one cluster is left."""
    chance = random.Random(seed)
    network = Network([0.01] * 6, USERS, EXACT, seed, chance.randrange)
    everyone_wants(network, range(6))
    for pair in (0, 2, 4):
        content = {topic.identity: 0.01 for topic in network.topics[pair : pair + 2]}
        network.put(network.topics[pair].address, Address("cluster", pair), messages.Created(content))
        for user in network.users:
            network.put(network.topics[pair].address, user.address, messages.Resubscribe(pair))
    network.settle()
    network.check_quiet()
    assert sum(c.state is State.OPEN for c in network.clusters.values()) == 3
    for _ in range(12):
        for channel in network.channels():
            network.sample(channel)
        network.settle()
        network.check_quiet()
    (only,) = [c for c in network.clusters.values() if c.state is State.OPEN]
    assert len(only.content) == 6
    network.check_exactly_once()


def test_a_user_that_declares_and_withdraws_in_one_instant() -> None:
    for seed in range(50):
        chance = random.Random(seed)
        network = Network(FREQUENCIES, USERS, EXACT, seed, chance.randrange)
        everyone_wants(network, range(3))
        network.round()
        for topic in (0, 3, 5):
            for act in (network.withdraw, network.declare, network.withdraw):
                act(0, topic)
        network.settle()
        network.check_quiet()
        network.check_exactly_once()


def test_a_cluster_that_nobody_entered_goes() -> None:
    network = Network(FREQUENCIES, 1, EXACT, 1)
    network.put(
        network.topics[0].address,
        Address("cluster", 7),
        messages.Created({t.identity: 0.1 for t in network.topics}),
    )
    network.settle()
    assert network.clusters[7].state is State.OPEN
    network.sample(network.clusters[7])
    network.settle()
    assert network.clusters[7].state is State.GONE
    network.check_quiet()


# ---------------------------------------------------------------- the table of legal transitions

MESSAGES = [kind for kind in vars(messages).values() if isinstance(kind, type) and issubclass(kind, Message)]
KINDS: list[tuple[type[Entity], type[Enum]]] = [
    (TopicChannel, State), (ClusterChannel, State), (Subscriber, Interest), (Subscriber, Membership),
]  # fmt: skip


def filled(kind: type[Message]) -> Message:
    """With something in each field."""
    values = {"topic": 5, "number": 1, "topics": {5: 0.1}, "clusters": {}, "frequency": 0.1, "size": 3}
    values |= {"cluster": 9, "successor": None, "users": 1.0, "holds": True, "interested": True, "id": "x"}
    values |= {"again": False, "known": None, "asks": False}
    found = {f.name: values[f.name] for f in fields(kind)}
    if kind is messages.OverlapAnswer:
        found |= {"topics": frozenset({5}), "clusters": frozenset()}
    return kind(**found)


@pytest.mark.parametrize("kind", MESSAGES)
@pytest.mark.parametrize(("entity", "states"), KINDS[:2])
def test_a_channel_counts_what_is_not_legal_and_does_nothing(
    entity: type[Entity], states: type[Enum], kind: type[Message]
) -> None:
    for state in states:
        made = TopicChannel(5, 0.1, EXACT, 1) if entity is TopicChannel else ClusterChannel(9, EXACT, 1)
        made.state = state  # type: ignore[assignment]
        made.members = {1, 2}
        before = (set(made.members), made.drawn)
        out = made.handle(Address("user", 1), filled(kind))
        if (state, kind) not in made.table:
            assert (out, made.refused, made.state) == ([], 1, state)
            assert (made.members, made.drawn) == before
        else:
            assert made.refused <= 1  # an answer to a survey that nobody made


@pytest.mark.parametrize("kind", MESSAGES)
def test_a_subscriber_counts_what_is_not_legal_and_does_nothing(kind: type[Message]) -> None:
    for state in Interest:
        user = Subscriber(1, EXACT, 1)
        user.interests[5] = state
        out = user.handle(Address("topic", 5), filled(kind))
        if (state, kind) not in user.table:
            assert (out, user.refused, user.interest(5)) == ([], 1, state)


def test_every_message_is_legal_for_somebody_and_every_state_is_left() -> None:
    tables = [entity.table for entity in (TopicChannel, ClusterChannel, Subscriber)]
    legal = {kind for table in tables for _, kind in table}
    assert {kind for kind in MESSAGES if kind not in (Message, messages.OfTopic)} == legal
    for entity, states in KINDS[1:]:
        assert {state for state, _ in entity.table if isinstance(state, states)} >= set(states) - {
            Membership.OUT
        }
