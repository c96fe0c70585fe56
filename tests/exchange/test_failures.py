"""A broker or a link dies in the middle, at every step: a tree is left, everyone says so, and only what went
through the dead one is missing."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.exchange.test_lossless import trees
from tests.exchange.world import World, way

EXAMPLES = int(os.environ.get("EXCHANGE_EXAMPLES", "100"))
often = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
Links = set[frozenset[str]]


def begun(parents: list[int], seed: int, steps: int) -> tuple[World, Links, Links] | None:
    """A world so many steps into an exchange, with the tree before and the tree to be."""
    world = World(parents, seed)
    chosen = world.choose()
    if chosen is None:
        return None
    old = world.links()
    path, remove = chosen
    world.exchange(path, remove)
    for _ in range(steps):
        if world.random.random() < 0.15:
            world.publish()
        world.net.step()
    return world, old, old - {frozenset(remove)} | {frozenset((path[0], path[-1]))}


def go_on(world: World) -> None:
    for _ in range(20):
        world.publish()
        world.run(world.random.randrange(12))
    world.settle()
    world.net.advance(30_000_000)
    world.settle()


def outcome(world: World) -> str:
    """What all who live say; they agree."""
    said = {event.type for event in world.net.events("EXCHANGED") if event.node in world.net.nodes}
    assert len(said) <= 1, said
    return said.pop() if said else ""


def check_losses(world: World, trees: list[Links], dead: set[str]) -> None:
    """At most once, in order, and all that did not have to go through the dead."""
    for name, wanted in world.wants.items():
        got = world.net.plain(name).publications() if world.home[name] in world.net.nodes else []
        assert len(got) == len(set(got))
        for publisher, home in world.home.items():
            mine = [id_ for who, letter, id_ in world.sent if who == publisher and letter in wanted]
            seen = [id_ for id_ in got if id_ in mine]
            assert seen == [id_ for id_ in mine if id_ in seen], (publisher, name)
            ways = [way(links, home, world.home[name]) for links in trees]
            if not any(dead & set(on) for on in ways):
                assert seen == mine, (publisher, name)


@often
@given(trees(), st.integers(0, 10_000), st.integers(0, 160), st.integers(0, 7))
def test_a_broker_killed_at_any_step_leaves_a_tree(
    parents: list[int], seed: int, steps: int, who: int
) -> None:
    if (found := begun(parents, seed, steps)) is None:
        return
    world, old, new = found
    victim = world.brokers[who % len(world.brokers)]
    said_before = {event.type for event in world.net.events("EXCHANGED")}
    world.net.crash(victim)
    go_on(world)
    tree = new if "done" in said_before | {outcome(world)} else old
    assert world.links() == {link for link in tree if victim not in link}
    for name in world.brokers:
        if name in world.net.nodes:
            assert not world.net.broker(name).exchanging()
            assert set(world.net.broker(name).links.brokers) == set(world.net.broker(name).neighbours())
    world.net.check_tables()
    check_losses(world, [old, new], {victim})
    _returns(world, victim, tree)


def _returns(world: World, victim: str, tree: Links) -> None:
    """Started again with its links of today, it makes the tree whole."""
    world.net.add_broker(victim)
    for link in sorted(tree, key=sorted):
        if victim in link:
            world.net.connect(*sorted(link))
    for client, home in world.home.items():
        if home == victim:
            world.wants[client].clear()
            world.net.connect(client, victim)
    world.settle()
    for letter in "ABC":
        world.net.advertise(f"p{victim}", f"[class,eq,'{letter}']", f"again{letter}")
    world.settle()
    world.check_tree()
    world.sent.clear()
    world.publish(30)
    world.settle()
    world.check_deliveries()


@often
@given(trees(), st.integers(0, 10_000), st.integers(0, 160), st.integers(0, 10))
def test_a_link_that_breaks_at_any_step_leaves_a_tree(
    parents: list[int], seed: int, steps: int, which: int
) -> None:
    if (found := begun(parents, seed, steps)) is None:
        return
    world, old, new = found
    broken = sorted(sorted(link) for link in old | new)[which % len(old | new)]
    lost = {frozenset(broken)} if world.net.is_up(*broken) else set()
    world.net.disconnect(*broken)
    go_on(world)
    tree = new if outcome(world) == "done" else old
    assert world.links() == tree - lost
    if lost & tree:  # whoever dials has gone on dialling
        world.net.connect(*broken)
    world.settle()
    world.check_tree()
    world.check_no_phantoms()
    world.sent.clear()
    world.publish(30)
    world.settle()
    world.check_deliveries()
