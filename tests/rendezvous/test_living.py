"""Trees on rings that keep themselves: joins, crashes, farewells and partitions, with nobody's help.

After quiet the rings are those computed from who is there, each tree is the union of their routes, and every
subscriber gets a publication exactly once.
"""

from __future__ import annotations

import random

import pytest

from broker_grpc.protocols.ring.identifiers import key_of
from tests.rendezvous.living import LivingGround, settings_of, shuffled
from tests.rendezvous.test_trees import GROWN, NAMES, RINGS

MEMBERS = set(NAMES[1::2])
EVERY_RING = pytest.mark.parametrize("kind", RINGS)
EITHER_WAY = pytest.mark.parametrize("grow", GROWN)
SCRIBE_AND_BAYEUX = pytest.mark.parametrize(
    ("kind", "grow"), [("pastry", "reverse_path"), ("tapestry", "top_down"), ("chord", "top_down")]
)


def populated(kind: str, grow: str, bootstrap: str = "converged", seed: int = 0) -> LivingGround:
    ground = LivingGround(settings_of(kind, grow, bootstrap), NAMES, seed)
    for name in sorted(MEMBERS):
        ground.want(name, "news")
    ground.until_whole("news", MEMBERS)
    return ground


@EVERY_RING
@EITHER_WAY
def test_brokers_that_join_through_the_first_have_the_computed_ring_and_its_trees(
    kind: str, grow: str
) -> None:
    populated(kind, grow, "join")


@SCRIBE_AND_BAYEUX
@pytest.mark.parametrize("who", ["root", "parent", "member"])
def test_a_killed_broker_leaves_all_tables_and_comes_back(kind: str, grow: str, who: str) -> None:
    ground = populated(kind, grow)
    root = ground.root("news")
    relays = {parent for parent, _ in ground.edges("news")} - {root}
    victim = {"root": root, "parent": min(relays or {root}), "member": min(MEMBERS - {root})}[who]
    ground.vanish(victim)
    ground.until_whole("news", MEMBERS - {victim})
    ground.begin(victim)
    ground.until_whole("news", MEMBERS - {victim})
    ground.want(victim, "news")
    ground.until_whole("news", MEMBERS | {victim})


@SCRIBE_AND_BAYEUX
def test_half_a_leaf_set_is_killed(kind: str, grow: str) -> None:
    ground = populated(kind, grow)
    tables = ground.ring(ground.root("news")).tables
    victims = {one.broker for one in [*tables.successors[:2], tables.predecessors[0]]}
    for victim in sorted(victims):
        ground.vanish(victim)
    ground.until_whole("news", MEMBERS - victims)


@SCRIBE_AND_BAYEUX
def test_the_root_says_farewell(kind: str, grow: str) -> None:
    ground = populated(kind, grow)
    root = ground.root("news")
    ground.depart(root)
    ground.until_whole("news", MEMBERS - {root})


@SCRIBE_AND_BAYEUX
def test_a_partition_heals(kind: str, grow: str) -> None:
    """Each half has a root of its own meanwhile; afterwards there is one tree."""
    ground = populated(kind, grow)
    ground.part(NAMES[:6], NAMES[6:])
    ground.run(20)
    roots = {name for name in NAMES if ground.ring(name).next_hop(key_of("news")) is None}
    assert len(roots) == 2
    ground.cut.clear()
    ground.until_whole("news", MEMBERS, 300)


@SCRIBE_AND_BAYEUX
def test_all_are_restarted_at_once(kind: str, grow: str) -> None:
    """Nobody is a member whom the others could ask: the first by name begins the ring."""
    ground = populated(kind, grow)
    for name in NAMES:
        ground.vanish(name)
    for name in shuffled(NAMES, 3):
        ground.begin(name)
    for name in sorted(MEMBERS):
        ground.want(name, "news")
    ground.until_whole("news", MEMBERS)


def test_what_comes_before_the_ring_has_joined_is_kept_and_then_routed() -> None:
    ground = populated("pastry", "reverse_path")
    reader, writer = sorted(MEMBERS - {ground.root("news")})[:2]
    ground.vanish(writer)
    ground.run(10)
    ground.part([writer], [name for name in NAMES if name != writer])
    ground.begin(writer)
    ground.want(writer, "news")
    ground.tell(writer, "news", "early")
    ground.run(3)
    assert "early" not in ground.got(reader)
    assert not ground.at(writer).settled
    ground.cut.clear()
    ground.until_whole("news", MEMBERS)
    assert ground.got(reader).count("early") == 1
    assert ground.got(writer).count("early") == 1


def test_what_is_kept_has_an_end() -> None:
    ground = populated("chord", "reverse_path")
    writer = min(MEMBERS)
    ground.vanish(writer)
    ground.part([writer], [name for name in NAMES if name != writer])
    ground.begin(writer)
    for number in range(1100):
        ground.tell(writer, "news", f"early:{number}")
    ground.settle()
    dropped = [event for event in ground.events("DROPPED") if event.detail == "not a member of the ring"]
    assert len(dropped) == 100
    assert {event.node for event in dropped} == {writer}


@EVERY_RING
@EITHER_WAY
@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.nightly) for n in range(2, 9))])
def test_random_churn(kind: str, grow: str, seed: int) -> None:
    rng = random.Random(f"{kind} {grow} {seed}")
    ground, members = populated(kind, grow, seed=seed), set(MEMBERS)
    for _ in range(8):
        name = rng.choice(NAMES)
        change = rng.choice(["kill", "leave", "toggle"])
        if name not in ground.alive():
            ground.begin(name)
        elif change == "toggle":
            (ground.unwant if name in members else ground.want)(name, "news")
            members ^= {name}
        elif len(ground.alive()) > 7:
            (ground.vanish if change == "kill" else ground.depart)(name)
            members.discard(name)
        ground.run(rng.randrange(4))
    ground.until_whole("news", members)
