"""The Publisher Profile Table (POP 3.1) and the decision it allows (POP 3.2)."""

from __future__ import annotations

from collections.abc import Mapping

LOCAL = ""  # the row of the broker's own subscribers


class PublisherProfileTable:
    """Average number of subscribers per traced publication, down each link and here.

    A link that a traced publication was not sent over had no subscriber for it, so it counts as
    zero: otherwise one delivery in ten would weigh as much as ten in ten.
    """

    def __init__(self, newest_weight: float) -> None:
        self._weight = newest_weight
        self.average: dict[str, float] = {}

    def record(self, result: Mapping[str, int]) -> None:
        for row in sorted(result.keys() | self.average.keys()):
            self._add(row, result.get(row, 0))

    def _add(self, row: str, value: int) -> None:
        old = self.average.get(row)
        self.average[row] = float(value) if old is None else self._weight * value + (1 - self._weight) * old


def closest_neighbour(rows: Mapping[str, float], local: float) -> str | None:
    """The neighbour with more subscribers than all others and this broker together; None = this broker."""
    total = sum(rows[n] for n in sorted(rows)) + local
    for neighbour in sorted(rows):
        if rows[neighbour] > total - rows[neighbour]:
            return neighbour
    return None
