"""What one broker knows of its ring, whichever it is.

The neighbours on either side, and one entry per `Slot`: a stretch of the circle, of which the entry is the
first member (or the nearest of the first few, with proximity). Chord's finger i is the slot
[id + 2^i, id + 2^(i+1)): its fingers are the entries of the slots that are not empty. An entry of Pastry's
rows and of Tapestry's levels is the slot of all ids with one prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from broker_grpc.protocols.ring.identifiers import Member, clockwise

Usable = Callable[[Member], bool]


class Slot(NamedTuple):
    """The ids from `start` on, `length` of them; it never goes round to the broker's own id."""

    start: int
    length: int

    def holds(self, id_: int) -> bool:
        return clockwise(self.start, id_) < self.length


class Tables:
    """`entries[i]`: members of slot i, the preferred one first; none where the slot is empty."""

    __slots__ = ("entries", "me", "predecessors", "successors")

    def __init__(
        self,
        me: Member,
        predecessors: Iterable[Member] = (),
        successors: Iterable[Member] = (),
        entries: dict[int, tuple[Member, ...]] | None = None,
    ) -> None:
        self.me = me
        self.predecessors = list(predecessors)  # the nearest first, without oneself
        self.successors = list(successors)
        self.entries: dict[int, tuple[Member, ...]] = entries if entries is not None else {}

    @property
    def predecessor(self) -> Member:
        """Oneself when one is alone."""
        return self.predecessors[0] if self.predecessors else self.me

    @property
    def successor(self) -> Member:
        return self.successors[0] if self.successors else self.me

    def neighbours(self) -> Iterator[Member]:
        yield from self.predecessors
        yield from self.successors

    def known(self) -> set[Member]:
        """All but oneself."""
        return {*self.neighbours(), *(one for entry in self.entries.values() for one in entry)}

    def copy(self) -> Tables:
        return Tables(self.me, self.predecessors, self.successors, dict(self.entries))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tables):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Tables({self.me}, {self.predecessors}, {self.successors}, {self.entries})"


def anyone(member: Member) -> bool:
    """The `Usable` of a ring in which nobody is suspected."""
    return True
