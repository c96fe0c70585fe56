"""A ring without upkeep: its tables are computed once from a membership that does not change."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache

from broker_grpc.protocols.ring.converged import Converged, Rtt
from broker_grpc.protocols.ring.identifiers import Member, id_of
from broker_grpc.protocols.ring.record import changed
from broker_grpc.protocols.ring.settings import RingSettings
from broker_grpc.protocols.ring.substrate import RingHost, RingListener
from broker_grpc.protocols.ring.tables import Tables
from broker_grpc.protocols.ring.wishes import wishes
from protos.body import Body


def members_of(brokers: Iterable[str]) -> list[Member]:
    """With the ids that brokers take by themselves."""
    return [Member(id_of(broker), broker) for broker in brokers]


@lru_cache(maxsize=8)
def computed(members: tuple[Member, ...], settings: RingSettings, rtt_us: Rtt | None = None) -> Converged:
    """Once for all brokers of one process with the same membership: those of a simulation."""
    return Converged(members, settings, rtt_us)


class StaticRing:
    """`Substrate` on computed tables. It sends nothing and notices nobody's death."""

    def __init__(
        self,
        host: RingHost,
        settings: RingSettings,
        members: Iterable[Member],
        plane: int = 0,
        rtt_us: Rtt | None = None,
    ) -> None:
        self.plane = plane
        self.joined = True
        self.listeners: list[RingListener] = []
        self._host = host
        self._settings = settings
        self._members = {member.broker: member for member in members}
        self._rtt_us = rtt_us
        self._converged = self._computed()

    def _computed(self) -> Converged:
        return computed(tuple(sorted(self._members.values())), self._settings, self._rtt_us)

    @property
    def me(self) -> Member:
        return self._members[self._host.id]

    @property
    def tables(self) -> Tables:
        return self._converged.tables(self._host.id)

    def join(self, now_us: int, seeds: Collection[str]) -> None:
        """The seeds are of no use: all members are known."""
        self._host.log(changed(self.tables, self.plane, "", "joined"))
        self._host.demand(self.plane, self.wanted())
        self._moved()

    def leave(self, now_us: int) -> None:
        self._members = {self.me.broker: self.me}
        self._changed()

    def renumber(self, now_us: int, id_: int) -> None:
        """Others are not told: all have to be given the same membership."""
        self.replace(
            [*(one for one in self._members.values() if one != self.me), Member(id_, self.me.broker)]
        )

    def replace(self, members: Iterable[Member]) -> None:
        """Another membership, from one moment to the next."""
        self._members = {member.broker: member for member in members}
        self._changed()

    def _changed(self) -> None:
        self._converged = self._computed()
        self._host.demand(self.plane, self.wanted())
        self._moved()

    def _moved(self) -> None:
        for listener in self.listeners:
            listener.responsibility_moved()

    def next_hop(self, key: int) -> str | None:
        return self._converged.next_hop(self._host.id, key)

    def received(self, now_us: int, peer: str, body: Body) -> bool:
        return False

    def peer_up(self, now_us: int, peer: str) -> None:
        """Nothing is told."""

    def peer_down(self, now_us: int, peer: str) -> None:
        """The link pool dials again."""

    def deadline(self, now_us: int) -> None:
        """Nothing is ever due."""

    def next_deadline_us(self) -> int | None:
        return None

    def wanted(self) -> dict[str, str]:
        return wishes(self.tables)

    @property
    def settled(self) -> bool:
        return True
