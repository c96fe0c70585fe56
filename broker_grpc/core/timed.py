"""Parts of a machine that want to be called at times of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Timed(NamedTuple):
    next_deadline_us: Callable[[], int | None]
    deadline: Callable[[int], None]
    moved_by_publications: bool = True  # False: no publication changes when it is due


Parts = tuple[Timed, ...]


def earliest_us(parts: Parts) -> int | None:
    earliest: int | None = None
    for part in parts:
        at = part.next_deadline_us()
        if at is not None and (earliest is None or at < earliest):
            earliest = at
    return earliest


def run_due(parts: Parts, now_us: int) -> None:
    """In their order; what one part does may make a later one due."""
    for part in parts:
        at = part.next_deadline_us()
        if at is not None and at <= now_us:
            part.deadline(now_us)
