"""Operations in the order of time, a round of samples at every cadence, a row at every checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from broker_grpc.protocols.clustering.settings import ClusteringSettings
from testbed.flow.clustering.clusters import Clusters
from testbed.flow.clustering.rounds import Rounds
from testbed.flow.clustering.system import System
from testbed.flow.clustering.users import Users

PURPOSES = ("lookup", "trigger", "survey", "overlap", "proposal", "association", "resubscription")
CHANGES = ("created", "merged", "added", "removed", "destroyed")
Row = dict[str, Any]


class Operation(NamedTuple):
    at: float  # in maintenance intervals M
    user: int
    topic: int
    wanted: bool  # False: the interest is lost


class Timeline:
    """One system through its operations."""

    def __init__(self, frequencies: list[float], users: int, settings: ClusteringSettings, seed: int) -> None:
        self.system = System(frequencies, users, settings, seed)
        self.clusters = Clusters(self.system)
        self.users = Users(self.system, self.clusters)
        self.rounds = Rounds(self.system, self.clusters)
        self.next_round = float(settings.cadence)  # in M

    def apply(self, operation: Operation) -> None:
        """Rounds that are due come first."""
        self.advance(operation.at)
        do = self.users.subscribe if operation.wanted else self.users.unsubscribe
        do(operation.user, operation.topic)

    def advance(self, until: float) -> None:
        settings = self.system.settings
        while self.next_round <= until:
            if settings.adapt:
                self.rounds.round()
            self.next_round += settings.cadence

    def run(self, operations: Iterable[Operation], period: float, points: int) -> Iterator[Row]:
        """`points` rows, at equal distances; the last is at the end of the period."""
        left = iter(operations)
        operation = next(left, None)
        for point in range(1, points + 1):
            until = period * point / points
            while operation is not None and operation.at <= until:
                self.apply(operation)
                operation = next(left, None)
            self.advance(until)
            yield {"at": until, **self.row()}

    def row(self) -> Row:
        """What there is now; messages and changes are counted from the start."""
        system = self.system
        cost, without = system.cost(), system.unclustered_cost()
        clusters = system.clusters.values()
        return {
            "maintenance": cost.maintenance,
            "dissemination": cost.dissemination,
            "plain_maintenance": without.maintenance,
            "plain_dissemination": without.dissemination,
            "users": sum(map(bool, system.interests_of)),
            "clusters": len(system.clusters),
            "clustered_topics": sum(map(bool, system.clusters_with)),
            "mean_topics": sum(c.topics.bit_count() for c in clusters) / len(clusters) if clusters else 0.0,
            "direct": sum(system.held.sizes[: system.topics]),
            **{f"messages_{purpose}": system.messages[purpose] for purpose in PURPOSES},
            **{change: system.done[change] for change in CHANGES},
        }
