"""Channels move when responsibility moves, and are built anew when their broker is lost."""

from __future__ import annotations

from random import Random

import pytest

from broker_grpc.protocols.clustering.messages import Address
from tests.clustering.ground import SECOND, Clustered
from tests.clustering.test_brokers import NAMES, ROUND, TOPICS, begun, everyone_wants

LONG = 60 * SECOND  # more than three refreshes and some rounds


def grouped(seed: int = 0) -> tuple[Clustered, int]:
    """All topics in one cluster; its identity."""
    ground = begun(seed)
    everyone_wants(ground, TOPICS)
    ground.advance(6 * ROUND)
    (only,) = ground.clusters()
    return ground, only


def counted(ground: Clustered) -> int:
    return sum(broker.told["proposal"] for broker in map(ground.tamara, ground.alive()))


def test_a_broker_that_says_farewell_hands_its_channels_over() -> None:
    ground, cluster = grouped()
    holder, before = ground.holder(cluster), ground.clusters()[cluster]
    ground.depart(holder)
    ground.tell_rings()
    assert ground.holder(cluster) != holder
    after = ground.clusters()[cluster]
    assert (after.content, after.drawn, after.made) == (before.content, before.drawn, before.made)
    ground.until_right(LONG)
    assert list(ground.clusters()) == [cluster], "clustering goes on with the same cluster"
    ground.check_exactly_once(TOPICS)
    ground.check_never_twice()


def test_a_broker_that_comes_back_takes_its_channels_over() -> None:
    ground, cluster = grouped()
    holder = ground.holder(cluster)
    ground.depart(holder)
    ground.tell_rings()
    ground.begin(holder)
    ground.settle()
    ground.tell_rings()
    assert ground.holder(cluster) == holder
    ground.until_right(LONG)
    ground.check_exactly_once(TOPICS)
    ground.check_never_twice()


def test_a_cluster_that_is_lost_with_its_broker_is_built_anew_by_its_members() -> None:
    """What is lost: counters, surveys, and events until the tree and the channel are there again."""
    ground, cluster = grouped()
    holder, content = ground.holder(cluster), set(ground.clusters()[cluster].content)
    ground.vanish(holder)
    ground.settle()
    ground.tell_rings()
    ground.until_right(LONG)
    assert set(ground.clusters()[cluster].content) == content
    assert any("rebuilt" in event.content for event in ground.events("CLUSTERED"))
    ground.check_exactly_once(TOPICS)
    ground.check_never_twice()


def test_a_topic_whose_channel_is_lost_finds_its_clusters_again() -> None:
    ground, cluster = grouped()
    holder = next(
        name
        for name in ground.alive()
        if name != ground.holder(cluster)
        and any(one.kind == "topic" for one in ground.tamara(name).channels.held)
    )
    ground.vanish(holder)
    ground.settle()
    ground.tell_rings()
    ground.until_right(LONG)
    ground.check_exactly_once(TOPICS)
    ground.check_never_twice()


def test_users_of_a_lost_broker_are_forgotten() -> None:
    ground, cluster = grouped()
    lost = next(name for name in NAMES if name != ground.holder(cluster))
    user = ground.user(lost)
    assert user is not None
    assert user.identity in ground.clusters()[cluster].members
    ground.vanish(lost)
    ground.tell_rings()
    ground.advance(20 * SECOND)
    assert user.identity not in ground.clusters()[cluster].members
    ground.until_right(LONG)


def test_proposals_to_a_lost_channel_do_not_lock_for_ever() -> None:
    ground = begun()
    everyone_wants(ground, TOPICS[:2])
    one, other = (ground.root(topic) for topic in TOPICS[:2])
    if one == other:
        pytest.skip("one broker holds both")
    ground.vanish(other)  # rings do not hear of it
    ground.advance(3 * ROUND)
    held = ground.tamara(one).channels.held[ground.tamara(one).names.topic(TOPICS[0])]
    ground.advance(2 * SECOND)
    assert held.state.name in ("OPEN", "PROPOSING")
    ground.tell_rings()
    ground.until_right(LONG)
    ground.check_exactly_once(TOPICS[:2])


@pytest.mark.parametrize("seed", range(6))
def test_brokers_come_and_go_while_clusters_form(seed: int) -> None:
    """Never twice, whatever happens; some rounds after the last change everybody is covered, once."""
    ground, chance = begun(seed, draws=seed), Random(seed)
    wanted: dict[str, set[str]] = {name: set() for name in NAMES}
    for _ in range(25):
        name, what = chance.choice(NAMES), chance.random()
        there = name in ground.alive()
        if there and what < 0.1 and len(ground.alive()) > 6:
            (ground.vanish if chance.random() < 0.5 else ground.depart)(name)
            wanted[name].clear()
            ground.tell_rings()
        elif not there:
            ground.begin(name)
            ground.tell_rings()
        elif what < 0.85:
            for topic in chance.sample(TOPICS, 3):
                (ground.unwant if topic in wanted[name] else ground.want)(name, topic)
                wanted[name] ^= {topic}
        for _ in range(chance.randrange(30)):
            ground.step()
        ground.tell_all([chance.choice(TOPICS)], chance.choice(ground.alive()))
        ground.advance(chance.randrange(ROUND // 2))
        ground.check_never_twice()
    ground.settle()
    ground.tell_rings()
    ground.until_right(LONG)
    ground.check_exactly_once(TOPICS)
    ground.check_never_twice()


def test_an_identity_is_not_made_twice_by_a_channel_that_was_lost() -> None:
    """Counters of a channel that is built anew begin with the time."""
    ground, cluster = grouped()
    holder = ground.holder(cluster)
    ground.vanish(holder)
    ground.settle()
    ground.tell_rings()
    ground.until_right(LONG)
    channel = ground.tamara(ground.holder(cluster)).channels.held[Address("cluster", cluster)]
    assert channel.drawn >= channel.made >= 1
