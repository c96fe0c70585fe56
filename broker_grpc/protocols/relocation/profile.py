"""The Publisher Profile Table (POP 3.1) and the decision it allows (POP 3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

LOCAL = ""  # the row of the broker's own subscribers


class PublisherProfileTable:
    """Average number of subscribers per traced publication, down each link and here.

    A link that a traced publication was not sent over had no subscriber for it, so it counts as
    zero: otherwise one delivery in ten would weigh as much as ten in ten. That is one way to read the
    report: with `absent` unchanged, a row is averaged over the publications that went down its link.
    """

    def __init__(
        self,
        newest_weight: float,
        absent: Literal["zero", "unchanged"] = "zero",
        late_row: Literal["whole", "weighted"] = "whole",
    ) -> None:
        self._weight = newest_weight
        self._absent = absent
        self._late_row = late_row
        self._recorded = False
        self.average: dict[str, float] = {}

    def record(self, result: Mapping[str, int]) -> None:
        if self._absent == "zero":
            rows = result.keys() | self.average.keys()
        else:  # the broker's own row too: a broker that only passes a publication on delivers none of it
            rows = {row for row in result if row != LOCAL or result[row]}
        for row in sorted(rows):
            self._add(row, result.get(row, 0))
        self._recorded = True

    def _add(self, row: str, value: int) -> None:
        old = self.average.get(row)
        if old is None and self._recorded and self._late_row == "weighted":
            old = 0.0  # what was traced before did not go there
        self.average[row] = float(value) if old is None else self._weight * value + (1 - self._weight) * old


def closest_neighbour(rows: Mapping[str, float], local: float) -> str | None:
    """The neighbour with more subscribers than all others and this broker together; None = this broker."""
    total = sum(rows[n] for n in sorted(rows)) + local
    for neighbour in sorted(rows):
        if rows[neighbour] > total - rows[neighbour]:
            return neighbour
    return None
