"""What a link does to packets, in the kernel's units. Pure.

A link is FIFO whatever its jitter: netem lets packets overtake each other under jitter unless it also has a
rate, because only then a packet's departure is counted from the previous one's. So every link has a rate; one
without a bandwidth in the plan gets a rate at which a full packet takes about a nanosecond.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

from testbed.topology.plan import Link, PairLatency

UNLIMITED_BYTES_PER_SECOND = 1_000_000_000_000
FULL_PACKET_BYTES = 1514
SMALLEST_QUEUE = 1_000
UNLIMITED_QUEUE = 100_000


@dataclass(frozen=True, slots=True)
class Shape:
    """One direction of a link (or of a host pair)."""

    delay_ns: int = 0
    jitter_ns: int = 0
    loss: float = 0.0
    bytes_per_second: int = UNLIMITED_BYTES_PER_SECOND
    limit_packets: int = UNLIMITED_QUEUE
    seed: int = 0


def of_link(link: Link, direction: str, seed: int) -> Shape:
    """The shape at the sending end; `direction` (the sending node) separates the random streams."""
    rate = link.bandwidth_bps // 8 if link.bandwidth_bps else UNLIMITED_BYTES_PER_SECOND
    return Shape(
        delay_ns=link.latency_us * 1_000,
        jitter_ns=link.jitter_us * 1_000,
        loss=link.loss,
        bytes_per_second=max(1, rate),
        limit_packets=queue_limit(link),
        seed=stream_seed(seed, link.id, direction),
    )


def of_pair(link: Link, pair: PairLatency, seed: int) -> Shape:
    """Link and pair together, for a sender that delays by destination (its root class has the bandwidth)."""
    return Shape(
        delay_ns=(link.latency_us + pair.latency_us) * 1_000,
        jitter_ns=(link.jitter_us + pair.jitter_us) * 1_000,
        loss=1.0 - (1.0 - link.loss) * (1.0 - pair.loss),
        limit_packets=queue_limit(link),
        seed=stream_seed(seed, link.id, f"{pair.a}>{pair.b}"),
    )


def queue_limit(link: Link) -> int:
    """netem counts packets under way as queued, so the limit has to hold them and the queue.

    Twice the bandwidth-delay product in full packets, and never fewer than 1000; `queue_packets` in the file
    is the queue proper, to which the packets under way are added.
    """
    if not link.bandwidth_bps:
        return max(UNLIMITED_QUEUE, link.queue_packets)
    seconds = (link.latency_us + link.jitter_us) / 1_000_000
    under_way = math.ceil(link.bandwidth_bps * seconds / 8 / FULL_PACKET_BYTES)
    if link.queue_packets:
        return under_way + link.queue_packets
    return max(SMALLEST_QUEUE, 2 * under_way)


def stream_seed(seed: int, *names: str) -> int:
    """A 64-bit seed of its own for each named stream of one experiment."""
    text = "\0".join((str(seed), *names)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
