"""Interests of users in topics: laws of who wants what, how often topics have events, and when users say so.

All pure and seeded. Frequencies are events per interval; times are shares of the period, 0 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from testbed.topology.seeding import Draw

Interests = list[list[int]]  # of each user, in the order in which it declares them


class Bin(NamedTuple):
    low: float
    high: float
    percent: int  # of the topics


class Change(NamedTuple):
    """At this share of the period the user wants the topic (or no longer)."""

    at: float
    user: int
    topic: int
    wanted: bool


def frequencies(bins: Sequence[Bin], topics: int, draw: Draw) -> list[float]:
    """Uniform inside each bin; which topic is in which bin is drawn."""
    counts = apportion([one.percent for one in bins], topics)
    found = [
        one.low + draw.unit() * (one.high - one.low)
        for one, n in zip(bins, counts, strict=True)
        for _ in range(n)
    ]
    return draw.shuffled(found)


def apportion(shares: Sequence[float], total: int) -> list[int]:
    """Whole numbers in these proportions that sum to the total: by largest remainder."""
    whole = sum(shares)
    exact = [share * total / whole for share in shares]
    counts = [int(value) for value in exact]
    by_remainder = sorted(range(len(exact)), key=lambda i: counts[i] - exact[i])
    for at in by_remainder[: total - sum(counts)]:
        counts[at] += 1
    return counts


def groups_of(topics: int, groups: int, draw: Draw) -> list[list[int]]:
    """A random partition into groups of nearly equal size."""
    order = draw.shuffled(range(topics))
    return [order[at::groups] for at in range(groups)]


def clustered(
    users: int, groups: Sequence[Sequence[int]], topics: int, each: int, taken: int, share: float, draw: Draw
) -> Interests:
    """Each user draws `taken` groups, `share` of its `each` topics from them and the rest from all others."""
    return [_clustered(groups, topics, each, taken, share, draw) for _ in range(users)]


def _clustered(
    groups: Sequence[Sequence[int]], topics: int, each: int, taken: int, share: float, draw: Draw
) -> list[int]:
    pool = [topic for group in draw.sample(groups, taken) for topic in group]
    inside = draw.sample(pool, round(share * each))
    kept = set(inside)
    outside = [t for t in range(topics) if t not in kept and t not in pool]
    return draw.shuffled([*inside, *draw.sample(outside, each - len(inside))])


def whole_groups(users: int, groups: Sequence[Sequence[int]], taken: int, draw: Draw) -> Interests:
    """Each user wants all topics of `taken` groups and nothing else."""
    return [
        draw.shuffled([topic for group in draw.sample(groups, taken) for topic in group])
        for _ in range(users)
    ]


def uniform(users: int, topics: int, each: int, draw: Draw) -> Interests:
    return [draw.sample(range(topics), each) for _ in range(users)]


def joining(interests: Interests, draw: Draw) -> list[Change]:
    """Users join one after the other, at uniform times, and declare all interests when they do."""
    order = sorted((draw.unit(), user) for user in range(len(interests)))
    return [Change(at, user, topic, True) for at, user in order for topic in interests[user]]


def scattered(interests: Interests, draw: Draw) -> list[Change]:
    """Every interest at a uniform time of its own."""
    times = [(draw.unit(), user, topic) for user, topics in enumerate(interests) for topic in topics]
    return [Change(at, user, topic, True) for at, user, topic in sorted(times)]


def shifting(old: Interests, new: Interests, draw: Draw) -> list[Change]:
    """Interests are replaced one by one at uniform times: one is lost, then one is gained.

    What a user wants before and after stays; where one list is longer the rest is only lost or gained.
    """
    swaps = []
    for user, (before, after) in enumerate(zip(old, new, strict=True)):
        lost = [topic for topic in before if topic not in after]
        gained = [topic for topic in after if topic not in before]
        for at in range(max(len(lost), len(gained))):
            swaps.append((draw.unit(), user, lost[at : at + 1], gained[at : at + 1]))
    return [
        Change(at, user, topic, wanted)
        for at, user, lost, gained in sorted(swaps)
        for topics, wanted in ((lost, False), (gained, True))
        for topic in topics
    ]
