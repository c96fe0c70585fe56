"""DYNATOPS-Greedy against a direct transcription of algorithm 3: ratios and growth, in one run.

python -m benchmarks.dynatops_greedy

Both take the same swaps. The transcription judges every neighbour from scratch, so it is measured per swap
that is tried, up to the sizes it finishes; the paper's 1,000 brokers and 100 topics are ours alone. `x` is
the factor to the row before it.
"""

from __future__ import annotations

import time
from typing import Literal

import numpy as np

from broker_grpc.protocols.dynatops.greedy import ssbr_greedy
from broker_grpc.protocols.dynatops.situation import Situation
from experiments.dynatops.scaling import link_delays, network, subscriptions
from tests.dynatops import transcription

Delays = Literal["hops", "random"]
TRANSCRIBED = ((8, 8), (16, 16), (32, 32), (48, 48))  # brokers, topics
OURS = ((10, 100), (100, 100), (1000, 100), (100, 50), (100, 500), (100, 5000))  # table 1
GOALS: dict[Delays, int] = {"hops": 200, "random": 50}


def situation(brokers: int, topics: int, delays: Delays) -> Situation:
    random = np.random.default_rng(1)
    routes, tree = network(brokers, topics, "chord", 4, random)
    wanted = subscriptions(brokers, topics, "uniform", min(5, topics - 1), random)
    links = link_delays(brokers, random) if delays == "random" else None
    return Situation(routes, tree, wanted, np.ones(topics), link_delay=links)


def ours(one: Situation) -> tuple[float, int]:
    """Seconds, and swaps that were taken; the last look finds none."""
    begun = time.process_time()
    path = list(ssbr_greedy(one, np.arange(one.brokers, dtype=np.int16)))
    return time.process_time() - begun, len(path) - 1


def transcribed(one: Situation) -> tuple[float, int]:
    begun = time.process_time()
    path = transcription.ssbr_greedy(one, list(range(one.brokers)))
    return time.process_time() - begun, len(path) - 1


def against_transcription(delays: Delays) -> None:
    print(f"\n{delays}: transcription and ours")
    print(f"{'brokers x topics':>18} {'swaps':>6} {'direct s':>9} {'ours s':>8} {'ratio':>7}")
    last = 0.0
    for brokers, topics in TRANSCRIBED:
        one = situation(brokers, topics, delays)
        direct, swaps = transcribed(one)
        quick = min(ours(one)[0] for _ in range(3))
        grown = f" (x {direct / last:.1f})" if last else ""
        size = f"{brokers} x {topics}"
        print(f"{size:>18} {swaps:>6} {direct:>9.3f} {quick:>8.4f} {direct / quick:>7.0f}{grown}")
        last = direct
    print(f"goal at 1,000 x 100: at least {GOALS[delays]}")


def at_the_papers_sizes(delays: Delays) -> None:
    print(f"\n{delays}: ours at the sizes of table 1")
    print(f"{'brokers x topics':>18} {'swaps':>6} {'s':>8} {'ms per swap':>12}")
    for brokers, topics in OURS:
        one = situation(brokers, topics, delays)
        seconds, swaps = ours(one)
        print(
            f"{f'{brokers} x {topics}':>18} {swaps:>6} {seconds:>8.3f} {1000 * seconds / (swaps + 1):>12.2f}"
        )


def direct_at_1000(delays: Delays) -> None:
    """What the transcription takes for one swap that it tries, times those that ours looks at."""
    one = situation(1000, 100, delays)
    begun = time.process_time()
    transcription.judge(one, list(range(1000)))
    judged = time.process_time() - begun
    seconds, swaps = ours(one)
    direct = judged * 999 * (swaps + 1)
    print(f"\n{delays}, 1,000 x 100: direct {judged * 1000:.0f} ms per neighbour, {direct:.0f} s in all;")
    print(f"ours {seconds:.2f} s: {direct / seconds:.0f} times (goal {GOALS[delays]})")


if __name__ == "__main__":
    for delays in GOALS:
        against_transcription(delays)
        at_the_papers_sizes(delays)
        direct_at_1000(delays)
