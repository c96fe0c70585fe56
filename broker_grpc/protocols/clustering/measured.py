"""How often a topic has events, as its channel counts them."""

from __future__ import annotations


class Measured:
    """Over the time since the sample before the last one: it forgets what is longer ago."""

    def __init__(self, now_us: int) -> None:
        self._since_us = self._middle_us = now_us
        self._before = self._count = 0

    def event(self) -> None:
        self._count += 1

    def roll(self, now_us: int) -> None:
        self._since_us, self._middle_us = self._middle_us, now_us
        self._before, self._count = self._count, 0

    def per(self, interval_us: int, now_us: int) -> float:
        """Events in one interval; in the first of them those that came so far."""
        return (self._before + self._count) / max(1.0, (now_us - self._since_us) / interval_us)
