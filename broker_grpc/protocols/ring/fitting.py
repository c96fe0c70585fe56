"""Which of the brokers that one has met belong in one's tables. Pure but for the tables it changes."""

from __future__ import annotations

from collections.abc import Callable

from broker_grpc.protocols.ring.geometry import Geometry
from broker_grpc.protocols.ring.identifiers import Member, clockwise
from broker_grpc.protocols.ring.settings import RingSettings
from broker_grpc.protocols.ring.tables import Slot, Tables

Rtt = Callable[[str], int | None]
UNMEASURED = 1 << 62


class Fitting:
    """The rules of one ring. `rtt_us` is asked only with proximity."""

    def __init__(self, settings: RingSettings, geometry: Geometry, rtt_us: Rtt) -> None:
        self._side = settings.side
        self._kept = 1 + settings.backups if settings.kind == "tapestry" else 1
        self._proximity = settings.proximity
        self._geometry = geometry
        self._rtt_us = rtt_us

    # ------------------------------------------------------------ neighbours

    def is_neighbour(self, tables: Tables, id_: int) -> bool:
        """Whether a broker with this id would be one on either side."""
        me = tables.me.id
        return self._is_near(tables.predecessors, lambda one: clockwise(one, me), id_) or self._is_near(
            tables.successors, lambda one: clockwise(me, one), id_
        )

    def _is_near(self, side: list[Member], distance: Callable[[int], int], id_: int) -> bool:
        return len(side) < self._side or distance(id_) < distance(side[-1].id)

    def add_neighbour(self, tables: Tables, member: Member) -> bool:
        """Whether it is one now and was none."""
        me, was = tables.me.id, member in tables.predecessors or member in tables.successors
        for side, distance in (
            (tables.predecessors, lambda one: clockwise(one.id, me)),
            (tables.successors, lambda one: clockwise(me, one.id)),
        ):
            if member not in side:
                side.append(member)
                side.sort(key=distance)
                del side[self._side :]
        return not was and (member in tables.predecessors or member in tables.successors)

    # ------------------------------------------------------------ slots

    def is_better(self, tables: Tables, member: Member) -> bool:
        """Whether it would come into the slot that it is in."""
        number = self._geometry.slot_of(tables.me.id, member.id)
        entry = tables.entries.get(number, ())
        if member in entry:
            return False
        return member in self._best(tables, number, (*entry, member))

    def add_entry(self, tables: Tables, member: Member) -> bool:
        number = self._geometry.slot_of(tables.me.id, member.id)
        entry = tables.entries.get(number, ())
        best = self._best(tables, number, (*(one for one in entry if one != member), member))
        if best == entry:
            return False
        tables.entries[number] = best
        return True

    def _best(self, tables: Tables, number: int, members: tuple[Member, ...]) -> tuple[Member, ...]:
        start = self._geometry.slot(tables.me.id, number).start
        if not self._proximity:
            ranked = sorted(members, key=lambda one: clockwise(start, one.id))
        else:
            ranked = sorted(members, key=lambda one: (self._measured(one), clockwise(start, one.id)))
        return tuple(ranked[: self._kept])

    def _measured(self, member: Member) -> int:
        rtt = self._rtt_us(member.broker)
        return UNMEASURED if rtt is None else rtt

    # ------------------------------------------------------------ what has to be asked

    def covers(self, tables: Tables, slot: Slot) -> bool:
        """Whether all members of this slot are neighbours, known without asking."""
        if len(tables.predecessors) < self._side or len(tables.successors) < self._side:
            return True  # a small ring: everybody is
        first, last, me = tables.predecessors[-1].id, tables.successors[-1].id, tables.me.id
        span = clockwise(first, me) + clockwise(me, last)
        return clockwise(first, slot.start) + slot.length - 1 <= span

    def to_ask(self, tables: Tables) -> list[int]:
        """The numbers of all slots whose members have to be asked for."""
        if not tables.predecessors or not tables.successors:
            return []
        me = tables.me.id
        near = (tables.predecessor.id, tables.successor.id)
        deepest = [self._geometry.slot_of(me, id_) for id_ in near]
        return [
            number
            for number in self._geometry.numbers(min(deepest), max(deepest))
            if (slot := self._geometry.slot(me, number)).length and not self.covers(tables, slot)
        ]


def remove(tables: Tables, broker: str) -> bool:
    """Whether anything of this broker was in the tables."""
    before = len(tables.predecessors) + len(tables.successors)
    tables.predecessors = [one for one in tables.predecessors if one.broker != broker]
    tables.successors = [one for one in tables.successors if one.broker != broker]
    was = len(tables.predecessors) + len(tables.successors) < before
    for number, entry in list(tables.entries.items()):
        left = tuple(one for one in entry if one.broker != broker)
        if len(left) < len(entry):
            was = True
            if left:
                tables.entries[number] = left
            else:
                del tables.entries[number]
    return was
