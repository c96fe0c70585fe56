"""What happens when: calls by their time, those of one instant in the order of their making.

A message is often copied to several peers at the same distance, so many calls share an instant. They stand
in one list, and the heap holds instants only: plain numbers, and fewer of them.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Any

Call = Callable[[Any, Any], None]
Entry = tuple[Call, Any, Any]


class Agenda:
    """`now_us` is the time of the call being made; it never goes back."""

    def __init__(self, start_us: int) -> None:
        self.now_us = start_us
        self.made = 0  # calls so far
        self.halted = False  # set by a call that wants to be the last one
        self._instants: list[int] = []  # a heap; the first one stays there until all its calls are made
        self._calls: dict[int, list[Entry]] = {}
        self._left: Iterator[Entry] | None = None  # of the first instant; it sees calls that are added

    def at(self, t_us: int, call: Call, a: Any = None, b: Any = None) -> None:
        """A time in the past means now, after everything already due."""
        if t_us < self.now_us:
            t_us = self.now_us
        calls = self._calls.get(t_us)
        if calls is None:
            self._calls[t_us] = [(call, a, b)]
            heapq.heappush(self._instants, t_us)
        else:
            calls.append((call, a, b))

    def next_us(self) -> int | None:
        return self._instants[0] if self._instants else None

    def run(self, limit: int) -> bool:
        """Make up to `limit` calls; False when halted or when there is nothing left to do."""
        instants, left = self._instants, limit
        while left and instants and not self.halted:
            if self._left is None:
                self.now_us = instants[0]
                self._left = iter(self._calls[instants[0]])
            for call, a, b in self._left:
                left -= 1
                call(a, b)
                if self.halted or not left:
                    break
            else:
                self._left = None
                del self._calls[heapq.heappop(instants)]
        self.made += limit - left
        return left == 0
