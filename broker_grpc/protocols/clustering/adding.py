"""Section 3.1: a topic joins a cluster or leaves it, and how often it is worth asking."""

from __future__ import annotations

import math

from broker_grpc.protocols.clustering.costs import Costs, gains


def add_delta(
    costs: Costs, frequency: float, topic_size: float, members: float, holders: float, topics: int
) -> float:
    """OC2 - OC1 when a topic is added to a cluster of `members` users and `topics` topics.

    `holders` (s~) of the members hold the topic directly, as `topic_size` users do in all; they stop.
    """
    left = max(topic_size - holders, 0.0)
    freed = costs.channel(frequency, topic_size) - costs.channel(frequency, left)
    association = costs.associate(topics + 1) - costs.associate(topics)
    return association + costs.events(frequency, members) - freed


def remove_delta(
    costs: Costs, frequency: float, topic_size: float, members: float, interested: float, topics: int
) -> float:
    """OC2 - OC1 when the topic leaves a cluster that has it among its `topics`; `interested` of the members
    do not filter it out and take it directly, beside the `topic_size` that do already."""
    return -add_delta(costs, frequency, topic_size + interested, members, interested, topics - 1)


def threshold(frequency: float, members: float) -> float:
    """Of |s~| with the paper's cost functions: above it the topic is added."""
    return (1 + frequency * (members + 1)) / (1 + frequency)


def holders_needed(costs: Costs, frequency: float, topic_size: float, members: float, topics: int) -> int:
    """The fewest holders that make an addition worth while: with the paper's cost functions the first
    integer above `threshold`. Where the topic has fewer users, so many more are imagined."""

    def enough(holders: int) -> bool:
        size = max(topic_size, holders)
        return gains(add_delta(costs, frequency, size, members, holders, topics))

    high = 1
    while not enough(high) and high < 1 << 40:
        high *= 2
    low = high // 2  # does not gain, or is 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def size_to_watch(
    costs: Costs, frequency: float, topic_size: float, members: int, holders: float, topics: int
) -> int:
    """Of a refused addition: the largest cluster size at which it would be made; -1 if there is none.

    "A decrease in their value, below a certain threshold derived from the formula" triggers an estimation.
    """

    def small_enough(size: int) -> bool:
        return gains(add_delta(costs, frequency, topic_size, size, holders, topics))

    if not small_enough(0):
        return -1
    low, high = 0, members + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if small_enough(middle) else (low, middle)
    return low


def omega(phi: float, needed: int) -> float:
    """The coin that is won at least once in `needed` tosses with probability phi."""
    if not 0 < phi < 1 or needed < 1:
        raise ValueError(f"phi is between 0 and 1 and someone is needed, not {phi} and {needed}")
    return -math.expm1(math.log1p(-phi) / needed)
