"""Shadow's repairs and backup updates, round by round, against the transcribed pseudo-code."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_grpc.protocols.topicconnected.backups import build_by_primal_dual, build_greedily
from broker_grpc.protocols.topicconnected.components import is_topic_connected
from broker_grpc.protocols.topicconnected.lowoda import low_oda
from broker_grpc.protocols.topicconnected.overlay import Overlay, bits
from broker_grpc.protocols.topicconnected.shadow import ShadowMaintenance
from tests.topicconnected import reference
from tests.topicconnected.shadow_reference import ShadowTranscription

TOPICS = range(6)
interest = st.sets(st.sampled_from(TOPICS), max_size=5)
# The first node has every topic: both sides then number topics alike, and draw the same ones.
interests = st.lists(interest, max_size=8).map(lambda sets: dict(enumerate([set(TOPICS), *sets])))
Step = tuple[bool, set[int], int]  # joins, with topics; or who leaves
steps = st.lists(st.tuples(st.booleans(), interest, st.integers(0, 100)), min_size=1, max_size=8)


def names(overlay: Overlay[int, int], mask: int) -> set[int]:
    return {overlay.name[i] for i in bits(mask)}


def assert_same(maintenance: ShadowMaintenance, expected: ShadowTranscription) -> None:
    overlay, state = maintenance.overlay, maintenance.state
    assert overlay.edges() == expected.edges
    for v in expected.interests:
        i = overlay.index[v]
        assert names(overlay, state.backups.get(i, 0)) == expected.backups[v]
        assert names(overlay, state.primaries.get(i, 0)) == expected.primaries(v)
    topics = set().union(*expected.interests.values())
    assert reference.is_connected(expected.interests, topics, expected.edges)
    assert is_topic_connected(overlay)


def play(
    inst: reference.Interests, steps: list[Step], greedy: bool, coverage: int, rho: float, seed: int
) -> None:
    overlay: Overlay[int, int] = low_oda({v: sorted(topics) for v, topics in inst.items()}, rho)
    expected = ShadowTranscription(inst, overlay.edges(), seed, coverage, greedy, rho)
    build = build_greedily if greedy else build_by_primal_dual
    maintenance = ShadowMaintenance(overlay, Random(seed), coverage, build, rho)
    assert_same(maintenance, expected)
    serial = 100
    for joins, topics, pick in steps:
        present = sorted(expected.interests)
        if joins or not present:
            serial += 1
            maintenance.join(serial, sorted(topics))
            expected.join(serial, topics)
        else:
            gone = present[pick % len(present)]
            maintenance.leave(gone)
            expected.leave(gone)
        assert names(overlay, maintenance.shadow) == expected.shadows
        assert_same(maintenance, expected)


@settings(max_examples=100, deadline=None)
@given(interests, steps, st.booleans(), st.integers(1, 3), st.sampled_from([1.0, 3.0]), st.integers(0, 99))
def test_joins_leaves_and_backup_updates(inst, steps, greedy, coverage, rho, seed) -> None:  # type: ignore[no-untyped-def]
    play(inst, steps, greedy, coverage, rho, seed)


@pytest.mark.parametrize("seed", range(60))
def test_sparser_overlays(seed: int) -> None:
    """Few topics of many per node: then degrees differ, and shadow sets are a part of all nodes."""
    random = Random(seed)

    def some() -> set[int]:
        return set(random.sample(range(9), random.randint(1, 4)))

    inst = {0: set(range(9)), **{v: some() for v in range(1, random.randint(8, 14))}}
    steps = [(False, set[int](), 0)]  # who has every topic leaves first
    steps += [(random.random() < 0.3, some(), random.randrange(100)) for _ in range(6)]
    play(inst, steps, random.random() < 0.5, random.randint(1, 2), 3.0, seed)
