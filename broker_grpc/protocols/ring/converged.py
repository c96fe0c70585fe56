"""The tables of all brokers, computed from the membership: a start without join traffic, and the oracle.

Ids are sorted once; all entries of all brokers are then found by binary search in one array operation per
level.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from broker_grpc.protocols.ring.geometry import geometry_of
from broker_grpc.protocols.ring.identifiers import BITS, Member, digits_of, shared_digits
from broker_grpc.protocols.ring.settings import RingSettings
from broker_grpc.protocols.ring.tables import Tables

Rtt = Callable[[str, str], int]
Indices = NDArray[np.int64]
Ids = NDArray[np.uint64]
NOBODY = -1


class TwoWithOneId(ValueError):
    def __init__(self, one: Member, other: Member) -> None:
        self.members = one, other
        super().__init__(f"{one.broker!r} and {other.broker!r} have the same id {one.id:#018x}")


class Converged:
    """A ring at rest. `rtt_us(a, b)` is asked only with proximity."""

    def __init__(self, members: Iterable[Member], settings: RingSettings, rtt_us: Rtt | None = None) -> None:
        self.settings = settings
        self.geometry = geometry_of(settings)
        self.members = sorted(members)
        for one, other in zip(self.members, self.members[1:], strict=False):
            if one.id == other.id:
                raise TwoWithOneId(one, other)
        self._ids: Ids = np.array([member.id for member in self.members], np.uint64)
        self._index = {member.broker: index for index, member in enumerate(self.members)}
        self._rtt_us = rtt_us
        self._tables: dict[int, Tables] = {}

    # ------------------------------------------------------------ tables

    def tables(self, broker: str) -> Tables:
        index = self._index[broker]
        found = self._tables.get(index)
        if found is None:
            found = self._tables[index] = self._tables_of(index)
        return found

    def _tables_of(self, index: int) -> Tables:
        count = len(self.members)
        side = min(self.settings.side, count - 1)
        return Tables(
            self.members[index],
            [self.members[(index - step) % count] for step in range(1, side + 1)],
            [self.members[(index + step) % count] for step in range(1, side + 1)],
            self._entries(index),
        )

    def _entries(self, index: int) -> dict[int, tuple[Member, ...]]:
        firsts, sizes = self._slots
        found = {}
        for slot in np.flatnonzero(sizes[index]).tolist():
            first, size = int(firsts[index, slot]), int(sizes[index, slot])
            found[slot] = self._chosen(self.members[index].broker, first, size)
        return found

    def _chosen(self, broker: str, first: int, size: int) -> tuple[Member, ...]:
        """Of the members of a slot the first, or the nearest of the first few."""
        settings, count = self.settings, len(self.members)
        kept = 1 + settings.backups if settings.kind == "tapestry" else 1
        looked_at = settings.candidates if settings.proximity else kept
        candidates = [self.members[(first + step) % count] for step in range(min(size, looked_at))]
        rtt_us = self._rtt_us
        if settings.proximity and rtt_us is not None:
            candidates.sort(key=lambda member: rtt_us(broker, member.broker))
        return tuple(candidates[:kept])

    @cached_property
    def _slots(self) -> tuple[Indices, Indices]:
        """By member and slot: the index of its first member, and how many members it has."""
        return self._fingers() if self.settings.kind == "chord" else self._columns()

    def _fingers(self) -> tuple[Indices, Indices]:
        count = len(self.members)
        powers = np.uint64(1) << np.arange(BITS, dtype=np.uint64)
        starts = self._ids[:, None] + powers  # wraps around, as it should
        ends = starts + powers
        firsts = np.searchsorted(self._ids, starts)
        lasts = np.searchsorted(self._ids, ends)
        sizes = lasts - firsts + count * (ends < starts)  # the last finger of all ends at one's own id
        return firsts % count, np.where(sizes > 0, sizes, 0)

    def _columns(self) -> tuple[Indices, Indices]:
        bits = self.settings.base_bits
        firsts, sizes = [], []
        for level in range(self._levels()):
            first, size = self._level(level, bits)
            firsts.append(first)
            sizes.append(size)
        return np.concatenate(firsts, 1), np.concatenate(sizes, 1)

    def _levels(self) -> int:
        """Deeper ones are empty everywhere: the longest common prefix is one of two neighbours."""
        ids = [member.id for member in self.members]
        pairs = itertools.pairwise(ids)
        longest = max((shared_digits(a, b, self.settings.base_bits) for a, b in pairs), default=0)
        return min(longest + 1, digits_of(self.settings.base_bits))

    def _level(self, level: int, bits: int) -> tuple[Indices, Indices]:
        below = np.uint64(BITS - (level + 1) * bits)
        columns = np.arange(1 << bits, dtype=np.uint64)
        own = (self._ids >> below) & np.uint64((1 << bits) - 1)
        kept = (self._ids >> below) - own  # the prefix, with a zero for this digit
        starts = (kept[:, None] + columns) << below
        ends = starts + ((np.uint64(1) << below) - np.uint64(1))
        firsts = np.searchsorted(self._ids, starts)
        sizes = np.searchsorted(self._ids, ends, "right") - firsts
        sizes[columns[None, :] == own[:, None]] = 0
        return firsts % len(self.members), sizes

    # ------------------------------------------------------------ routes

    def next_hop(self, broker: str, key: int) -> str | None:
        member = self.geometry.next_hop(self.tables(broker), key)
        return member.broker if member is not None else None

    def route(self, broker: str, key: int) -> list[str]:
        """From this broker, itself included, to the one that is responsible."""
        route = [broker]
        while (onward := self.next_hop(route[-1], key)) is not None:
            if onward in route:
                raise AssertionError(f"the route of {key:#018x} leads in a circle: {[*route, onward]}")
            route.append(onward)
        return route

    def responsible(self, key: int) -> str:
        return self.route(self.members[0].broker, key)[-1]

    def parents(self, key: int) -> Indices:
        """By member in the order of ids: the index of its next hop to this key, NOBODY for the root."""
        hops = [self.next_hop(member.broker, key) for member in self.members]
        return np.array([NOBODY if hop is None else self._index[hop] for hop in hops], np.int64)

    def depths(self, key: int) -> Indices:
        """Hops to the root, by member."""
        parents = self.parents(key)
        at, depths = np.arange(len(parents)), np.zeros(len(parents), np.int64)
        for _ in range(self.settings.hop_limit):
            at = np.where(at == NOBODY, NOBODY, parents[at])
            depths += at != NOBODY
        return depths
