"""Rows in buckets by an upper bound of what they hold: the row to look at next, in no time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Buckets:
    """`rows[b]` are the rows with bound b, as bits. Bounds only fall, so `top` never has to rise."""

    __slots__ = ("bound", "rows", "top")

    def __init__(self, bound: Sequence[int], among: Iterable[int]) -> None:
        self.bound = list(bound)
        self.top = max(bound, default=0)
        self.rows = [0] * (self.top + 1)
        for row in among:
            self.rows[bound[row]] |= 1 << row

    def first(self) -> int:
        """The first row of the highest bucket, whose bound is then `top`; -1 = only rows with bound 0."""
        while self.top:
            rows = self.rows[self.top]
            if rows:
                return (rows & -rows).bit_length() - 1
            self.top -= 1
        return -1

    def lower(self, row: int, bound: int) -> None:
        self.remove(row)
        self.bound[row] = bound
        self.rows[bound] |= 1 << row

    def remove(self, row: int) -> None:
        self.rows[self.bound[row]] &= ~(1 << row)
