"""How fast topic clustering is counted: a two-month curve by flow, against a recount after each operation.

    nice python -m benchmarks.clustering            # Average and Frequent, 3,000 users, 120 topics
    nice python -m benchmarks.clustering --users 600

The straightforward way counts size(t) and size(c) over all users after each operation, as the formulas of
section 2 are printed. It is timed on as many states along the run as `--recounts` says, and taken times the
operations.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

from broker_grpc.protocols.clustering.settings import ClusteringSettings
from experiments.tamara.workload import Setting, fresh
from testbed.flow.clustering.timeline import Timeline
from tests.flow.clustering_reference import recount


def measure(setting: Setting, recounts: int) -> tuple[float, float, int]:
    """CPU seconds of a whole curve, of the recounts of all its operations, and how many those are."""
    work = fresh(setting, 1)
    timeline = Timeline(work.frequencies, work.users, ClusteringSettings(), 1)
    spent = counting = 0.0
    rows = timeline.run(work.operations, work.period, recounts)
    for _ in range(recounts):
        started = time.process_time()
        next(rows)
        spent += time.process_time() - started
        started = time.process_time()
        counted = recount(timeline.system)
        counting += time.process_time() - started
        assert abs(counted.cost - timeline.system.cost().cost) < 1e-6 * max(1.0, counted.cost)
    return spent, counting / recounts * len(work.operations), len(work.operations)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=3000)
    parser.add_argument("--recounts", type=int, default=30)
    asked = parser.parse_args()
    for model in ("average", "frequent"):
        spent, counting, operations = measure(
            replace(Setting(users=asked.users), model=model), asked.recounts
        )
        print(f"{model}: {operations} operations, flow {spent:.1f} s of CPU; recounts {counting:.0f} s; "
              f"{(spent + counting) / spent:.0f} times")  # fmt: skip


if __name__ == "__main__":
    main()
