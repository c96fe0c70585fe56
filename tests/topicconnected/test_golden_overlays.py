"""The very links of overlays too large for the transcription, as they were when results were committed.

A faster data structure may not change them: figures 2 to 8 under `results/` were made with these.
"""

from __future__ import annotations

import hashlib
from random import Random
from typing import Any

import pytest

from broker_grpc.protocols.topicconnected.backups import build_greedily
from broker_grpc.protocols.topicconnected.components import is_topic_connected
from broker_grpc.protocols.topicconnected.lowoda import low_oda
from broker_grpc.protocols.topicconnected.naive import NaiveMaintenance
from broker_grpc.protocols.topicconnected.overlay import Overlay
from broker_grpc.protocols.topicconnected.shadow import ShadowMaintenance
from experiments.shadow_tco.workload import Churn, Popularity, Setting, churn, initial


def digest(overlay: Overlay[Any, Any]) -> str:
    return hashlib.sha256(repr(sorted(overlay.edges())).encode()).hexdigest()[:12]


def after(maintenance: ShadowMaintenance | NaiveMaintenance, changes: list[Churn]) -> str:
    for change in changes:
        if change.topics is None:
            maintenance.leave(change.node)
        else:
            maintenance.join(change.node, change.topics)
        assert is_topic_connected(maintenance.overlay)
    return digest(maintenance.overlay)


@pytest.mark.parametrize(
    ("popularity", "built", "primal_dual", "greedy", "naive"),
    [
        ("uniform", "652f8d4e4a9b", "d7c98d3b4884", "9dc3cbc204ab", "60d36c72a60a"),
        ("zipf", "140512c06c1a", "af3f7a896be8", "29677500f028", "fed746fdf9e9"),
        ("exponential", "89dcd8ce43f7", "5be943c29353", "6b92fae9aec0", "42153d8b6e97"),
    ],
)
def test_the_same_links_as_ever(
    popularity: Popularity, built: str, primal_dual: str, greedy: str, naive: str
) -> None:
    setting = Setting(nodes=300, topics=60, largest=30, popularity=popularity, rounds=60)
    random = Random(1)
    interests = initial(setting, random)
    overlay: Overlay[int, int] = low_oda(interests)
    changes = list(churn(setting, list(interests), random))
    assert digest(overlay) == built
    assert after(ShadowMaintenance(overlay.copy(), Random(1)), changes) == primal_dual
    assert after(ShadowMaintenance(overlay.copy(), Random(1), 3, build_greedily), changes) == greedy
    assert after(NaiveMaintenance(overlay), changes) == naive
