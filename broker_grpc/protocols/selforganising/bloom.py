"""Bloom filters of notification ids (Bloom 1970), many ids at a time.

Each id has two 64-bit hashes, and the k-th position is h1 + k h2 (Kirsch and Mitzenmacher 2006: as good as k
hashes). The filter is its bytes, bit i of byte i/8: what the wire carries.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy
from numpy.typing import NDArray

Positions = NDArray[numpy.int64]  # a row per id


def positions(ids: Sequence[str], bits: int, hashes: int) -> Positions:
    """Where each id sets its bits, the same on every machine."""
    digests = b"".join(hashlib.blake2b(one.encode(), digest_size=16).digest() for one in ids)
    pairs = numpy.frombuffer(digests, dtype="<u8").reshape(-1, 2)
    steps = numpy.arange(hashes, dtype=numpy.uint64)
    return ((pairs[:, :1] + steps * (pairs[:, 1:] | 1)) % numpy.uint64(bits)).astype(numpy.int64)


def filter_of(rows: Positions, bits: int) -> bytes:
    """All ids with these positions."""
    field = numpy.zeros(bits, dtype=bool)
    field[rows.ravel()] = True
    return numpy.packbits(field, bitorder="little").tobytes()


def contained(rows: Positions, filter_: bytes) -> int:
    """How many of these ids the filter contains. It may take one for another, and never misses one."""
    if not len(rows):
        return 0
    field = numpy.unpackbits(numpy.frombuffer(filter_, dtype=numpy.uint8), bitorder="little").view(bool)
    held = field[rows[:, 0]]
    for column in range(1, rows.shape[1]):
        held &= field[rows[:, column]]
    return int(held.sum())


def size_in_bytes(bits: int) -> int:
    return -(-bits // 8)


def false_positives(bits: int, hashes: int, entries: int) -> float:
    """The probability that an id which is not among the entries seems to be (section 4, after Bloom)."""
    return float((1.0 - (1.0 - 1.0 / bits) ** (hashes * entries)) ** hashes)
