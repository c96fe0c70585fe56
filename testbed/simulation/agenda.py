"""What happens when: a heap of calls, ties broken by the order of their making."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

Call = Callable[[Any, Any], None]


class Agenda:
    """`now_us` is the time of the call being made; it never goes back."""

    def __init__(self, start_us: int) -> None:
        self.now_us = start_us
        self.made = 0  # calls so far
        self.halted = False  # set by a call that wants to be the last one
        self._heap: list[tuple[int, int, Call, Any, Any]] = []
        self._count = 0

    def at(self, t_us: int, call: Call, a: Any = None, b: Any = None) -> None:
        """A time in the past means now, after everything already due."""
        self._count = count = self._count + 1
        heapq.heappush(self._heap, (t_us if t_us > self.now_us else self.now_us, count, call, a, b))

    def next_us(self) -> int | None:
        return self._heap[0][0] if self._heap else None

    def run(self, limit: int) -> bool:
        """Make up to `limit` calls; False when halted or when there is nothing left to do."""
        heap, pop = self._heap, heapq.heappop
        left = limit
        while left:
            if not heap or self.halted:
                break
            self.now_us, _, call, a, b = pop(heap)
            left -= 1
            call(a, b)
        self.made += limit - left
        return left == 0
