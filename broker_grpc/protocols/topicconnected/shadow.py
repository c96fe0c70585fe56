"""ShadowDynAlg, Algorithms 6 to 10: churn repaired among a few shadow nodes."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

from broker_grpc.protocols.topicconnected.backups import BuildBackups, PrimaryBackup, build_by_primal_dual
from broker_grpc.protocols.topicconnected.defaults import COVERAGE, RHO
from broker_grpc.protocols.topicconnected.overlay import Overlay, bits
from broker_grpc.protocols.topicconnected.repair import Edge, attach, mend


class ShadowMaintenance:
    """Keeps an overlay topic-connected; steps I and III may run off-line, step II repairs.

    `shadow` is the shadow set of the last round, as a node mask.
    """

    def __init__(
        self,
        overlay: Overlay[Any, Any],
        random: Random,
        coverage: int = COVERAGE,
        build: BuildBackups = build_by_primal_dual,
        rho: float = RHO,
    ) -> None:
        self.overlay = overlay
        self.random = random
        self.coverage = coverage
        self.build = build
        self.rho = rho
        self.state = PrimaryBackup(overlay)
        self.shadow = 0
        for v in bits(overlay.alive):  # Algorithm 6
            self._build_at(v)

    def _build_at(self, v: int) -> None:
        self.build(self.state, v, self.coverage, self.random)

    def join(self, node: Any, topics: Iterable[Any]) -> list[Edge]:
        """Algorithms 9 and 10."""
        i = self.overlay.add_node(node, topics)
        self._build_at(i)
        self.shadow = self.state.backups[i] | 1 << i
        return attach(self.overlay, i, self.shadow, self.rho)

    def leave(self, node: Any) -> list[Edge]:
        """Algorithms 7 and 8."""
        added, orphans = self.repair_leave(node)
        self.update_backups(orphans)
        return added

    def repair_leave(self, node: Any) -> tuple[list[Edge], int]:
        """Step II alone: what the overlay has to wait for. Also answers who lost a backup."""
        i = self.overlay.index[node]
        topics, backups = self.overlay.topics[i], self.state.backups.get(i, 0)
        former = self.overlay.remove_node(node)
        orphans = self.state.forget(i)
        self.shadow = (former | backups) & self.overlay.alive
        added = mend(self.overlay, topics, self.shadow, former, self.rho)
        return added, orphans

    def update_backups(self, orphans: int) -> None:
        """Step III, Algorithm 8."""
        for v in bits(orphans & self.overlay.alive):
            self._build_at(v)
