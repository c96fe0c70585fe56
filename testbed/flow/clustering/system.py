"""Who is interested in what, who is subscribed where, and what that costs: kept with every change.

Topics are 0 .. T-1; a cluster has a row after them. Topic sets are Python integers, user sets packed rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from broker_grpc.protocols.clustering.costs import Channel, Overall, overall
from broker_grpc.protocols.clustering.draws import draw_key, identity
from broker_grpc.protocols.clustering.settings import ClusteringSettings
from testbed.flow.clustering.bits import Rows, Words

ROOM = 64  # rows for clusters at the start


@dataclass
class Cluster:
    """What a cluster's channel knows beside its subscribers."""

    row: int
    identity: int
    topics: int  # bit set
    frequency: float  # of all of them
    refused: dict[int, tuple[float, int]] = field(default_factory=dict)
    """topic -> holders among the members and size of the topic's channel, when it was last looked at"""
    watch: int = -1  # a size so small makes one of them worth another look


class System:
    """`frequencies`: events per M of each topic. Names of entities say what they draw."""

    def __init__(self, frequencies: Sequence[float], users: int, settings: ClusteringSettings, seed: int):
        self.settings, self.seed, self.costs = settings, seed, settings.costs
        self.frequencies = list(frequencies)
        self.topics, self.users = len(frequencies), users
        self.held = Rows(self.topics + ROOM, users)  # topics held directly, then members of clusters
        self.interested = Rows(self.topics, users)
        self.clusters: dict[int, Cluster] = {}  # by row
        self.clusters_with: list[set[int]] = [set() for _ in frequencies]  # rows
        self.interests_of = [0] * users  # bit sets of topics
        self.direct_of = [0] * users
        self.clusters_of: list[set[int]] = [set() for _ in range(users)]
        self.messages: Counter[str] = Counter()
        self.done: Counter[str] = Counter()  # changes of clusters, by kind
        self.topic_identities = [identity(f"topic {t}") for t in range(self.topics)]
        self.user_identities: Words = np.array([identity(f"user {u}") for u in range(users)], np.uint64)
        self._free = list(range(self.topics + ROOM - 1, self.topics - 1, -1))
        self._drawn: Counter[int] = Counter()
        self._made: Counter[int] = Counter()

    # ---------------------------------------------------------------- channels

    def identity_of(self, row: int) -> int:
        return self.topic_identities[row] if row < self.topics else self.clusters[row].identity

    def size(self, row: int) -> int:
        return self.held.sizes[row]

    def next_draw(self, row: int) -> int:
        """The key of a channel's next coin or sample."""
        channel = self.identity_of(row)
        self._drawn[channel] += 1
        return draw_key(self.seed, channel, self._drawn[channel])

    def next_made(self, row: int) -> int:
        """How many clusters a channel has decided to make, this one included."""
        channel = self.identity_of(row)
        self._made[channel] += 1
        return self._made[channel]

    def frequency(self, topics: int) -> float:
        """Of a set of topics."""
        frequencies = self.frequencies
        return sum(frequencies[topic] for topic in bits(topics))

    # ---------------------------------------------------------------- changes of subscriptions

    def hold(self, user: int, topic: int) -> None:
        """Directly."""
        self.held.add(topic, user)
        self.direct_of[user] |= 1 << topic

    def release(self, user: int, topic: int) -> None:
        self.held.drop(topic, user)
        self.direct_of[user] ^= 1 << topic

    def release_all(self, user: int, topics: int) -> int:
        """Those of the set that the user holds directly; answers how many."""
        gone = self.direct_of[user] & topics
        for topic in bits(gone):
            self.held.drop(topic, user)
        self.direct_of[user] ^= gone
        return gone.bit_count()

    def enter(self, user: int, row: int) -> None:
        self.held.add(row, user)
        self.clusters_of[user].add(row)

    def exit(self, user: int, row: int) -> None:
        self.held.drop(row, user)
        self.clusters_of[user].discard(row)

    def delivered_by_clusters(self, user: int, but: int = -1) -> int:
        found = 0
        for row in self.clusters_of[user]:
            if row != but:
                found |= self.clusters[row].topics
        return found

    # ---------------------------------------------------------------- clusters

    def open(self, name: int, topics: int, members: Words) -> Cluster:
        """A new cluster with these members, who are told by the caller what to give up."""
        if not self._free:
            rows = len(self.held.sizes)
            self.held.grow()
            self._free = list(range(2 * rows - 1, rows - 1, -1))
        row = self._free.pop()
        made = self.clusters[row] = Cluster(row, name, topics, self.frequency(topics))
        self.held.put(row, members)
        for topic in bits(topics):
            self.clusters_with[topic].add(row)
        return made

    def close(self, row: int) -> None:
        """Its members are no longer; who was one is told by the caller."""
        gone = self.clusters.pop(row)
        for topic in bits(gone.topics):
            self.clusters_with[topic].discard(row)
        self.held.put(row, np.zeros_like(self.held.words[row]))
        self._free.append(row)

    # ---------------------------------------------------------------- cost

    def channels(self) -> Iterator[Channel]:
        for topic, frequency in enumerate(self.frequencies):
            yield Channel(frequency, self.held.sizes[topic])
        for row, cluster in self.clusters.items():
            yield Channel(cluster.frequency, self.held.sizes[row], cluster.topics.bit_count())

    def cost(self) -> Overall:
        return overall(self.costs, self.channels())

    def unclustered_cost(self) -> Overall:
        """As if every interest were a direct subscription: a system without clusters."""
        sizes = zip(self.frequencies, self.interested.sizes, strict=True)
        return overall(self.costs, (Channel(frequency, size) for frequency, size in sizes))


def bits(value: int) -> Iterator[int]:
    """Places of the ones, from the lowest."""
    while value:
        low = value & -value
        yield low.bit_length() - 1
        value ^= low
