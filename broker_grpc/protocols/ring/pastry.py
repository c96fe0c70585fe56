"""Pastry: the numerically closest broker is responsible; each hop shares one digit more with the key."""

from __future__ import annotations

from collections.abc import Iterable

from broker_grpc.protocols.ring.identifiers import Member, apart, clockwise, digit, shared_digits
from broker_grpc.protocols.ring.prefix import number_of, numbered_slot, prefix_slots, slot_number
from broker_grpc.protocols.ring.tables import Slot, Tables, Usable, anyone


def closest(members: Iterable[Member], key: int) -> Member:
    """Of two that are equally near the one with the smaller id."""
    return min(members, key=lambda member: (apart(member.id, key), member.id))


class Pastry:
    """`Geometry` of Pastry (section 2.3 of its paper)."""

    def __init__(self, base_bits: int) -> None:
        self.base_bits = base_bits

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
        nearest = (tables.me, tables.predecessor, tables.successor)
        return closest(nearest, key) == tables.me

    def next_hop(self, tables: Tables, key: int, usable: Usable = anyone) -> Member | None:
        if self.is_responsible(tables, key):
            return None
        leaves = [member for member in tables.neighbours() if usable(member)]
        if self._in_leaf_set(tables, key):
            nearest = closest((tables.me, *leaves), key)
            return nearest if nearest != tables.me else closest(tables.neighbours(), key)
        me = tables.me.id
        shared = shared_digits(me, key, self.base_bits)
        number = slot_number(shared, digit(key, shared, self.base_bits), self.base_bits)
        for member in tables.entries.get(number, ()):
            if usable(member):
                return member
        return self._rare_case(tables, key, shared, usable)

    def _in_leaf_set(self, tables: Tables, key: int) -> bool:
        """Its range goes from the farthest leaf on one side to the farthest on the other; in a small ring all
        the way round."""
        first, last = tables.predecessors[-1].id, tables.successors[-1].id
        me = tables.me.id
        if clockwise(first, me) + clockwise(me, last) >= clockwise(first, last) + 1:
            return True
        return clockwise(first, key) <= clockwise(first, last)

    def _rare_case(self, tables: Tables, key: int, shared: int, usable: Usable) -> Member | None:
        """No entry: a broker with as long a prefix that is numerically closer than this one."""
        mine = apart(tables.me.id, key)
        closer = [
            member
            for member in tables.known()
            if shared_digits(member.id, key, self.base_bits) >= shared
            and apart(member.id, key) < mine
            and usable(member)
        ]
        if closer:
            return closest(closer, key)
        onward = clockwise(tables.me.id, key) <= clockwise(key, tables.me.id)
        return tables.successor if onward else tables.predecessor
