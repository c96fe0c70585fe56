"""What Pastry's rows and Tapestry's levels share: the slot of level and column holds the ids that begin with
one's own first digits and have that digit next."""

from __future__ import annotations

from broker_grpc.protocols.ring.identifiers import BITS, digit, digits_of, shared_digits
from broker_grpc.protocols.ring.tables import Slot


def slot_number(level: int, column: int, base_bits: int) -> int:
    return level << base_bits | column


def prefix_slot(me: int, level: int, column: int, base_bits: int) -> Slot:
    length = 1 << BITS - (level + 1) * base_bits
    above = level * base_bits
    kept = me >> (BITS - above) << (BITS - above) if above else 0
    return Slot(kept | column * length, length)


def number_of(me: int, id_: int, base_bits: int) -> int:
    """The slot in which an id is; it is not one's own."""
    level = shared_digits(me, id_, base_bits)
    return slot_number(level, digit(id_, level, base_bits), base_bits)


def numbered_slot(me: int, number: int, base_bits: int) -> Slot:
    """The column of one's own digit is empty (length 0): that is the next level."""
    level, column = number >> base_bits, number & (1 << base_bits) - 1
    slot = prefix_slot(me, level, column, base_bits)
    return Slot(slot.start, 0) if column == digit(me, level, base_bits) else slot


def prefix_slots(me: int, base_bits: int) -> list[Slot]:
    return [numbered_slot(me, number, base_bits) for number in range(digits_of(base_bits) << base_bits)]
