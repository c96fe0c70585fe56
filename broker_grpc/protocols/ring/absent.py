"""Brokers that may be dead, and those that were: who is asked again when."""

from __future__ import annotations

LONGEST = 64  # so many that were lost are remembered
SLOWEST_US = 600_000_000  # between two tries to find one again


class Lost:
    """Brokers that did not answer. They are tried again, ever more seldom: a partition may have ended."""

    def __init__(self, first_us: int) -> None:
        self._first_us = first_us
        self._tries: dict[str, tuple[int, int]] = {}  # broker -> (again at, pause before)

    def add(self, now_us: int, broker: str) -> None:
        _, pause = self._tries.pop(broker, (0, 0))
        pause = min(pause * 2, SLOWEST_US) if pause else self._first_us
        self._tries[broker] = now_us + pause, pause
        if len(self._tries) > LONGEST:
            del self._tries[next(iter(self._tries))]

    def found(self, broker: str) -> None:
        self._tries.pop(broker, None)

    def __contains__(self, broker: object) -> bool:
        return broker in self._tries

    def due(self, now_us: int) -> list[str]:
        return [broker for broker, (at, _) in self._tries.items() if at <= now_us]

    def next_us(self) -> int | None:
        return min((at for at, _ in self._tries.values()), default=None)

    def clear(self) -> None:
        self._tries.clear()
