"""Clustering by flow: invariants after every operation, changes that are safe, and the bad cases."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_grpc.protocols.clustering.costs import Costs, Power
from broker_grpc.protocols.clustering.settings import ClusteringSettings
from testbed.flow.clustering.clusters import Clusters
from testbed.flow.clustering.system import System
from testbed.flow.clustering.timeline import CHANGES, Operation, Timeline
from tests.flow.clustering_reference import check, recount

TOPICS, USERS = 8, 14
EXACT = ClusteringSettings(margin=0, cadence=5)
CHANGED = st.tuples(st.integers(0, USERS - 1), st.integers(0, TOPICS - 1), st.integers(0, 3))
FREQUENCIES = st.lists(st.sampled_from([0.0, 0.01, 0.1, 0.5, 2.0]), min_size=TOPICS, max_size=TOPICS)
SETTINGS = st.builds(
    ClusteringSettings, phi=st.sampled_from([0.5, 0.99]), margin=st.sampled_from([0.0, 0.05, 0.4]),
    cadence=st.sampled_from([3, 20]), paid_overlap=st.booleans(), adapt=st.sampled_from([True, True, False]),
    pairs=st.sampled_from(["everyone", "common"]),
    costs=st.sampled_from([Costs(), Costs(2.0, Power(1.5, 1.2), Power(0.7, 0.8), Power(2.0, 0.5))]),
)  # fmt: skip


def operations(changes: list[tuple[int, int, int]]) -> list[Operation]:
    """Three of four are subscriptions."""
    return [Operation(float(at), user, topic, kind > 0) for at, (user, topic, kind) in enumerate(changes)]


@settings(max_examples=60, deadline=None)
@given(st.lists(CHANGED, max_size=120), FREQUENCIES, SETTINGS, st.integers(0, 99))
def test_invariants_hold_after_every_operation(
    changes: list[tuple[int, int, int]], frequencies: list[float], chosen: ClusteringSettings, seed: int
) -> None:
    timeline = Timeline(frequencies, USERS, chosen, seed)
    for operation in operations(changes):
        timeline.apply(operation)
        check(timeline.system)


class Watched(Clusters):
    """Section 3: "all the updates that we decide to perform are guaranteed to improve the system's overall
    state", if what is estimated is exact."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self.changes = 0

    def _improves(self, before: float) -> None:
        self.changes += 1
        assert recount(self.system).cost < before

    def add(self, row: int, topic: int) -> None:
        before = recount(self.system).cost
        super().add(row, topic)
        self._improves(before)

    def remove(self, row: int, topic: int) -> None:
        before = recount(self.system).cost
        super().remove(row, topic)
        self._improves(before)


@settings(max_examples=40, deadline=None)
@given(st.lists(CHANGED, min_size=40, max_size=150), FREQUENCIES, st.sampled_from(["everyone", "common"]))
def test_every_change_of_a_cluster_is_safe(
    changes: list[tuple[int, int, int]], frequencies: list[float], pairs: str
) -> None:
    timeline = Timeline(frequencies, USERS, ClusteringSettings(margin=0, cadence=7, pairs=pairs), 1)  # type: ignore[arg-type]
    watched = Watched(timeline.system)
    timeline.clusters = timeline.users.clusters = timeline.rounds.clusters = watched
    for operation in operations(changes):
        timeline.apply(operation)
    before, united = recount(timeline.system).cost, timeline.system.done.copy()
    timeline.rounds.round()
    if timeline.system.done != united:
        assert recount(timeline.system).cost < before


def filled(frequencies: list[float], wants: list[set[int]], chosen: ClusteringSettings = EXACT) -> Timeline:
    timeline = Timeline(frequencies, len(wants), chosen, 1)
    for user, topics in enumerate(wants):
        for topic in sorted(topics):
            timeline.apply(Operation(0.0, user, topic, True))
    return timeline


# ---------------------------------------------------------------- bad cases


def test_a_topic_without_subscribers_is_asked_by_nobody_and_asks_nobody() -> None:
    timeline = filled([0.1, 0.1], [set(), set()])
    timeline.rounds.round()
    assert timeline.system.messages.total() == 0
    assert timeline.system.cost().cost == pytest.approx(0.2), "an event still reaches its channel"


def test_a_cluster_that_empties_is_destroyed() -> None:
    timeline = filled([0.01, 0.01], [{0, 1}] * 6)
    timeline.rounds.round()
    assert len(timeline.system.clusters) == 1
    for user in range(6):
        for topic in (0, 1):
            timeline.apply(Operation(1.0, user, topic, False))
            check(timeline.system)
    assert not timeline.system.clusters
    assert timeline.system.cost().maintenance == 0


def test_three_clusters_that_all_want_to_merge_become_one() -> None:
    """Six topics, all wanted by all: pairs first, and each pair proposes to another."""
    timeline = filled([0.01] * 6, [set(range(6))] * 20)
    for _ in range(4):
        timeline.rounds.round()
        check(timeline.system)
    (only,) = timeline.system.clusters.values()
    assert only.topics == 0b111111


def test_a_user_that_subscribes_and_unsubscribes_in_one_instant() -> None:
    timeline = filled([0.1, 0.1], [{0, 1}] * 5 + [set()])
    before = timeline.system.cost()
    for wanted in (True, False, True, False):
        timeline.apply(Operation(0.0, 5, 0, wanted))
        check(timeline.system)
    assert timeline.system.cost() == before


def test_an_operation_twice_is_done_once() -> None:
    timeline = filled([0.1], [{0}])
    timeline.apply(Operation(0.0, 0, 0, True))
    assert timeline.system.size(0) == 1
    for _ in range(2):
        timeline.apply(Operation(0.0, 0, 0, False))
    assert timeline.system.size(0) == 0


def test_frequencies_of_zero() -> None:
    timeline = filled([0.0] * 4, [{0, 1}, {2, 3}, {0, 1, 2, 3}] * 4)
    for _ in range(3):
        timeline.rounds.round()
        check(timeline.system)
    assert timeline.system.cost().dissemination == 0
    assert len(timeline.system.clusters) == 1, "events cost nothing, so one tree does for all"


def test_frozen_clusters_do_not_change() -> None:
    timeline = filled([0.01] * 4, [{0, 1}] * 8)
    timeline.rounds.round()
    frozen = ClusteringSettings(margin=0, adapt=False)
    timeline.system.settings = frozen
    were = {c.identity: c.topics for c in timeline.system.clusters.values()}
    for user in range(8):
        for topic in (2, 3):
            timeline.apply(Operation(1.0 + user, user, topic, True))
    timeline.advance(100.0)
    assert {c.identity: c.topics for c in timeline.system.clusters.values()} == were


# ---------------------------------------------------------------- repeatable


def test_the_same_seed_gives_the_same_curve_and_another_one_another() -> None:
    chance = random.Random(5)
    changes = []
    for _ in range(3000):
        user, near = chance.randrange(40), chance.random() < 0.8
        topic = user % 2 * 4 + chance.randrange(4) if near else chance.randrange(TOPICS)
        changes.append((user, topic, int(chance.random() < 0.65)))

    def curve(seed: int) -> list[dict[str, object]]:
        chosen = ClusteringSettings(margin=0.3, cadence=10)
        frequencies = [0.3 * (1 + topic) / 4 for topic in range(TOPICS)]
        return list(Timeline(frequencies, 40, chosen, seed).run(operations(changes), 3000, 8))

    assert curve(1) == curve(1)
    assert curve(1) != curve(2)
    last = curve(1)[-1]
    assert all(last[kind] for kind in CHANGES), "every kind of change happened"
