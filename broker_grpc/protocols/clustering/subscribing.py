"""Section 4: how a user subscribes to a topic and stops, given the clusters there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from broker_grpc.protocols.clustering.costs import Costs, gains

K = TypeVar("K")


def freed(costs: Costs, frequency: float, size: int) -> float:
    """What one subscriber fewer saves on a topic's channel that has `size` of them."""
    return costs.channel(frequency, size) - costs.channel(frequency, size - 1)


def join_delta(costs: Costs, members: int, cluster_frequency: float, direct: float) -> float:
    """OC2 - OC1 when a user enters a cluster of `members` others and gives up direct subscriptions that cost
    `direct` (the sum of `freed` over t~)."""
    entered = costs.channel(cluster_frequency, members + 1) - costs.channel(cluster_frequency, members)
    return entered - direct


def joins(costs: Costs, members: int, cluster_frequency: float, direct: float) -> bool:
    return gains(join_delta(costs, members, cluster_frequency, direct))


def leaves(costs: Costs, members: int, cluster_frequency: float, direct: float) -> bool:
    """Whether a member among `members` goes, and takes directly what costs `direct`; it stays on a tie."""
    return gains(-join_delta(costs, members - 1, cluster_frequency, direct))


def overlap_needed(frequency: float, topics: int) -> float:
    """|t~| above which a cluster of so many topics of one frequency is entered, with the paper's costs."""
    return (1 + frequency * topics) / (1 + frequency)


def fullest(overlaps: Mapping[K, int], identity: Mapping[K, int]) -> K:
    """The channel with most in common; of equals the one with the lowest identity, whoever asks."""
    return min(overlaps, key=lambda one: (-overlaps[one], identity[one]))


def most_filtered(interests: int, clusters: Iterable[tuple[int, int, K]]) -> K | None:
    """Which cluster of a user is told of a new direct topic: (identity, bit set of topics, cluster) each.

    "The cluster that has the maximum number of filtered out topics."
    """
    ranked = [(-(topics & ~interests).bit_count(), identity, one) for identity, topics, one in clusters]
    return min(ranked, key=lambda entry: entry[:2])[2] if ranked else None
