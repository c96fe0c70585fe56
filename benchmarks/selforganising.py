"""Self-organising trees: flow beside the simulator on the same network, and the comparison of Bloom filters.

    python -m benchmarks.selforganising [--ticks 1000]
    python -m benchmarks.selforganising --figure-4       # also one network of figure 4 at the paper's size

100 brokers of the paper's section 5 (a 10,000-node network, 50 types), CI with eta = 4, simulated message by
message and then by flow, in processor time. Goals: flow at least 20 times faster; the 25 networks of figure 4
within 15 minutes on two cores for each law; 8,192 cached ids compared with a filter of 100,000 bits in 1 ms.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import asdict

from broker_grpc.protocols.selforganising.bloom import filter_of, positions
from broker_grpc.protocols.selforganising.cache import NotificationCache
from experiments.ci.computations import Bench, adaptivity
from experiments.ci.deployment import HIGHEST, plan_of
from experiments.ci.pricing import Pricing
from experiments.ci.simulated import priced
from experiments.ci.systems import CI, LAWS
from experiments.ci.workload import TICK_US, Setting, costs, ids

TIMES, COMPARISON_MS, FIGURE_4_MIN = 20.0, 1.0, 15.0
CACHE, BITS, HASHES = 8_192, 100_000, 5
NETWORKS, CORES = 25, 2


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def flow_beside_simulator(ticks: int) -> bool:
    """Both with the drawing of the network and the clients, and flow with the windows of common interest."""
    size = Setting(ticks=ticks)
    paid = costs(size, 1, HIGHEST, HIGHEST)  # the graph is made once for both
    pricing = Pricing(ids(size), [(0, paid[0])], size.sample * TICK_US)

    def simulated() -> None:
        priced(plan_of(size, "uniform", 1, CI, "given"), pricing, lambda said: None)

    def by_flow() -> None:
        Bench(asdict(size), "uniform", 1).play(CI, paid)

    slow = seconds(simulated)
    fast = min(seconds(by_flow) for _ in range(3))
    print(f"CI, {ticks:,} ticks: simulator {slow:.1f} s, flow {fast:.2f} s, {slow / fast:.0f} times faster")
    return slow / fast >= TIMES


def comparison() -> bool:
    cache = NotificationCache(CACHE, BITS, HASHES)
    for number in range(CACHE):
        cache.add(f"p{number % 50}:{number}")
    filter_ = filter_of(positions([f"p{number % 50}:{number}" for number in range(500)], BITS, HASHES), BITS)
    cache.common(filter_)
    took_ms = min(seconds(lambda: cache.common(filter_)) for _ in range(200)) * 1e3
    print(f"comparison of {CACHE:,} ids with a filter of {BITS:,} bits: {took_ms:.2f} ms")
    return took_ms <= COMPARISON_MS


def figure_4() -> bool:
    fits = True
    for law in LAWS:
        took = seconds(lambda law=law: adaptivity(lambda said: None, asdict(Setting()), law, 1))  # type: ignore[misc]
        whole = took * NETWORKS / CORES / 60
        print(f"figure 4, {LAWS[law]}: {took:.1f} s a network; {NETWORKS} on {CORES} cores {whole:.1f} min")
        fits &= whole <= FIGURE_4_MIN
    return fits


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ticks", type=int, default=1_000)
    parser.add_argument("--figure-4", action="store_true")
    asked = parser.parse_args()
    met = [comparison(), flow_beside_simulator(asked.ticks)]
    if asked.figure_4:
        met.append(figure_4())
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
