"""Coins and samples, drawn per entity: the nth draw of a channel hangs on the seed, the channel and n alone.

So it does not matter who draws or in which order entities act: flow and machines draw alike. Users are ranked
by a keyed hash, and the sample is the lowest of them: it depends on no order of the subscribers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TypeVar

U = TypeVar("U", str, int)
WORD = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def identity(name: str) -> int:
    """64 bits of an entity's name."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big")


def mix(value: int) -> int:
    """Splitmix64's finaliser."""
    value = (value + GOLDEN) & WORD
    value = ((value ^ (value >> 30)) * FIRST) & WORD
    value = ((value ^ (value >> 27)) * SECOND) & WORD
    return value ^ (value >> 31)


def draw_key(seed: int, channel: int, number: int) -> int:
    """Of the nth draw of a channel, by its identity."""
    return mix(mix(mix(seed & WORD) ^ channel) ^ number)


def coin(key: int) -> float:
    """Uniform in [0, 1)."""
    return (mix(key) >> 11) / (1 << 53)


def rank(key: int, user: int) -> int:
    """Of a user, by its identity, in the draw of this key."""
    return mix(key ^ user)


def sample(key: int, users: Iterable[int], wanted: int) -> set[int]:
    """The `wanted` users of lowest rank."""
    return set(sorted(users, key=lambda user: (rank(key, user), user))[:wanted])


def cluster_identity(maker: int, number: int) -> int:
    """Of the nth cluster that a channel decides to make."""
    return mix(mix(maker ^ GOLDEN) + number)
