"""Section 3.2: two channels become one cluster. A single topic is a singleton whose own channel survives."""

from __future__ import annotations

from typing import NamedTuple

from broker_grpc.protocols.clustering.costs import Costs


class Side(NamedTuple):
    """What one channel tells of itself: frequencies and sizes are exact at the channel."""

    topics: int
    frequency: float  # of all of them
    size: int
    single: bool = False  # a topic, not a cluster


class Common(NamedTuple):
    """What two channels share."""

    users: float  # s~, estimated
    topics: int = 0  # t~
    frequency: float = 0.0  # of t~


def merge_delta(costs: Costs, one: Side, other: Side, common: Common) -> float:
    """OC2 - OC1 when both are replaced by one cluster with all their users and topics.

    A topic's own channel goes on without subscribers, so of each singleton 1 + f is new with the paper's cost
    functions; the paper's formula, which is for two clusters, has no such term.
    """
    users = one.size + other.size - common.users
    topics = one.topics + other.topics - common.topics
    frequency = one.frequency + other.frequency - common.frequency
    after = costs.channel(frequency, users) + costs.associate(topics)
    return after + sum(_left(costs, s) for s in (one, other)) - sum(_now(costs, s) for s in (one, other))


def pair_delta(costs: Costs, one: Side, other: Side, users: float) -> float:
    """OC2 - OC1 when of two single topics only the common users move to the new cluster."""
    frequency = one.frequency + other.frequency
    after = costs.channel(frequency, users) + costs.associate(2)
    for side in (one, other):
        after += costs.channel(side.frequency, max(side.size - users, 0.0))
    return after - _now(costs, one) - _now(costs, other)


def common_needed(frequency: float, apart: tuple[int, int], distinct: tuple[int, int], topics: int) -> float:
    """Common users above which a merge is beneficial when all topics have one frequency (3.2's example).

    `apart`: topics that only one has, `distinct`: users that only one has, `topics`: common ones.
    """
    crossed = frequency * (apart[0] * distinct[1] + apart[1] * distinct[0])
    return (crossed - topics * (frequency + 1)) / (frequency * topics + 1)


def _now(costs: Costs, side: Side) -> float:
    own = costs.channel(side.frequency, side.size)
    return own if side.single else own + costs.associate(side.topics)


def _left(costs: Costs, side: Side) -> float:
    return costs.channel(side.frequency, 0) if side.single else 0.0
