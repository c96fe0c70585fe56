"""What is due when: a name for each thing, set anew or cancelled at will."""

from __future__ import annotations

import heapq
from typing import Generic, TypeVar

K = TypeVar("K")


class Timers(Generic[K]):
    def __init__(self) -> None:
        self._at: dict[K, tuple[int, int]] = {}
        self._heap: list[tuple[int, int, K]] = []  # also of what was cancelled or set anew
        self._count = 0

    def set(self, what: K, at_us: int) -> None:
        self._count += 1
        self._at[what] = at_us, self._count
        heapq.heappush(self._heap, (at_us, self._count, what))

    def begin(self, what: K, at_us: int) -> None:
        """Unless it is running."""
        if what not in self._at:
            self.set(what, at_us)

    def cancel(self, what: K) -> bool:
        return self._at.pop(what, None) is not None

    def __contains__(self, what: K) -> bool:
        return what in self._at

    def pending(self) -> list[K]:
        return list(self._at)

    def next_us(self) -> int | None:
        while self._heap and self._at.get(self._heap[0][2]) != self._heap[0][:2]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def due(self, now_us: int) -> list[K]:
        """In the order of time; they are over."""
        found: list[K] = []
        while (at := self.next_us()) is not None and at <= now_us:
            what = heapq.heappop(self._heap)[2]
            del self._at[what]
            found.append(what)
        return found
