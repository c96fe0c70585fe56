"""What happens to the routes of a lost broker link.

Without a grace time they are withdrawn at once. With one they stay until it is over; if the same
process returns in time it tells again all it knows, and what it does not tell is withdrawn. A peer
that was restarted in between knows nothing any more: its old routes are withdrawn as it returns.
"""

from __future__ import annotations

from collections.abc import Iterable


class Repair:
    def __init__(self, grace_us: int) -> None:
        self._grace_us = grace_us
        self._lost: dict[str, tuple[int, int]] = {}  # neighbour -> (deadline, incarnation)
        self._unseen: dict[str, set[str]] = {}  # neighbour -> routes not told again yet

    def next_deadline_us(self) -> int | None:
        return min((deadline for deadline, _ in self._lost.values()), default=None)

    def lost(self, neighbour: str, incarnation: int, now_us: int) -> bool:
        """True if the routes are to be kept for now."""
        self._unseen.pop(neighbour, None)
        if not self._grace_us:
            return False
        self._lost[neighbour] = now_us + self._grace_us, incarnation
        return True

    def expired(self, now_us: int) -> list[str]:
        """Neighbours whose grace time is over."""
        if not self._lost:
            return []
        gone = sorted(name for name, (deadline, _) in self._lost.items() if deadline <= now_us)
        for name in gone:
            del self._lost[name]
        return gone

    def returned(self, neighbour: str, incarnation: int, routes: Iterable[str]) -> bool:
        """True if the neighbour's old routes stay until it has told all it knows."""
        _, known = self._lost.pop(neighbour, (0, None))
        if known is None or known != incarnation:
            return False
        self._unseen[neighbour] = set(routes)
        return True

    def seen(self, neighbour: str, route: str) -> None:
        if self._unseen:
            self._unseen.get(neighbour, set()).discard(route)

    def unseen(self, neighbour: str, routes: Iterable[str]) -> list[str]:
        """Which of these the neighbour has not told again."""
        waiting = self._unseen.get(neighbour)
        return [id_ for id_ in routes if id_ in waiting] if waiting else []

    def done(self, neighbour: str) -> None:
        self._unseen.pop(neighbour, None)
