"""LOW-ODA, naive and shadow maintenance against the pseudo-code, and topic-connectivity always."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_grpc.protocols.topicconnected.backups import (
    PrimaryBackup,
    build_by_primal_dual,
    build_greedily,
)
from broker_grpc.protocols.topicconnected.components import is_topic_connected
from broker_grpc.protocols.topicconnected.lowoda import low_oda
from broker_grpc.protocols.topicconnected.naive import NaiveMaintenance
from broker_grpc.protocols.topicconnected.overlay import Overlay, bits
from broker_grpc.protocols.topicconnected.shadow import ShadowMaintenance
from tests.topicconnected import reference

TOPICS = range(6)
interest = st.sets(st.sampled_from(TOPICS), max_size=5)
interests = st.lists(interest, min_size=1, max_size=9).map(lambda sets: dict(enumerate(sets)))
rhos = st.sampled_from([1.0, 2.0, 3.0, 10.0])


def build(given_interests: reference.Interests, rho: float) -> Overlay[int, int]:
    """Topics are registered in their own order, so that both sides draw and break ties alike."""
    overlay: Overlay[int, int] = low_oda({v: sorted(t) for v, t in given_interests.items()}, rho)
    return overlay


def names(overlay: Overlay[int, int], mask: int) -> set[int]:
    return {overlay.name[i] for i in bits(mask)}


@settings(max_examples=150, deadline=None)
@given(interests, rhos)
def test_low_oda_chooses_the_edges_of_the_pseudo_code(inst: reference.Interests, rho: float) -> None:
    overlay = build(inst, rho)
    assert overlay.edges() == reference.low_oda(inst, rho)
    assert is_topic_connected(overlay)


@settings(max_examples=150, deadline=None)
@given(interests, rhos)
def test_the_benchmark_s_transcription_chooses_the_same_edges(inst: reference.Interests, rho: float) -> None:
    assert reference.low_oda_quadratic(inst, rho) == reference.low_oda(inst, rho)


@settings(max_examples=100, deadline=None)
@given(interests, interest, rhos)
def test_naive_join(inst: reference.Interests, topics: set[int], rho: float) -> None:
    overlay = build(inst, rho)
    before = overlay.edges()
    newcomer = len(inst)
    NaiveMaintenance(overlay, rho).join(newcomer, sorted(topics))
    expected = reference.naive_join({**inst, newcomer: topics}, before, newcomer, rho)
    assert overlay.edges() - before == expected
    assert is_topic_connected(overlay)


@settings(max_examples=100, deadline=None)
@given(interests, st.data(), rhos)
def test_naive_leave(inst: reference.Interests, data: st.DataObject, rho: float) -> None:
    overlay = build(inst, rho)
    gone = data.draw(st.sampled_from(sorted(inst)))
    kept = {e for e in overlay.edges() if gone not in e}
    NaiveMaintenance(overlay, rho).leave(gone)
    rest = {v: t for v, t in inst.items() if v != gone}
    assert overlay.edges() - kept == reference.naive_leave(rest, kept, inst[gone], rho)
    assert is_topic_connected(overlay)


@pytest.mark.parametrize("seed", range(60))
def test_naive_leave_in_sparser_overlays(seed: int) -> None:
    """Where nodes without a topic to connect have the largest degree."""
    random = Random(seed)
    inst = {v: set(random.sample(range(8), random.randint(1, 4))) for v in range(random.randint(6, 12))}
    overlay = build(inst, 3.0)
    gone = random.randrange(len(inst))
    kept = {e for e in overlay.edges() if gone not in e}
    NaiveMaintenance(overlay, 3.0).leave(gone)
    rest = {v: t for v, t in inst.items() if v != gone}
    assert overlay.edges() - kept == reference.naive_leave(rest, kept, inst[gone], 3.0)
    assert is_topic_connected(overlay)


@settings(max_examples=100, deadline=None)
@given(interests, st.data(), st.integers(1, 3))
def test_greedy_backups(inst: reference.Interests, data: st.DataObject, coverage: int) -> None:
    overlay = build(inst, 3.0)
    state = PrimaryBackup(overlay)
    v = data.draw(st.sampled_from(sorted(inst)))
    weight = {u: overlay.degree[overlay.index[u]] for u in inst}
    build_greedily(state, overlay.index[v], coverage, Random(0))
    expected = reference.greedy_backups(inst, weight, v, coverage)
    assert names(overlay, state.backups[overlay.index[v]]) == expected


@settings(max_examples=100, deadline=None)
@given(interests, st.data(), st.integers(1, 3), st.integers(0, 1000))
def test_primal_dual_backups(
    inst: reference.Interests, data: st.DataObject, coverage: int, seed: int
) -> None:
    ordered = {0: set(TOPICS), **{v + 1: t for v, t in inst.items()}}  # fixes the order of the topics
    overlay = build(ordered, 3.0)
    state = PrimaryBackup(overlay)
    v = data.draw(st.sampled_from(sorted(ordered)))
    weight = {u: overlay.degree[overlay.index[u]] for u in ordered}
    build_by_primal_dual(state, overlay.index[v], coverage, Random(seed))
    expected = reference.primal_dual_backups(ordered, weight, v, coverage, Random(seed))
    assert names(overlay, state.backups[overlay.index[v]]) == expected


def churn(maintenance: ShadowMaintenance | NaiveMaintenance, steps: list[tuple[bool, set[int], int]]) -> None:
    """Joins and leaves; topic-connected after every round."""
    serial = 1000
    for joins, topics, pick in steps:
        nodes = maintenance.overlay.nodes()
        if joins or not nodes:
            serial += 1
            maintenance.join(serial, sorted(topics))
        else:
            maintenance.leave(nodes[pick % len(nodes)])
        assert is_topic_connected(maintenance.overlay)


steps = st.lists(st.tuples(st.booleans(), interest, st.integers(0, 100)), max_size=12)


@settings(max_examples=100, deadline=None)
@given(interests, steps, st.sampled_from([build_greedily, build_by_primal_dual]), st.integers(1, 3))
def test_shadow_keeps_every_topic_connected(inst, steps, build_backups, coverage) -> None:  # type: ignore[no-untyped-def]
    overlay = build(inst, 3.0)
    maintenance = ShadowMaintenance(overlay, Random(1), coverage, build_backups)
    churn(maintenance, steps)
    assert_primaries_mirror_backups(maintenance.state)


@settings(max_examples=50, deadline=None)
@given(interests, steps)
def test_naive_keeps_every_topic_connected(inst, steps) -> None:  # type: ignore[no-untyped-def]
    churn(NaiveMaintenance(build(inst, 3.0)), steps)


def assert_primaries_mirror_backups(state: PrimaryBackup) -> None:
    for v, mask in state.backups.items():
        for u in bits(mask):
            assert state.primaries[u] >> v & 1
    for u, mask in state.primaries.items():
        for v in bits(mask):
            assert state.backups[v] >> u & 1


def test_backups_share_a_topic_and_cover_all_topics_lambda_times() -> None:
    """Equations (1) and (2), and the coverage factor of section V-G."""
    random = Random(7)
    inst = {v: set(random.sample(range(20), random.randint(1, 8))) for v in range(60)}
    overlay = build(inst, 3.0)
    state = ShadowMaintenance(overlay, random, coverage=2).state
    for v in bits(overlay.alive):
        backups = state.backups[v]
        assert all(overlay.topics[u] & overlay.topics[v] for u in bits(backups))
        for t in bits(overlay.topics[v]):
            others = overlay.subscribers[t] & ~(1 << v)
            assert (backups & others).bit_count() >= min(2, others.bit_count())


@settings(max_examples=100, deadline=None)
@given(interests, st.data())
def test_connectivity_is_what_the_definition_says(inst: reference.Interests, data: st.DataObject) -> None:
    """Also when links are missing: the check that every round relies on can fail."""
    overlay = build(inst, 3.0)
    for a, b in sorted(overlay.edges()):
        if data.draw(st.booleans()):
            overlay.remove_edge(overlay.index[a], overlay.index[b])
    topics = set().union(*inst.values())
    assert is_topic_connected(overlay) == reference.is_connected(inst, topics, overlay.edges())


# ---------------------------------------------------------------- bad cases


@pytest.fixture
def maintained() -> ShadowMaintenance:
    inst = {0: {1, 2}, 1: {2, 3}, 2: {1, 3}, 3: {2}, 4: {1, 2, 3}}
    return ShadowMaintenance(build(inst, 3.0), Random(3))


def test_a_node_with_no_topics_needs_no_links(maintained: ShadowMaintenance) -> None:
    assert maintained.join(9, []) == []
    assert is_topic_connected(maintained.overlay)
    assert maintained.leave(9) == []
    assert is_topic_connected(maintained.overlay)


def test_a_topic_with_one_subscriber_needs_no_links(maintained: ShadowMaintenance) -> None:
    assert maintained.join(9, [77]) == []
    assert is_topic_connected(maintained.overlay)
    assert maintained.leave(9) == []
    assert is_topic_connected(maintained.overlay)


def test_the_last_subscriber_leaves(maintained: ShadowMaintenance) -> None:
    for node in list(maintained.overlay.nodes()):
        maintained.leave(node)
        assert is_topic_connected(maintained.overlay)
    assert maintained.overlay.nodes() == []
    assert maintained.overlay.edge_count == 0


def test_a_node_and_all_its_backups_leave_together(maintained: ShadowMaintenance) -> None:
    v = maintained.overlay.index[4]
    together = [4, *(maintained.overlay.name[u] for u in bits(maintained.state.backups[v]))]
    for node in together:
        maintained.repair_leave(node)  # no time for step III in between
        assert is_topic_connected(maintained.overlay)


def test_rejoin_with_other_topics(maintained: ShadowMaintenance) -> None:
    maintained.leave(0)
    assert is_topic_connected(maintained.overlay)
    maintained.join(0, [3])
    assert is_topic_connected(maintained.overlay)
    assert maintained.overlay.topics[maintained.overlay.index[0]].bit_count() == 1


def test_joining_twice_is_refused(maintained: ShadowMaintenance) -> None:
    with pytest.raises(ValueError, match="already"):
        maintained.join(0, [1])
