"""LOW-ODA and shadow repair: growth, and ratios to the straightforward transcription, in one run.

python -m benchmarks.topicconnected
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from statistics import mean
from typing import Any

from broker_grpc.protocols.topicconnected.lowoda import low_oda
from broker_grpc.protocols.topicconnected.shadow import ShadowMaintenance
from experiments.shadow_tco.workload import Setting, churn, initial
from tests.topicconnected import reference

TRANSCRIBED = ((125, 12), (250, 25), (500, 50), (1000, 100), (2000, 200))  # nodes, topics
ROUNDS = 60


def timed(action: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    start = time.process_time()
    result = action(*arguments)
    return time.process_time() - start, result


def best_of_three(action: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    return min((timed(action, *arguments) for _ in range(3)), key=lambda one: one[0])


def instance(nodes: int, topics: int) -> dict[int, list[int]]:
    largest = max(2, min(90, topics * 45 // 100))
    setting = Setting(nodes=nodes, topics=topics, smallest=min(10, max(1, topics // 10)), largest=largest)
    return initial(setting, Random(1))


def against_transcription() -> None:
    """Both choose the same edges. `x` is the factor to the row before it."""
    print("LOW-ODA, and the O(|V|^2 |T|) transcription of its pseudo-code in plain Python, CPU seconds")
    print(f"{'nodes':>6} {'topics':>6} {'ours':>9} {'x':>5} {'transcription':>14} {'x':>5} {'ratio':>7}")
    before = (0.0, 0.0)
    for nodes, topics in TRANSCRIBED:
        interests = instance(nodes, topics)
        ours, overlay = best_of_three(low_oda, interests)
        slow, edges = timed(reference.low_oda_quadratic, {v: set(t) for v, t in interests.items()}, 3.0)
        if overlay.edges() != edges:
            raise SystemExit(f"{nodes} nodes, {topics} topics: the two choose different edges")
        x, y = (f"{now / then:5.1f}" if then else "" for now, then in zip((ours, slow), before, strict=True))
        before = ours, slow
        print(f"{nodes:6} {topics:6} {ours:9.4f} {x:5} {slow:14.2f} {y:5} {slow / ours:7.1f}", flush=True)


def repairs() -> None:
    setting = Setting(rounds=ROUNDS)
    random = Random(1)
    interests = initial(setting, random)
    scratch, overlay = best_of_three(low_oda, interests)
    maintenance = ShadowMaintenance(overlay, Random(1))
    joins, leaves = [], []
    for change in churn(setting, list(interests), random):
        if change.topics is not None:
            joins.append(timed(maintenance.join, change.node, change.topics)[0])
        else:
            took, (_, orphans) = timed(maintenance.repair_leave, change.node)
            leaves.append(took)
            maintenance.update_backups(orphans)
    print(f"2000 nodes, 200 topics: LOW-ODA {scratch:.2f} s from scratch")
    print(f"shadow repair of a join  {1e3 * mean(joins):7.2f} ms: {scratch / mean(joins):6.0f} times faster")
    print(
        f"shadow repair of a leave {1e3 * mean(leaves):7.2f} ms: {scratch / mean(leaves):6.0f} times faster"
    )


if __name__ == "__main__":
    against_transcription()
    repairs()
