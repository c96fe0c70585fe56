"""Probabilistic publication tagging (POP 3.1)."""

from __future__ import annotations

from random import Random


class Tagger:
    """P_trace = 1 - T/N, where T publications were tagged in the current window of length W."""

    def __init__(self, per_window: int, window_us: int) -> None:
        self.per_window = per_window
        self.window_us = window_us
        self.tagged = 0
        self._ends_us = 0

    def probability(self, now_us: int) -> float:
        if now_us >= self._ends_us:
            self._ends_us = now_us + self.window_us
            self.tagged = 0
        return 1 - self.tagged / self.per_window

    def tag(self, now_us: int, random: Random) -> bool:
        chosen = random.random() < self.probability(now_us)
        self.tagged += chosen
        return chosen
