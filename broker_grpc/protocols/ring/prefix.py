"""What Pastry's rows and Tapestry's levels share: the slot of level and column holds the ids that begin with
one's own first digits and have that digit next."""

from __future__ import annotations

from broker_grpc.protocols.ring.identifiers import BITS, digit, digits_of
from broker_grpc.protocols.ring.tables import Slot


def slot_number(level: int, column: int, base_bits: int) -> int:
    return level << base_bits | column


def prefix_slot(me: int, level: int, column: int, base_bits: int) -> Slot:
    length = 1 << BITS - (level + 1) * base_bits
    above = level * base_bits
    kept = me >> (BITS - above) << (BITS - above) if above else 0
    return Slot(kept | column * length, length)


def prefix_slots(me: int, base_bits: int) -> list[Slot]:
    """By `slot_number`; the column of one's own digit is empty (length 0): that is the next level."""
    slots = []
    for level in range(digits_of(base_bits)):
        for column in range(1 << base_bits):
            slot = prefix_slot(me, level, column, base_bits)
            slots.append(Slot(slot.start, 0) if column == digit(me, level, base_bits) else slot)
    return slots
