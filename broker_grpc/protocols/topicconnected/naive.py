"""NaiveDynAlg, Algorithms 3 and 4: churn repaired with all nodes considered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from broker_grpc.protocols.topicconnected.defaults import RHO
from broker_grpc.protocols.topicconnected.overlay import Overlay
from broker_grpc.protocols.topicconnected.repair import Edge, attach, mend


class NaiveMaintenance:
    def __init__(self, overlay: Overlay[Any, Any], rho: float = RHO) -> None:
        self.overlay = overlay
        self.rho = rho

    def join(self, node: Any, topics: Iterable[Any]) -> list[Edge]:
        i = self.overlay.add_node(node, topics)
        return attach(self.overlay, i, self.overlay.alive, self.rho)

    def leave(self, node: Any) -> list[Edge]:
        topics = self.overlay.topics[self.overlay.index[node]]
        former = self.overlay.remove_node(node)
        return mend(self.overlay, topics, self.overlay.alive, former, self.rho)
