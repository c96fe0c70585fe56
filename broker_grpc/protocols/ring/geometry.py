"""Chord, Pastry and Tapestry differ in two things: which slots there are, and the rule for the next hop."""

from __future__ import annotations

from typing import Protocol

from broker_grpc.protocols.ring.chord import Chord
from broker_grpc.protocols.ring.identifiers import Member
from broker_grpc.protocols.ring.pastry import Pastry
from broker_grpc.protocols.ring.settings import RingSettings
from broker_grpc.protocols.ring.tables import Slot, Tables, Usable, anyone
from broker_grpc.protocols.ring.tapestry import Tapestry


class Geometry(Protocol):
    """Pure: the same tables give the same answers."""

    def slots(self, me: int) -> list[Slot]:
        """All, by number."""

    def slot(self, me: int, number: int) -> Slot: ...

    def slot_of(self, me: int, id_: int) -> int:
        """The number of the slot in which this id is, which is not one's own."""

    def numbers(self, nearest: int, farthest: int) -> range:
        """Of the slots that may have members, given the numbers of the two neighbours' slots: the smaller
        one and the larger."""

    def is_responsible(self, tables: Tables, key: int) -> bool: ...

    def next_hop(self, tables: Tables, key: int, usable: Usable = anyone) -> Member | None:
        """None: responsible here. Those who are not `usable` are passed over where another will do."""


def geometry_of(settings: RingSettings) -> Geometry:
    match settings.kind:
        case "chord":
            return Chord()
        case "pastry":
            return Pastry(settings.base_bits)
        case "tapestry":
            return Tapestry(settings.base_bits)
