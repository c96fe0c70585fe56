"""Which brokers see each other's topics and load (section 4): clusters of c."""

from __future__ import annotations

import re
from collections.abc import Iterable

NUMBER = re.compile(r"(\d+)")


def by_number(name: str) -> tuple[tuple[int, str], ...]:
    """B2 before B10."""
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in NUMBER.split(name))


def cluster_of(broker: str, brokers: Iterable[str], size: int) -> frozenset[str]:
    """The brokers in the order of their names, so many together; the last cluster may be smaller."""
    everybody = sorted(brokers, key=by_number)
    begin = everybody.index(broker) // size * size
    return frozenset(everybody[begin : begin + size])
