"""The systems that are compared: LOW-ODA from scratch, Naive, and Shadow with its backups and coverage."""

from __future__ import annotations

from random import Random

from broker_grpc.protocols.topicconnected.backups import build_by_primal_dual, build_greedily
from broker_grpc.protocols.topicconnected.naive import NaiveMaintenance
from broker_grpc.protocols.topicconnected.overlay import Overlay
from broker_grpc.protocols.topicconnected.shadow import ShadowMaintenance

Maintenance = NaiveMaintenance | ShadowMaintenance
GREEDY, DUAL, NAIVE, LOW = "shadow-greedy", "shadow-pd-3", "naive", "low-oda"
MAINTAINED = ["shadow-pd-1", "shadow-pd-2", "shadow-pd-3", "shadow-pd-4", "shadow-greedy", "naive"]
NAMES = {
    "low-oda": "LOW-ODA",
    "naive": "Naive",
    "shadow-greedy": "Shadow, greedy backups",
    "shadow-pd-1": "Shadow, λ = 1",
    "shadow-pd-2": "Shadow, λ = 2",
    "shadow-pd-3": "Shadow, λ = 3",
    "shadow-pd-4": "Shadow, λ = 4",
}
DEPLOYED = {"shadow": "Shadow", "naive": "Naive", "low-oda": "LOW-ODA"}  # as the coordinator names them


def systems(base: Overlay[int, int], seed: int, wanted: list[str]) -> dict[str, Maintenance]:
    made: dict[str, Maintenance] = {}
    for name in wanted:
        overlay = base.copy()
        if name == "naive":
            made[name] = NaiveMaintenance(overlay)
        elif name == "shadow-greedy":
            made[name] = ShadowMaintenance(overlay, Random(seed), 3, build_greedily)
        else:
            coverage = int(name.removeprefix("shadow-pd-"))
            made[name] = ShadowMaintenance(overlay, Random(seed), coverage, build_by_primal_dual)
    return made
