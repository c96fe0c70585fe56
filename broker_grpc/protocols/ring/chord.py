"""Chord: the successor of a key is responsible; the next hop is the farthest finger not past the key."""

from __future__ import annotations

from broker_grpc.protocols.ring.identifiers import BITS, MASK, Member, clockwise
from broker_grpc.protocols.ring.tables import Slot, Tables, Usable, anyone


class Chord:
    """`Geometry` of Chord. Finger i of the paper (section 4.3) is entry i, or the next there is."""

    def slots(self, me: int) -> list[Slot]:
        return [self.slot(me, i) for i in range(BITS)]

    def slot(self, me: int, number: int) -> Slot:
        return Slot((me + (1 << number)) & MASK, 1 << number)

    def slot_of(self, me: int, id_: int) -> int:
        return clockwise(me, id_).bit_length() - 1

    def numbers(self, nearest: int, farthest: int) -> range:
        """Fingers before the successor's are empty."""
        return range(nearest, BITS)

    def is_responsible(self, tables: Tables, key: int) -> bool:
        """Keys after the predecessor, up to oneself."""
        before, me = tables.predecessor.id, tables.me.id
        return before == me or 0 < clockwise(before, key) <= clockwise(before, me)

    def next_hop(self, tables: Tables, key: int, usable: Usable = anyone) -> Member | None:
        """The target itself counts as not past the target.

        The list of successors is for repair only: were it used for routing, routes would depend on its
        length.
        """
        if self.is_responsible(tables, key):
            return None
        owner = self._suspected_owner(tables, key, usable)
        if owner is not None:
            return owner
        me = tables.me.id
        distance = clockwise(me, key)
        for slot in range(distance.bit_length() - 1, -1, -1):
            for member in tables.entries.get(slot, ()):
                if clockwise(me, member.id) <= distance and usable(member):
                    return member
        return self._among_successors(tables, distance, usable)

    def _suspected_owner(self, tables: Tables, key: int, usable: Usable) -> Member | None:
        """The key is that of a predecessor that may be dead, and nobody stands between: it is waited for.
        All others pass it over and send to this broker; from here it would go round in a circle."""
        me = tables.me.id
        owner: Member | None = None
        for member in tables.predecessors:
            if clockwise(member.id, me) > clockwise(key, me):
                return owner
            if usable(member):
                return None
            owner = member
        return None

    def _among_successors(self, tables: Tables, distance: int, usable: Usable) -> Member | None:
        """Without a finger it is the successor's, or, while that one is suspected, the next one's."""
        for member in tables.successors:
            if usable(member):
                return member
        return tables.successor if tables.successors else None
