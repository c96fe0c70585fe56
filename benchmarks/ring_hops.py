"""Hops by ring and base: python -m benchmarks.ring_hops

Routes over the computed tables, from a broker to a key, both drawn: the way of a publication to its
rendezvous point. Walked hop by hop, as brokers do.
"""

from __future__ import annotations

import argparse
import statistics
from random import Random

from broker_grpc.protocols.ring.converged import Converged
from broker_grpc.protocols.ring.settings import RingSettings
from broker_grpc.protocols.ring.static import members_of

RINGS = [
    ("chord", 4),
    *((kind, bits) for kind in ("pastry", "tapestry") for bits in (1, 2, 4)),
]


def hops(settings: RingSettings, brokers: int, walks: int, seed: int) -> list[int]:
    names = [f"B{number}" for number in range(1, brokers + 1)]
    ring, rng = Converged(members_of(names), settings), Random(seed)
    return [len(ring.route(rng.choice(names), rng.getrandbits(64))) - 1 for _ in range(walks)]


def links(settings: RingSettings, brokers: int) -> float:
    """Other brokers that one has in its tables, on average: links of its own wish."""
    names = [f"B{number}" for number in range(1, brokers + 1)]
    ring = Converged(members_of(names), settings)
    return statistics.mean(len(ring.tables(name).known()) for name in names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--brokers", type=int, nargs="+", default=[48, 100, 1200])
    parser.add_argument("--walks", type=int, default=10_000)
    given = parser.parse_args()
    print("| ring | base | brokers | hops, mean | 99 % | most | known brokers, mean |")
    print("|---|---|---|---|---|---|---|")
    for kind, bits in RINGS:
        settings = RingSettings(kind=kind, base_bits=bits)  # type: ignore[arg-type]
        base = "" if kind == "chord" else 1 << bits
        for brokers in given.brokers:
            found = sorted(hops(settings, brokers, given.walks, seed=1))
            most = f"{found[len(found) * 99 // 100]} | {found[-1]} | {links(settings, brokers):.1f}"
            print(f"| {kind} | {base} | {brokers} | {statistics.mean(found):.2f} | {most} |", flush=True)


if __name__ == "__main__":
    main()
