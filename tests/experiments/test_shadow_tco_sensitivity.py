"""The varied readings: each is what it says, and keeps every topic connected."""

from __future__ import annotations

from random import Random

import pandas
import pytest

from broker_grpc.protocols.topicconnected.backups import PrimaryBackup, build_greedily
from broker_grpc.protocols.topicconnected.components import is_topic_connected
from broker_grpc.protocols.topicconnected.lowoda import low_oda
from broker_grpc.protocols.topicconnected.overlay import Overlay, bits
from experiments.shadow_tco.varied_repairs import REPAIRS, WEIGHTS, weighing
from experiments.shadow_tco.varied_ties import FRESH, KEEP, ORDERS, RULES, keeping, vary_tie
from experiments.shadow_tco.workload import Setting, churn, initial

SMALL = Setting(nodes=60, topics=15, smallest=2, largest=8, rounds=6)


def test_every_rule_for_ties_sees_the_same_churn() -> None:
    table = pandas.concat([vary_tie(rule, SMALL, 1) for rule in RULES], ignore_index=True)
    assert set(table.ties) == {*ORDERS, FRESH, KEEP}
    assert {tuple(part.kind) for _, part in table.groupby("ties")} == {tuple(table.kind[:6])}
    changed = table.groupby("ties").share.mean()
    assert changed[KEEP] < changed.drop(KEEP).min()
    assert changed[FRESH] == changed.max()


def test_keeping_links_is_low_oda_with_other_ties() -> None:
    """Without an overlay before it chooses LOW-ODA's very links; with one it is still topic-connected."""
    interests = initial(SMALL, Random(3))
    overlay: Overlay[int, int] = low_oda(interests)
    assert keeping(interests, set()) == overlay.edges()
    assert keeping(interests, overlay.edges()) == overlay.edges()
    del interests[7]
    again: Overlay[int, int] = Overlay()
    for node, topics in interests.items():
        again.add_node(node, topics)
    for a, b in keeping(interests, overlay.edges()):
        again.add_edge(again.index[a], again.index[b])
    assert is_topic_connected(again)


@pytest.mark.parametrize("repair", REPAIRS)
def test_every_repair_keeps_the_topics_connected(repair: str) -> None:
    random = Random(2)
    interests = initial(SMALL, random)
    maintenance = REPAIRS[repair](low_oda(interests), Random(2), 1)
    for change in churn(SMALL, list(interests), random):
        if change.topics is None:
            maintenance.leave(change.node)
        else:
            maintenance.join(change.node, change.topics)
        assert is_topic_connected(maintenance.overlay)


def test_weights_are_varied_and_nothing_else() -> None:
    overlay: Overlay[int, int] = low_oda(initial(SMALL, Random(3)))
    sizes = {}
    for name, weigh in WEIGHTS.items():
        state = PrimaryBackup(overlay)
        for v in bits(overlay.alive):
            weighing(build_greedily, weigh)(state, v, 2, Random(1))
        sizes[name] = sum(mask.bit_count() for mask in state.backups.values())
        assert sum(mask.bit_count() for mask in state.primaries.values()) == sizes[name]
    assert min(sizes, key=sizes.__getitem__) == "all the same", "the smallest covers: nothing but size counts"
