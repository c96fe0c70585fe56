"""Every delta is the difference of two overall costs, counted by brute force, whatever the cost functions."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_grpc.protocols.clustering.adding import (
    add_delta,
    holders_needed,
    omega,
    remove_delta,
    size_to_watch,
    threshold,
)
from broker_grpc.protocols.clustering.costs import PAPER, Costs, Power, gains
from broker_grpc.protocols.clustering.merging import Common, Side, merge_delta, pair_delta
from broker_grpc.protocols.clustering.subscribing import freed as freed_of
from broker_grpc.protocols.clustering.subscribing import fullest, joins, leaves, most_filtered


@dataclass
class World:
    """Section 2, written out: topics(s) and clusters(s) of each subscriber."""

    frequencies: list[float]
    topics: dict[int, set[int]] = field(default_factory=dict)
    clusters: dict[int, set[str]] = field(default_factory=dict)
    content: dict[str, set[int]] = field(default_factory=dict)

    def size_of_topic(self, topic: int) -> int:
        return sum(topic in held for held in self.topics.values())

    def size_of_cluster(self, cluster: str) -> int:
        return sum(cluster in mine for mine in self.clusters.values())

    def cost(self, costs: Costs) -> float:
        total = sum(costs.maintain(self.size_of_topic(t)) for t in range(len(self.frequencies)))
        for cluster, topics in self.content.items():
            total += costs.maintain(self.size_of_cluster(cluster)) + costs.associate(len(topics))
        for topic, frequency in enumerate(self.frequencies):
            channels = costs.notify + costs.disseminate(self.size_of_topic(topic))
            for cluster, topics in self.content.items():
                if topic in topics:
                    channels += costs.notify + costs.disseminate(self.size_of_cluster(cluster))
            total += frequency * channels
        return total


POWERS = st.builds(Power, st.floats(0.1, 3), st.sampled_from([0.5, 1.0, 1.5]))
COSTS = st.one_of(st.just(PAPER), st.builds(Costs, st.floats(0, 3), POWERS, POWERS, POWERS))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Two clusters that may overlap, a topic outside of both; nobody holds what his clusters deliver."""
    frequencies = draw(st.lists(st.floats(0, 2), min_size=4, max_size=7))
    everything = st.integers(0, len(frequencies) - 2)  # the last topic is in no cluster
    content = {name: draw(st.sets(everything, min_size=1)) for name in ("c1", "c2")}
    users = draw(st.integers(1, 8))
    clusters = {u: draw(st.sets(st.sampled_from(["c1", "c2"]))) for u in range(users)}
    held = {
        u: draw(st.sets(st.integers(0, len(frequencies) - 1))).difference(*(content[c] for c in clusters[u]))
        for u in range(users)
    }
    return World(frequencies, held, clusters, content)


@given(worlds(), COSTS)
def test_adding_and_removing_a_topic(world: World, costs: Costs) -> None:
    topic = len(world.frequencies) - 1
    holders = [u for u, mine in world.clusters.items() if "c1" in mine and topic in world.topics[u]]
    size, members = world.size_of_topic(topic), world.size_of_cluster("c1")
    count, frequency = len(world.content["c1"]), world.frequencies[topic]
    delta = add_delta(costs, frequency, size, members, len(holders), count)
    before = world.cost(costs)
    world.content["c1"].add(topic)
    for user in holders:
        world.topics[user].discard(topic)
    assert world.cost(costs) - before == pytest.approx(delta, abs=1e-6)
    back = remove_delta(costs, frequency, world.size_of_topic(topic), members, len(holders), count + 1)
    assert back == pytest.approx(-delta, abs=1e-6)


@given(worlds(), COSTS)
def test_merging_two_clusters(world: World, costs: Costs) -> None:
    def side(name: str) -> Side:
        topics = world.content[name]
        return Side(len(topics), sum(world.frequencies[t] for t in topics), world.size_of_cluster(name))

    shared = world.content["c1"] & world.content["c2"]
    both = sum(len(mine) == 2 for mine in world.clusters.values())
    common = Common(both, len(shared), sum(world.frequencies[t] for t in shared))
    delta = merge_delta(costs, side("c1"), side("c2"), common)
    before = world.cost(costs)
    world.content = {"c": world.content["c1"] | world.content["c2"]}
    world.clusters = {u: {"c"} if mine else set() for u, mine in world.clusters.items()}
    assert world.cost(costs) - before == pytest.approx(delta, abs=1e-6)


@given(worlds(), COSTS, st.booleans())
def test_two_topics_become_a_cluster(world: World, costs: Costs, everyone: bool) -> None:
    world.content, world.clusters = {}, {u: set() for u in world.topics}
    one, other = (Side(1, world.frequencies[t], world.size_of_topic(t), True) for t in (0, 1))
    both = sum({0, 1} <= held for held in world.topics.values())
    delta = merge_delta(costs, one, other, Common(both)) if everyone else pair_delta(costs, one, other, both)
    before = world.cost(costs)
    world.content = {"c": {0, 1}}
    for user, held in world.topics.items():
        if held & {0, 1} if everyone else {0, 1} <= held:
            held -= {0, 1}
            world.clusters[user] = {"c"}
    assert world.cost(costs) - before == pytest.approx(delta, abs=1e-6)


