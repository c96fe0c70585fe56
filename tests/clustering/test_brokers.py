"""Tamara on brokers in a FIFO network: what each user wants it gets once, whatever clusters do meanwhile."""

from __future__ import annotations

from random import Random

import pytest

from broker_grpc.protocols.clustering.options import TamaraSettings
from broker_grpc.protocols.clustering.settings import ClusteringSettings
from broker_grpc.protocols.rendezvous.settings import PastryRing
from tests.clustering.ground import SECOND, Clustered

NAMES = [f"B{n:02}" for n in range(1, 13)]
TOPICS = [f"t{n}" for n in range(1, 9)]
RATES = dict.fromkeys(TOPICS, 0.05)
FIXED = PastryRing(base_bits=2, bootstrap="converged", maintain=False)
ROUND = 4 * SECOND  # between two samples of a channel


def settings_of(**more: object) -> TamaraSettings:
    values: dict[str, object] = {
        "heartbeat_interval_us": SECOND, "silence_us": 2_500_000, "retry_us": 500_000, "refresh": 3,
        "patience_us": 800_000, "linger_us": 200_000, "frequencies": RATES,
        "clustering": ClusteringSettings(cadence=4), "ring": FIXED,
    }  # fmt: skip
    return TamaraSettings(**(values | more))  # type: ignore[arg-type]


def begun(seed: int = 0, **more: object) -> Clustered:
    return Clustered(settings_of(**more), NAMES, seed)


def everyone_wants(ground: Clustered, topics: list[str]) -> None:
    for name in NAMES:
        for topic in topics:
            ground.want(name, topic)
    ground.settle()


def test_topics_of_the_same_users_become_clusters_and_trees_go() -> None:
    """3.2: topic channels sample their subscribers and propose to the one with most in common."""
    ground = begun()
    everyone_wants(ground, TOPICS)
    ground.check_quiet()
    before = sum(len(ground.edges(topic)) for topic in TOPICS)
    ground.advance(6 * ROUND)
    (only,) = ground.clusters().values()
    assert len(only.content) == len(TOPICS)
    assert sum(len(ground.edges(topic)) for topic in TOPICS) == 0 < before
    ground.check_quiet()
    ground.check_exactly_once(TOPICS)
    ground.check_never_twice()


@pytest.mark.parametrize("seed", range(12))
def test_users_come_and_go_while_clusters_change(seed: int) -> None:
    """At every quiet point subscriptions cover interests and events arrive once; never twice in between."""
    ground, chance = begun(seed, draws=seed), Random(seed)
    wanted: dict[str, set[str]] = {name: set() for name in NAMES}
    for _ in range(40):
        for _ in range(chance.randrange(1, 6)):
            name, topic = chance.choice(NAMES), chance.choice(TOPICS)
            (ground.unwant if topic in wanted[name] else ground.want)(name, topic)
            wanted[name] ^= {topic}
        for _ in range(chance.randrange(30)):
            ground.step()
        if chance.random() < 0.5:
            ground.tell_all([chance.choice(TOPICS)], chance.choice(NAMES))
        if chance.random() < 0.3:
            ground.advance(chance.randrange(ROUND))
    ground.settle()
    ground.advance(ROUND - 1)
    wait_until_quiet(ground)
    ground.check_quiet()
    ground.check_exactly_once(TOPICS)
    ground.check_never_twice()
    assert not ground.events("REFUSED")


def wait_until_quiet(ground: Clustered) -> None:
    for _ in range(200):
        if ground.is_quiet():
            return
        ground.advance(SECOND // 20)
    raise AssertionError("it does not come to rest")
