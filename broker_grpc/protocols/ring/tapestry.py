"""Tapestry: each hop resolves one digit; where no broker has the digit, the next higher one, cyclically.

The broker at which that ends is the key's surrogate root. All brokers with the same first digits agree which
next digits exist, so they agree on the digits of the root, and the next hop needs nothing but the key.
"""

from __future__ import annotations

from broker_grpc.protocols.ring.identifiers import Member, digit, digits_of
from broker_grpc.protocols.ring.prefix import number_of, numbered_slot, prefix_slots, slot_number
from broker_grpc.protocols.ring.tables import Slot, Tables, Usable, anyone


class Tapestry:
    """`Geometry` of Tapestry (section III of its paper: surrogate routing)."""

    def __init__(self, base_bits: int) -> None:
        self.base_bits = base_bits
        self._base = 1 << base_bits

    def slots(self, me: int) -> list[Slot]:
        return prefix_slots(me, self.base_bits)

    def slot(self, me: int, number: int) -> Slot:
        return numbered_slot(me, number, self.base_bits)

    def slot_of(self, me: int, id_: int) -> int:
        return number_of(me, id_, self.base_bits)

    def numbers(self, nearest: int, farthest: int) -> range:
        """Levels below that of the neighbours are empty."""
        return range(((farthest >> self.base_bits) + 1) << self.base_bits)

    def is_responsible(self, tables: Tables, key: int) -> bool:
        return self.next_hop(tables, key) is None

    def next_hop(self, tables: Tables, key: int, usable: Usable = anyone) -> Member | None:
        """A column whose entries are all suspected is still a column: the first of them is waited for."""
        levels = 1 + max((number >> self.base_bits for number in tables.entries), default=-1)
        for level in range(min(levels, digits_of(self.base_bits))):
            entry = self._column(tables, key, level)
            if entry:
                return next((member for member in entry if usable(member)), entry[0])
        return None

    def _column(self, tables: Tables, key: int, level: int) -> tuple[Member, ...]:
        """The entry that resolves this level; empty when it is one's own digit."""
        own = digit(tables.me.id, level, self.base_bits)
        wanted = digit(key, level, self.base_bits)
        for step in range(self._base):
            column = (wanted + step) % self._base
            if column == own:
                return ()
            entry = tables.entries.get(slot_number(level, column, self.base_bits))
            if entry:
                return entry
        return ()
