"""LOW-ODA and shadow repair: growth, and ratios to the straightforward transcription, in one run.

python -m benchmarks.topicconnected
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "topicconnected"))
import reference

from broker_grpc.topicconnected.lowoda import low_oda
from broker_grpc.topicconnected.shadow import ShadowMaintenance
from experiments.shadow_tco.workload import Setting, churn, initial

TRANSCRIBED = ((125, 12), (250, 25), (500, 50), (1000, 100), (2000, 200))  # nodes, topics
FULL = ((250, 25), (500, 50), (1000, 100), (2000, 200))
ROUNDS = 60


def seconds(action: Callable[[], Any]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def instance(nodes: int, topics: int) -> dict[int, list[int]]:
    largest = max(2, min(90, topics * 45 // 100))
    setting = Setting(nodes=nodes, topics=topics, smallest=min(10, max(1, topics // 10)), largest=largest)
    return initial(setting, Random(1))


def against_transcription() -> None:
    """Both are O(|V|^2 |T|) and choose the same edges; the ratio grows with the size of the arrays."""
    print("LOW-ODA, and the O(|V|^2 |T|) transcription of its pseudo-code in plain Python, CPU seconds")
    print(f"{'nodes':>6} {'topics':>6} {'ours':>9} {'transcription':>14} {'ratio':>7}")
    for nodes, topics in TRANSCRIBED:
        interests = instance(nodes, topics)
        ours = min(seconds(lambda i=interests: low_oda(i)) for _ in range(3))  # type: ignore[misc]
        sets = {v: set(t) for v, t in interests.items()}
        slow = seconds(lambda s=sets: reference.low_oda_quadratic(s, 3.0))  # type: ignore[misc]
        print(f"{nodes:6} {topics:6} {ours:9.4f} {slow:14.2f} {slow / ours:7.0f}", flush=True)


def growth() -> None:
    print("LOW-ODA, growth in CPU seconds")
    for nodes, topics in FULL:
        interests = instance(nodes, topics)
        print(f"{nodes:6} {topics:6} {seconds(lambda i=interests: low_oda(i)):9.3f}")  # type: ignore[misc]


def repairs() -> None:
    setting = Setting(rounds=ROUNDS)
    random = Random(1)
    interests = initial(setting, random)
    start = time.process_time()
    overlay = low_oda(interests)
    scratch = time.process_time() - start
    maintenance = ShadowMaintenance(overlay, Random(1))
    joins, leaves = [], []
    for change in churn(setting, list(interests), random):
        if change.topics is not None:
            joins.append(seconds(lambda c=change: maintenance.join(c.node, c.topics)))  # type: ignore[misc]
        else:
            start = time.process_time()
            _, orphans = maintenance.repair_leave(change.node)
            leaves.append(time.process_time() - start)
            maintenance.update_backups(orphans)
    print(f"2000 nodes, 200 topics: LOW-ODA {scratch:.2f} s from scratch")
    print(f"shadow repair of a join  {1e3 * mean(joins):7.2f} ms: {scratch / mean(joins):6.0f} times faster")
    print(
        f"shadow repair of a leave {1e3 * mean(leaves):7.2f} ms: {scratch / mean(leaves):6.0f} times faster"
    )


if __name__ == "__main__":
    against_transcription()
    growth()
    repairs()