@given(worlds(), COSTS)
def test_a_topic_and_a_cluster_become_one(world: World, costs: Costs) -> None:
    topic = len(world.frequencies) - 1
    content = world.content["c1"]
    cluster = Side(len(content), sum(world.frequencies[t] for t in content), world.size_of_cluster("c1"))
    single = Side(1, world.frequencies[topic], world.size_of_topic(topic), True)
    both = sum(topic in world.topics[u] and "c1" in mine for u, mine in world.clusters.items())
    delta = merge_delta(costs, single, cluster, Common(both))
    before = world.cost(costs)
    content.add(topic)
    for user, held in world.topics.items():
        if topic in held:
            held.discard(topic)
            world.clusters[user].add("c1")
    assert world.cost(costs) - before == pytest.approx(delta, abs=1e-6)


@given(worlds(), COSTS)
def test_a_user_enters_a_cluster_and_leaves_it(world: World, costs: Costs) -> None:
    user = 0
    world.clusters[user].discard("c1")
    members, content = world.size_of_cluster("c1"), world.content["c1"]
    covered = set().union(*(world.content[c] for c in world.clusters[user]))
    given_up = world.topics[user] & content
    direct = sum(freed_of(costs, world.frequencies[t], world.size_of_topic(t)) for t in given_up)
    frequency = sum(world.frequencies[t] for t in content)
    before = world.cost(costs)
    world.topics[user] -= content
    world.clusters[user].add("c1")
    delta = world.cost(costs) - before
    assert covered.isdisjoint(given_up)
    if abs(delta) > 1e-6:
        assert joins(costs, members, frequency, direct) == (delta < 0)
        assert leaves(costs, members + 1, frequency, direct) == (delta > 0)


# ---------------------------------------------------------------- thresholds


@given(st.floats(0, 3), st.integers(0, 5000), st.integers(0, 5000), st.integers(1, 50))
def test_needed_is_the_first_integer_above_the_threshold(
    f: float, members: int, size: int, topics: int
) -> None:
    needed = holders_needed(PAPER, f, size, members, topics)
    assert add_delta(PAPER, f, max(size, needed), members, needed, topics) < 0
    assert needed == pytest.approx(threshold(f, members), abs=1.001)


@given(COSTS, st.floats(0, 2), st.integers(0, 60), st.integers(0, 60), st.integers(1, 9), st.data())
def test_the_watched_size_is_the_largest_that_gains(
    costs: Costs, f: float, size: int, members: int, topics: int, data: st.DataObject
) -> None:
    holders = data.draw(st.integers(0, size))
    watched = size_to_watch(costs, f, size, members, holders, topics)
    gaining = [n for n in range(members + 1) if gains(add_delta(costs, f, size, n, holders, topics))]
    assert watched == max(gaining, default=-1)


def test_frequencies_of_zero() -> None:
    """Then an event costs nothing: two holders pay for the association of one topic."""
    assert threshold(0, 10_000) == 1
    assert holders_needed(PAPER, 0, 0, 10_000, 3) == 2
    assert merge_delta(PAPER, Side(1, 0, 5, True), Side(1, 0, 5, True), Common(3)) == -1


@pytest.mark.parametrize(("phi", "needed"), [(0, 5), (1, 5), (0.5, 0)])
def test_a_coin_needs_a_chance_and_somebody(phi: float, needed: int) -> None:
    with pytest.raises(ValueError, match="phi"):
        omega(phi, needed)


# ---------------------------------------------------------------- which cluster


def test_section_4_the_cluster_with_most_of_the_users_topics() -> None:
    names = {"a": 3, "b": 2, "c": 1}
    assert fullest({"a": 2, "b": 5, "c": 4}, names) == "b"
    assert fullest({"a": 5, "b": 5, "c": 4}, names) == "b", "of equals the lowest identity"


def test_section_3_1_the_cluster_with_most_filtered_out_topics() -> None:
    interests = 0b0011
    clusters = [(9, 0b0111, "one out"), (8, 0b1110, "two out"), (7, 0b0011, "none out")]
    assert most_filtered(interests, clusters) == "two out"
    assert most_filtered(interests, []) is None


# ---------------------------------------------------------------- safe: section 3


def shuffled_worlds(count: int) -> Iterator[World]:
    for seed in range(count):
        chance = random.Random(seed)
        frequencies = [chance.random() for _ in range(5)]
        held = {u: {t for t in range(5) if chance.random() < 0.6} for u in range(12)}
        yield World(frequencies, held, {u: set() for u in held}, {})


def test_the_formula_without_the_singletons_own_term_would_not_be_safe() -> None:
    """Why 1 + f is added: without it, pairs are made that raise the overall cost."""
    wrong = 0
    for world in shuffled_worlds(200):
        one, other = (Side(1, world.frequencies[t], world.size_of_topic(t)) for t in (0, 1))
        both = sum({0, 1} <= held for held in world.topics.values())
        plain = merge_delta(PAPER, one, other, Common(both))
        true = merge_delta(PAPER, one._replace(single=True), other._replace(single=True), Common(both))
        assert plain == pytest.approx(true - 2 - one.frequency - other.frequency)
        wrong += plain < 0 < true
    assert wrong
