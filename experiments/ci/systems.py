"""The systems that are compared: a tree that stays, and the three heuristics."""

from __future__ import annotations

from broker_grpc.protocols.selforganising.heuristics import (
    CostAndInterest,
    Heuristic,
    LocalMaximumInterestTree,
    LocalMinimumSpanningTree,
)

STATIC, MST, MIT, CI = "static", "lmst", "lmit", "ci"
HEURISTICS: dict[str, Heuristic | None] = {
    STATIC: None,
    MST: LocalMinimumSpanningTree(),
    MIT: LocalMaximumInterestTree(),
    CI: CostAndInterest(),
}
NAMES = {STATIC: "static", MST: "lMST", MIT: "lMIT", CI: "CI"}
ADAPTIVE = (MST, MIT, CI)
LAWS = {"uniform": "uniform spanning tree", "recursive": "random recursive tree"}
