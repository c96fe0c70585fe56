"""Identifiers of brokers and keys of topics: numbers on a circle of 2^64, and their digits."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

BITS = 64
SPAN = 1 << BITS
MASK = SPAN - 1


class Member(NamedTuple):
    """A broker and its place on the circle."""

    id: int
    broker: str


def key_of(text: str) -> int:
    """The first 64 bits of the SHA-1 of a topic's name."""
    return int.from_bytes(hashlib.sha1(text.encode(), usedforsecurity=False).digest()[: BITS // 8], "big")


def id_of(broker: str, attempt: int = 0) -> int:
    """Where a broker is when nobody says otherwise. `attempt`: after so many ids that were taken."""
    return key_of(f"broker {broker}" if not attempt else f"broker {broker} {attempt}")


def is_id(number: object) -> bool:
    return isinstance(number, int) and 0 <= number < SPAN


def clockwise(start: int, end: int) -> int:
    """How far it is from one to the other in the direction of growing ids."""
    return (end - start) & MASK


def apart(a: int, b: int) -> int:
    """The shorter way between the two."""
    there = (b - a) & MASK
    return min(there, SPAN - there)


def digits_of(base_bits: int) -> int:
    """How many digits an id has."""
    return BITS // base_bits


def digit(id_: int, level: int, base_bits: int) -> int:
    """The digit at this level; level 0 is the most significant one."""
    return id_ >> (BITS - (level + 1) * base_bits) & ((1 << base_bits) - 1)


def shared_digits(a: int, b: int, base_bits: int) -> int:
    """The length of the common prefix."""
    return (BITS - (a ^ b).bit_length()) // base_bits
