"""Section 3.2: every channel samples its subscribers from time to time, and proposes to the one with most in
common that they merge. In a round each channel acts once, in the order of identities."""

from __future__ import annotations

import numpy as np

from broker_grpc.protocols.clustering.adding import add_delta
from broker_grpc.protocols.clustering.costs import gains
from broker_grpc.protocols.clustering.merging import Common, Side, merge_delta, pair_delta
from broker_grpc.protocols.clustering.surveys import estimate
from testbed.flow.clustering.bits import counts, packed
from testbed.flow.clustering.clusters import Clusters
from testbed.flow.clustering.system import System


class Rounds:
    def __init__(self, system: System, clusters: Clusters) -> None:
        self.system, self.clusters = system, clusters

    def round(self) -> None:
        """Channels that come up during it wait for the next; those that are gone are passed over."""
        system = self.system
        rows = [t for t in range(system.topics) if system.size(t)] + list(system.clusters)
        for name, row in sorted((system.identity_of(row), row) for row in rows):
            if self._still(row, name) and system.size(row):
                self._propose(row)

    def _still(self, row: int, name: int) -> bool:
        """A row of a cluster may be another's by now."""
        system = self.system
        return row < system.topics or (row in system.clusters and system.clusters[row].identity == name)

    def _propose(self, row: int) -> None:
        system = self.system
        asked = self.clusters.sample(row)
        if system.settings.paid_overlap:
            system.messages["overlap"] += 2 * len(asked)
        other, found = self._most_common(row, packed(asked, system.held.words.shape[1]))
        if not found:
            return
        system.messages["proposal"] += 2
        self._decide(other, row, estimate(found, len(asked), system.size(row)))

    def _most_common(self, row: int, asked: np.ndarray) -> tuple[int, int]:
        """Which channel most of those asked are also subscribed to, and how many of them. A topic looks at
        topics and clusters, a cluster at clusters."""
        system = self.system
        clusters = np.fromiter(system.clusters, np.int64, len(system.clusters))
        topics = np.arange(system.topics if row < system.topics else 0)
        rows = np.concatenate([topics, clusters])
        found = counts(system.held.words[rows], asked)
        found[rows == row] = 0
        best = int(found.max())
        equal = rows[found == best].tolist() if best else [row]
        return min(equal, key=system.identity_of), best

    def _decide(self, decider: int, proposer: int, users: float) -> None:
        """By the channel that is contacted, with its own size and topics and the proposer's."""
        system = self.system
        users = min(users, system.size(decider), system.size(proposer))
        one, other = self._side(decider), self._side(proposer)
        if system.settings.pairs == "common" and (one.single or other.single):
            self._decide_common(decider, proposer, one, other, users)
        elif gains(merge_delta(system.costs, one, other, self._common(decider, proposer, users))):
            joining = system.held.words[decider] | system.held.words[proposer]
            self.clusters.unite(decider, proposer, joining)
            system.done["created" if one.single and other.single else "merged"] += 1

    def _decide_common(self, decider: int, proposer: int, one: Side, other: Side, users: float) -> None:
        system = self.system
        if one.single and other.single:
            if gains(pair_delta(system.costs, one, other, users)):
                both = system.held.words[decider] & system.held.words[proposer]
                self.clusters.unite(decider, proposer, both)
                system.done["created"] += 1
            return
        topic, row = (decider, proposer) if one.single else (proposer, decider)
        single, cluster = (one, other) if one.single else (other, one)
        if gains(add_delta(system.costs, single.frequency, single.size, cluster.size, users, cluster.topics)):
            self.clusters.add(row, topic)

    def _side(self, row: int) -> Side:
        system = self.system
        if row < system.topics:
            return Side(1, system.frequencies[row], system.size(row), single=True)
        cluster = system.clusters[row]
        return Side(cluster.topics.bit_count(), cluster.frequency, system.size(row))

    def _common(self, decider: int, proposer: int, users: float) -> Common:
        """Of two clusters also their common topics; a topic never meets a cluster that has it, since nobody
        there holds it directly."""
        system = self.system
        if min(decider, proposer) < system.topics:
            return Common(users)
        shared = system.clusters[decider].topics & system.clusters[proposer].topics
        return Common(users, shared.bit_count(), system.frequency(shared))
