"""Section 4: a user declares an interest in a topic, or loses it."""

from __future__ import annotations

from broker_grpc.protocols.clustering import subscribing
from testbed.flow.clustering.clusters import Clusters
from testbed.flow.clustering.system import System, bits


class Users:
    def __init__(self, system: System, clusters: Clusters) -> None:
        self.system, self.clusters = system, clusters

    def subscribe(self, user: int, topic: int) -> None:
        """An interest that is already there changes nothing."""
        system, bit = self.system, 1 << topic
        if system.interests_of[user] & bit:
            return
        system.interests_of[user] |= bit
        system.interested.add(topic, user)
        if any(system.clusters[row].topics & bit for row in system.clusters_of[user]):
            return  # the filter opens
        system.messages["lookup"] += 2  # associated(t), asked of the topic's channel
        chosen = self._worth_entering(user, topic)
        if chosen >= 0:
            system.messages["resubscription"] += system.release_all(user, system.clusters[chosen].topics)
            system.enter(user, chosen)
            return
        system.hold(user, topic)
        self._trigger(user, topic)

    def unsubscribe(self, user: int, topic: int) -> None:
        system, bit = self.system, 1 << topic
        if not system.interests_of[user] & bit:
            return
        system.interests_of[user] ^= bit
        system.interested.drop(topic, user)
        if system.direct_of[user] & bit:
            system.release(user, topic)
            return
        having = [row for row in system.clusters_of[user] if system.clusters[row].topics & bit]
        for row in sorted(having, key=system.identity_of):
            if row in system.clusters_of[user]:  # an earlier one may have changed its clusters
                self._stay_or_leave(user, topic, row)

    # ---------------------------------------------------------------- which cluster

    def _worth_entering(self, user: int, topic: int) -> int:
        """The row of the cluster to enter, or -1."""
        system, bit = self.system, 1 << topic
        associated = system.clusters_with[topic]
        if not associated:
            return -1
        mine = system.direct_of[user] | bit
        overlaps = {row: (mine & system.clusters[row].topics).bit_count() for row in associated}
        chosen = subscribing.fullest(overlaps, {row: system.identity_of(row) for row in associated})
        cluster = system.clusters[chosen]
        direct = self._direct_cost(mine & cluster.topics & ~bit, 0) + self._direct_cost(bit, 1)
        enters = subscribing.joins(system.costs, system.size(chosen), cluster.frequency, direct)
        return chosen if enters else -1

    def _stay_or_leave(self, user: int, topic: int, row: int) -> None:
        system, cluster = self.system, self.system.clusters[row]
        rest = system.interests_of[user] & cluster.topics & ~system.delivered_by_clusters(user, row)
        direct = self._direct_cost(rest, 1)
        if subscribing.leaves(system.costs, system.size(row), cluster.frequency, direct):
            system.exit(user, row)
            system.messages["resubscription"] += rest.bit_count()
            for one in bits(rest):
                system.hold(user, one)
            self.clusters.shrunk(row)
        elif system.settings.adapt:
            system.messages["trigger"] += 1
            self.clusters.consider_removal(row, topic)

    def _direct_cost(self, topics: int, more: int) -> float:
        """Of direct subscriptions to these, where each topic has `more` subscribers than now."""
        costs, frequencies, sizes = self.system.costs, self.system.frequencies, self.system.held.sizes
        return sum(subscribing.freed(costs, frequencies[t], sizes[t] + more) for t in bits(topics))

    def _trigger(self, user: int, topic: int) -> None:
        """A new direct subscription is told to one of the user's clusters."""
        system = self.system
        if not system.settings.adapt:
            return
        mine = [
            (system.identity_of(row), system.clusters[row].topics, row) for row in system.clusters_of[user]
        ]
        told = subscribing.most_filtered(system.interests_of[user], mine)
        if told is not None:
            system.messages["trigger"] += 1
            self.clusters.consider_addition(told, topic)
