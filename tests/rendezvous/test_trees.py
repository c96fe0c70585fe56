"""Topic trees on a ring that stands still: by the sentence of the papers, and against brute force."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_grpc.protocols.rendezvous.settings import RendezvousSettings
from broker_grpc.protocols.ring.settings import RingSettings
from tests.rendezvous.ground import Ground

NAMES = [f"B{number:02}" for number in range(1, 13)]
RINGS = ("chord", "pastry", "tapestry")
GROWN = ("reverse_path", "top_down")


def settings_of(kind: str, grow: str, bits: int = 2, **more: object) -> RendezvousSettings:
    ring = RingSettings(kind=kind, base_bits=bits, bootstrap="converged", maintain=False)  # type: ignore[arg-type]
    return RendezvousSettings(grow=grow, ring=ring, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("grow", GROWN)
@pytest.mark.parametrize("kind", RINGS)
def test_a_tree_is_the_union_of_routes_and_reaches_everybody_once(kind: str, grow: str) -> None:
    ground = Ground(settings_of(kind, grow), NAMES)
    members = set(NAMES[::2])
    for name in sorted(members):
        ground.want(name, "news")
    ground.settle()
    ground.check("news", members)
    ground.tell("B04", "news", "p:1")
    ground.tell("B01", "news", "p:2")
    ground.settle()
    for name in NAMES:
        assert sorted(ground.got(name)) == (["p:1", "p:2"] if name in members else [])


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(RINGS),
    st.sampled_from(GROWN),
    st.integers(0, 10**6),
    st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from("abc")), max_size=30),
)
def test_any_interests_in_any_order(kind: str, grow: str, seed: int, toggles: list[tuple[str, str]]) -> None:
    """Subscriptions and their withdrawal cross each other on the way; after that trees are exact."""
    ground = Ground(settings_of(kind, grow), NAMES, seed)
    wanted: set[tuple[str, str]] = set()
    for number, (name, topic) in enumerate(toggles):
        if (name, topic) in wanted:
            ground.unwant(name, topic)
        else:
            ground.want(name, topic)
        wanted ^= {(name, topic)}
        for _ in range(number % 4):
            ground.step()
    ground.settle()
    for topic in "abc":
        members = {name for name, other in wanted if other == topic}
        ground.check(topic, members)
        ground.tell(NAMES[seed % 12], topic, f"p:{topic}")
        ground.settle()
        for name in NAMES:
            assert ground.got(name).count(f"p:{topic}") == (name in members)
