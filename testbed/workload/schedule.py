"""When a client publishes: absolute offsets from its start, so that no delay ever adds up."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from testbed.topology.plan import PublicationPlan
from testbed.topology.seeding import Draw


def offsets_us(plan: PublicationPlan, seed: int) -> Iterator[int]:
    """Ascending; ends after `count` publications if the plan says how many."""
    times = _poisson(plan, seed) if plan.arrival == "poisson" else _periodic(plan, seed)
    return itertools.islice(times, plan.count) if plan.count else times


def _periodic(plan: PublicationPlan, seed: int) -> Iterator[int]:
    first = plan.first_us or Draw(seed, "first publication").below(plan.period_us)
    return (first + number * plan.period_us for number in itertools.count())


def _poisson(plan: PublicationPlan, seed: int) -> Iterator[int]:
    draw, at = Draw(seed, "poisson arrivals"), float(plan.first_us)
    while True:
        at += draw.exponential(plan.period_us)
        yield round(at)
