"""The cache of a broker: ids of notifications that its clients published or got (section 4)."""

from __future__ import annotations

import numpy

from broker_grpc.protocols.selforganising.bloom import contained, filter_of, positions


class NotificationCache:
    """The last `size` ids. Hashes are made when somebody asks, many at a time."""

    __slots__ = ("_added", "_bits", "_filled", "_fresh", "_hashes", "_next", "_rows", "_size")

    def __init__(self, size: int, bits: int, hashes: int) -> None:
        self._size, self._bits, self._hashes = size, bits, hashes
        self._rows = numpy.zeros((size, hashes), dtype=numpy.int64)  # a ring
        self._next = 0  # place of the next one
        self._filled = 0
        self._fresh: list[str] = []  # not hashed yet
        self._added = 0  # in this interval

    def __len__(self) -> int:
        return min(self._size, self._filled + len(self._fresh))

    def add(self, id_: str) -> None:
        self._fresh.append(id_)
        self._added += 1
        if len(self._fresh) >= self._size:
            self._hash()

    def _hash(self) -> None:
        fresh, self._fresh = self._fresh[-self._size :], []
        if not fresh:
            return
        places = (self._next + numpy.arange(len(fresh))) % self._size
        self._rows[places] = positions(fresh, self._bits, self._hashes)
        self._next = int(places[-1] + 1) % self._size
        self._filled = min(self._size, self._filled + len(fresh))

    def close_interval(self) -> tuple[bytes, int]:
        """The filter of what was added in the interval that ends now and is still cached, and how many."""
        self._hash()
        count = min(self._added, self._size)
        self._added = 0
        places = (self._next - 1 - numpy.arange(count)) % self._size
        return filter_of(self._rows[places], self._bits), count

    def common(self, filter_: bytes) -> int:
        """I_ij: cached ids that the other's filter contains."""
        self._hash()
        return contained(self._rows[: self._filled], filter_)
