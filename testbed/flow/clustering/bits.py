"""Sets of users as rows of packed words: one row per channel, overlaps by AND and popcount."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from broker_grpc.protocols.clustering.draws import FIRST, GOLDEN, SECOND

Words = NDArray[np.uint64]
Users = NDArray[np.int64]


class Rows:
    """Bit u of row e: whether user u is in e. `sizes` is kept with them."""

    def __init__(self, rows: int, users: int) -> None:
        self.users = users
        self.words: Words = np.zeros((rows, (users + 63) // 64), np.uint64)
        self.sizes = [0] * rows

    def grow(self) -> None:
        """To twice as many rows."""
        self.words = np.concatenate([self.words, np.zeros_like(self.words)])
        self.sizes += [0] * len(self.sizes)

    def add(self, row: int, user: int) -> None:
        self.words[row, user >> 6] |= np.uint64(1 << (user & 63))
        self.sizes[row] += 1

    def drop(self, row: int, user: int) -> None:
        self.words[row, user >> 6] ^= np.uint64(1 << (user & 63))
        self.sizes[row] -= 1

    def put(self, row: int, words: Words) -> None:
        self.words[row] = words
        self.sizes[row] = count(words)

    def of(self, row: int) -> Users:
        return members(self.words[row], self.users)


def count(words: Words) -> int:
    return int(np.bitwise_count(words).sum())


def counts(rows: Words, mask: Words) -> NDArray[np.int64]:
    """How many of `mask` are in each row."""
    found: NDArray[np.int64] = np.bitwise_count(rows & mask).sum(axis=1, dtype=np.int64)
    return found


def members(words: Words, users: int) -> Users:
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), count=users, bitorder="little"))


def packed(chosen: Users, width: int) -> Words:
    """A row with these users."""
    flags = np.zeros(width * 64, np.uint8)
    flags[chosen] = 1
    return np.packbits(flags, bitorder="little").view(np.uint64)


def ranks(key: int, identities: Words) -> Words:
    """`draws.rank` of many users at once."""
    value = (identities ^ np.uint64(key)) + np.uint64(GOLDEN)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(FIRST)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(SECOND)
    return value ^ (value >> np.uint64(31))


def sampled(key: int, users: Users, identities: Words, wanted: int) -> Users:
    """`draws.sample` of these users."""
    if wanted >= len(users):
        return users
    return users[np.argpartition(ranks(key, identities[users]), wanted - 1)[:wanted]]
