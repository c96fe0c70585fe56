"""On which brokers a publisher's subscribers sit (POP/GRAPE, section 5.1).

random: each rate class on X random brokers. clustered: all high-rated subscribers on one broker, the others
on X-1 other brokers; with X = 1 everything is on one broker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from testbed.topology.seeding import Draw
from testbed.workload.subscriptions import (
    CLUSTERED_SHARES,
    RANDOM_SHARES,
    RATE_CLASSES,
    RateClass,
    counts,
)

Workload = Literal["random", "clustered"]
SHARES: Mapping[Workload, Mapping[RateClass, float]] = {
    "random": RANDOM_SHARES,
    "clustered": CLUSTERED_SHARES,
}


def place(
    workload: Workload,
    brokers: Sequence[str],
    subscribers: int,
    spread: int,
    draw: Draw,
    shares: Mapping[RateClass, float] | None = None,
) -> list[tuple[RateClass, str]]:
    """Rate class and broker of each subscriber of one publisher."""
    if not brokers:
        raise ValueError("no brokers to place subscribers on")
    amounts = counts(subscribers, SHARES[workload] if shares is None else shares)
    if workload == "random":
        seats = {name: draw.sample(brokers, spread) for name in RATE_CLASSES}
    else:
        seats = _clustered_seats(brokers, spread, draw)
    return [
        (name, seats[name][number % len(seats[name])])
        for name in RATE_CLASSES
        for number in range(amounts[name])
    ]


def _clustered_seats(brokers: Sequence[str], spread: int, draw: Draw) -> dict[RateClass, list[str]]:
    chosen = draw.sample(brokers, spread)
    others = chosen[1:] or chosen
    return {"high": chosen[:1], "medium": others, "low": others}
