"""Trees while brokers come and go: when it is quiet, every tree is the union of routes again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rendezvous.ground import Ground
from tests.rendezvous.test_trees import GROWN, NAMES, RINGS, settings_of

BEATS = {"heartbeat_interval_us": 1_000_000, "silence_us": 2_500_000, "retry_us": 500_000}
QUIET_US = 12_000_000
CHANGES = ("kill", "leave", "come", "toggle")


def begun(kind: str, grow: str, seed: int = 0, **more: object) -> Ground:
    return Ground(settings_of(kind, grow, **BEATS, **more), NAMES, seed)


def is_whole(ground: Ground, topic: str, members: set[str]) -> None:
    """Exact, and everybody gets a publication once."""
    ground.check(topic, members)
    id_ = f"whole:{topic}:{ground.now_us}"
    ground.tell(ground.alive()[0], topic, id_)
    ground.settle()
    for name in ground.alive():
        assert ground.got(name).count(id_) == (name in members), name


def parent(ground: Ground, name: str) -> str:
    topic = ground.topic(name, "news")
    return topic.parent if topic is not None else ""


def populated(kind: str, grow: str, seed: int = 0, **more: object) -> tuple[Ground, set[str]]:
    ground = begun(kind, grow, seed, **more)
    members = set(NAMES[1::2])
    for name in sorted(members):
        ground.want(name, "news")
    ground.settle()
    return ground, members


@pytest.mark.parametrize("grow", GROWN)
@pytest.mark.parametrize("kind", RINGS)
@pytest.mark.parametrize("who", ["root", "parent", "member"])
def test_a_broker_is_killed(kind: str, grow: str, who: str) -> None:
    """Scribe 3.3: a child that does not hear its parent joins again; a new root is found by the ring."""
    ground, members = populated(kind, grow)
    root = ground.root("news")
    relays = {parent for parent, _ in ground.edges("news")} - {root}
    victim = {"root": root, "parent": min(relays or {root}), "member": min(members - {root})}[who]
    ground.vanish(victim)
    ground.settle()
    ground.tell_rings()
    ground.advance(QUIET_US)
    is_whole(ground, "news", members - {victim})


@pytest.mark.parametrize("grow", GROWN)
@pytest.mark.parametrize("kind", RINGS)
def test_a_broker_says_farewell_and_comes_back(kind: str, grow: str) -> None:
    ground, members = populated(kind, grow)
    victim = ground.root("news")
    ground.depart(victim)
    ground.tell_rings()
    ground.advance(QUIET_US)
    is_whole(ground, "news", members - {victim})
    ground.begin(victim)
    ground.settle()
    ground.tell_rings()
    ground.advance(QUIET_US)
    is_whole(ground, "news", members - {victim})


@pytest.mark.parametrize("grow", GROWN)
@pytest.mark.parametrize("direction", ["down", "up", "both"])
@pytest.mark.parametrize("batch", [False, True])
def test_heartbeats_keep_a_quiet_tree(grow: str, direction: str, batch: bool) -> None:
    ground, members = populated("pastry", grow, heartbeats=direction, batch_heartbeats=batch)
    before = len(ground.events("TREE_CHANGED"))
    ground.advance(QUIET_US)
    assert len(ground.events("TREE_CHANGED")) == before
    is_whole(ground, "news", members)


def test_a_new_root_that_attaches_a_relay_learns_of_those_behind_it() -> None:
    """Before the relay has noticed that the old root is dead."""
    ground, members = populated("chord", "top_down")
    root = ground.root("news")
    ground.vanish(root)
    ground.tell_rings()
    (relay,) = [name for name in ground.alive() if name not in members and parent(ground, name) == root]
    ground.want(relay, "news")
    ground.settle()
    ground.advance(QUIET_US)
    is_whole(ground, "news", members - {root} | {relay})


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(RINGS),
    st.sampled_from(GROWN),
    st.integers(0, 10**6),
    st.lists(
        st.tuples(st.sampled_from(["kill", "leave", "come", "toggle"]), st.integers(0, 11)), max_size=12
    ),
)
def test_random_churn(kind: str, grow: str, seed: int, changes: list[tuple[str, int]]) -> None:
    ground, members = populated(kind, grow, seed)
    for change, number in changes:
        name = NAMES[number]
        is_there = name in ground.alive()
        if change in ("kill", "leave") and is_there and len(ground.alive()) > 3:
            (ground.vanish if change == "kill" else ground.depart)(name)
            members.discard(name)
            ground.tell_rings()
        elif change == "come" and not is_there:
            ground.begin(name)
            ground.tell_rings()
        elif change == "toggle" and is_there:
            (ground.unwant if name in members else ground.want)(name, "news")
            members ^= {name}
        for _ in range(number):
            ground.step()
    ground.settle()
    ground.tell_rings()
    ground.advance(QUIET_US)
    is_whole(ground, "news", members)
