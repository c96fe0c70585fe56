"""GRAPE's selection against algorithms 1 to 3 as printed, without remembered bit vectors, in one run.

python -m benchmarks.grape_selection
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random

from broker_grpc.protocols.relocation.selection import BrokerStatistics, Tree, choose, estimates
from tests.relocation import transcription

PUBLICATIONS = 100
SIZES = (63, 127, 250, 1000)  # the last takes the printed algorithms about two minutes


def binary_tree(size: int, seed: int = 1) -> list[BrokerStatistics]:
    random = Random(seed)
    brokers = []
    for i in range(size):
        near = [(i - 1) // 2] if i else []
        near += [c for c in (2 * i + 1, 2 * i + 2) if c < size]
        vector = random.getrandbits(PUBLICATIONS) & random.getrandbits(PUBLICATIONS)
        outputs = {f"B{n}": random.randrange(500) for n in near} | {"": random.randrange(500)}
        brokers.append(
            BrokerStatistics(f"B{i}", [f"B{n}" for n in near], vector, vector.bit_count(), 100, 1000, outputs)
        )
    return brokers


def seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def row(size: int) -> str:
    brokers = binary_tree(size)
    by_id = {b.id: b for b in brokers}
    names = sorted(by_id)
    pings = dict.fromkeys(names, 1000)
    ours = min(
        seconds(lambda: choose(estimates(Tree(brokers), names, pings), "delay", 1, "B0")) for _ in range(3)
    )
    printed = seconds(lambda: transcription.select(by_id, pings, "delay", 1, "B0"))
    return f"{size:8} {1e3 * ours:10.2f} {1e3 * printed:13.1f} {printed / ours:8.0f}"


def main() -> None:
    print(f"{'brokers':>8} {'ours (ms)':>10} {'printed (ms)':>13} {'ratio':>8}")
    for size in SIZES:
        print(row(size), flush=True)


if __name__ == "__main__":
    main()
