"""Section 3: clusters change. Every change is told, and everybody told is a message."""

from __future__ import annotations

from broker_grpc.protocols.clustering.adding import (
    add_delta,
    holders_needed,
    omega,
    remove_delta,
    size_to_watch,
)
from broker_grpc.protocols.clustering.costs import gains
from broker_grpc.protocols.clustering.draws import cluster_identity, coin
from broker_grpc.protocols.clustering.surveys import estimate, sample_size
from testbed.flow.clustering.bits import Users as UserList
from testbed.flow.clustering.bits import Words, count, members, packed, sampled
from testbed.flow.clustering.system import Cluster, System, bits


class Clusters:
    def __init__(self, system: System) -> None:
        self.system = system

    # ---------------------------------------------------------------- is it worth asking, is it worth doing

    def consider_addition(self, row: int, topic: int) -> None:
        """A member took this topic directly."""
        if self._tossed(row, topic):
            self._survey_addition(row, topic, self.system.size(topic))

    def consider_removal(self, row: int, topic: int) -> None:
        """A member now filters this topic out."""
        system, cluster = self.system, self.system.clusters[row]
        if not self._tossed(row, topic):
            return
        interested = self._survey(row, system.interested.words[topic])
        size, topics = system.size(row), cluster.topics.bit_count()
        frequency, held = system.frequencies[topic], system.size(topic)
        if gains(remove_delta(system.costs, frequency, held, size, interested, topics)):
            self.remove(row, topic)

    def shrunk(self, row: int) -> None:
        """Somebody left: nobody may be left, or a refused topic may be worth another look."""
        system, cluster = self.system, self.system.clusters[row]
        if not system.size(row):
            self.destroy(row)
        elif system.settings.adapt and system.size(row) <= cluster.watch:
            watched = {topic: self._watched(cluster, topic) for topic in cluster.refused}
            again = [topic for topic, size in watched.items() if size >= system.size(row)]
            cluster.watch = max((watched[topic] for topic in watched if topic not in again), default=-1)
            for topic in sorted(again, key=system.identity_of):
                _, held = cluster.refused.pop(topic)
                self._survey_addition(row, topic, held)

    def _tossed(self, row: int, topic: int) -> bool:
        system, cluster = self.system, self.system.clusters[row]
        frequency, size = system.frequencies[topic], system.size(row)
        topics = cluster.topics.bit_count()
        needed = holders_needed(system.costs, frequency, system.size(topic), size, topics)
        return coin(system.next_draw(row)) < omega(system.settings.phi, needed)

    def _survey(self, row: int, holders: Words) -> float:
        """How many members are among the holders, by asking a sample of the members."""
        asked = self.sample(row)
        self.system.messages["survey"] += 2 * len(asked)
        mask = packed(asked, holders.shape[0])
        return estimate(count(mask & holders), len(asked), self.system.size(row))

    def sample(self, row: int) -> UserList:
        """Of a channel's subscribers; its next draw."""
        system = self.system
        wanted = sample_size(system.size(row), system.settings.margin)
        return sampled(system.next_draw(row), system.held.of(row), system.user_identities, wanted)

    def _survey_addition(self, row: int, topic: int, held: int) -> None:
        """`held`: size of the topic's channel, as the cluster was told."""
        system, cluster = self.system, self.system.clusters[row]
        holders = self._survey(row, system.held.words[topic])
        frequency, size = system.frequencies[topic], system.size(row)
        topics = cluster.topics.bit_count()
        if gains(add_delta(system.costs, frequency, held, size, holders, topics)):
            self.add(row, topic)
        else:
            cluster.refused[topic] = (holders, held)
            cluster.watch = max(cluster.watch, self._watched(cluster, topic))

    def _watched(self, cluster: Cluster, topic: int) -> int:
        system = self.system
        frequency, size = system.frequencies[topic], system.size(cluster.row)
        topics, (holders, held) = cluster.topics.bit_count(), cluster.refused[topic]
        return size_to_watch(system.costs, frequency, held, size, holders, topics)

    # ---------------------------------------------------------------- changes

    def add(self, row: int, topic: int) -> None:
        system, cluster = self.system, self.system.clusters[row]
        both = system.held.words[topic] & system.held.words[row]
        for user in members(both, system.users).tolist():
            system.release(user, topic)
        cluster.topics |= 1 << topic
        cluster.frequency += system.frequencies[topic]
        cluster.refused.pop(topic, None)
        others = len(system.clusters_with[topic])
        system.clusters_with[topic].add(row)
        self._told(association=2 + others, users=system.size(row), moved=count(both))
        system.done["added"] += 1

    def remove(self, row: int, topic: int) -> None:
        system, cluster = self.system, self.system.clusters[row]
        cluster.topics ^= 1 << topic
        cluster.frequency = system.frequency(cluster.topics)
        system.clusters_with[topic].discard(row)
        taken = 0
        for user in members(system.interested.words[topic] & system.held.words[row], system.users).tolist():
            taken += self._take_rest(user, 1 << topic)
        self._told(association=1 + len(system.clusters_with[topic]), users=system.size(row), moved=taken)
        system.done["removed"] += 1
        if cluster.topics.bit_count() <= 1:
            self.destroy(row)

    def destroy(self, row: int) -> None:
        """A cluster without subscribers, or with at most one topic: those it had take that directly."""
        system, cluster = self.system, self.system.clusters[row]
        were = system.held.of(row).tolist()
        others = sum(len(system.clusters_with[t]) - 1 for t in bits(cluster.topics))
        association = cluster.topics.bit_count() + others
        system.close(row)
        moved = len(were)
        for user in were:
            system.clusters_of[user].discard(row)
            moved += self._take_rest(user, cluster.topics)
        self._told(association, users=len(were), moved=moved)
        system.done["destroyed"] += 1

    def unite(self, decider: int, other: int, joining: Words) -> Cluster:
        """One new cluster for two channels. `joining` enter it; the subscribers of an old cluster all do."""
        system = self.system
        topics = self._topics_of(decider) | self._topics_of(other)
        name = cluster_identity(system.identity_of(decider), system.next_made(decider))
        moved = count(joining)  # each joins the new tree, and leaves the old ones
        for row in (decider, other):
            if row >= system.topics:
                moved += system.size(row)
                for user in system.held.of(row).tolist():
                    system.clusters_of[user].discard(row)
                system.close(row)
        made = system.open(name, topics, joining)
        for user in members(joining, system.users).tolist():
            system.clusters_of[user].add(made.row)
            moved += system.release_all(user, topics)
        others = sum(len(system.clusters_with[t]) - 1 for t in bits(topics))
        self._told(topics.bit_count() + others, users=count(joining), moved=moved)
        system.messages["proposal"] += 2  # the other side commits, and says so
        return made

    def _topics_of(self, row: int) -> int:
        return 1 << row if row < self.system.topics else self.system.clusters[row].topics

    def _take_rest(self, user: int, topics: int) -> int:
        """Directly: those of interest that none of the user's clusters delivers; answers how many."""
        system = self.system
        rest = system.interests_of[user] & topics & ~system.delivered_by_clusters(user)
        for topic in bits(rest & ~system.direct_of[user]):
            system.hold(user, topic)
        return rest.bit_count()

    def _told(self, association: int, users: int, moved: int) -> None:
        """Channels of topics and their other clusters; users; and the trees that users enter and leave."""
        self.system.messages["association"] += association
        self.system.messages["resubscription"] += users + moved
