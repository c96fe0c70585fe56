"""A broker's part in user placement (section 4, algorithm 1).

Brokers of a cluster tell each other their topics and load every T_update. When a client has changed its
subscriptions the broker computes its utility with each broker of the cluster, as it was told last, and sends
it to the best. A client that another broker has sent here stays until it changes its subscriptions again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

import msgspec

from broker_grpc.protocols.dynatops.kinds import PLACED
from broker_grpc.protocols.dynatops.settings import DynatopsSettings
from broker_grpc.protocols.dynatops.user_placement import BrokerState, best_broker
from protos.body import Body
from protos.dynatops_messages import ClusterView, UserSent
from protos.records import LogEvent
from protos.relocation_messages import PingAnswer, PingRequest

AWAY_US = (
    60_000_000  # a client that was sent here or away is not placed again for so long, if nothing is heard
)


class PlacingHost(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def now_us(self) -> int: ...

    def wanted_by(self, client: str) -> frozenset[str]:
        """s_u"""

    def own_state(self, without: str = "") -> BrokerState:
        """As others see it; `without` a client: as if that one were not here."""

    def send(self, peer: str, body: Body, request: int = 0) -> None: ...

    def redirect(self, client: str, broker: str) -> None: ...

    def log(self, event: LogEvent) -> None: ...


class Placing:
    def __init__(self, host: PlacingHost, settings: DynatopsSettings, cluster: Iterable[str]) -> None:
        self._host = host
        self._settings = settings
        self.others = sorted(set(cluster) - {host.id})
        self.view: dict[str, BrokerState] = {}
        self._due: dict[str, int] = {}  # client -> placed at
        self._sent_here: dict[str, int] = {}  # client -> until
        self._sent_away: dict[str, int] = {}
        self._tell_at: int | None = 0 if self._tells else None

    @property
    def _tells(self) -> bool:
        return self._settings.placement == "similarity" and bool(self.others)

    @property
    def settled(self) -> bool:
        return not self._due

    # ------------------------------------------------------------ what happens

    def told(self, peer: str, view: ClusterView) -> None:
        if peer in self.others:
            self.view[peer] = BrokerState(frozenset(view.topics), view.subscriptions)

    def will_come(self, client: str) -> None:
        """It need not be placed again, for what it brings along."""
        self._sent_here[client] = self._host.now_us + AWAY_US
        self._due.pop(client, None)

    def changed(self, client: str) -> None:
        """Its subscriptions. Those that it makes together are one change."""
        now_us = self._host.now_us
        if self._settings.placement == "static" or not self.others:
            return
        if self._sent_away.get(client, now_us) > now_us:
            return
        self._due[client] = now_us + self._settings.placement_delay_us

    def gone(self, client: str) -> None:
        for known in (self._due, self._sent_here, self._sent_away):
            known.pop(client, None)

    def measured(self, client: str, answer: PingAnswer) -> None:
        """The nearest broker: the smallest round trip, of two the smaller name."""
        allowed = {*self.others, self._host.id}
        near = sorted(
            (one.rtt_us, one.broker) for one in answer.rtts if one.rtt_us >= 0 and one.broker in allowed
        )
        if near:
            self._decided(client, near[0][1], {broker: float(rtt) for rtt, broker in near})

    # ------------------------------------------------------------ time

    def next_deadline_us(self) -> int | None:
        due = [at for at in (self._tell_at, min(self._due.values(), default=None)) if at is not None]
        return min(due, default=None)

    def deadline(self, now_us: int) -> None:
        if self._tell_at is not None and self._tell_at <= now_us:
            self._tell_at = now_us + self._settings.update_us
            self._tell()
        for client in sorted(client for client, at in self._due.items() if at <= now_us):
            del self._due[client]
            self._place(client)

    def _tell(self) -> None:
        mine = self._host.own_state()
        for peer in self.others:
            self._host.send(peer, ClusterView(tuple(sorted(mine.topics)), mine.subscriptions))

    # ------------------------------------------------------------ decisions

    def _place(self, client: str) -> None:
        wanted = self._host.wanted_by(client)
        if self._sent_here.pop(client, -1) >= self._host.now_us or not wanted:
            return
        if self._settings.placement == "nearest":
            return self._host.send(client, PingRequest("", tuple(sorted([*self.others, self._host.id]))))
        cluster = {**self.view, self._host.id: self._host.own_state(client)}  # no bias to stay
        best = best_broker(wanted, self._host.id, cluster, self._settings.load_weight)
        self._decided(client, best, similarities(wanted, cluster))

    def _decided(self, client: str, best: str, numbers: dict[str, float]) -> None:
        if best == self._host.id:
            return
        content = msgspec.json.encode(numbers).decode()
        self._host.log(LogEvent(kind=PLACED, peer=client, detail=best, content=content))
        self._sent_away[client] = self._host.now_us + AWAY_US
        self._host.send(best, UserSent(client))
        self._host.redirect(client, best)


def similarities(wanted: Collection[str], cluster: dict[str, BrokerState]) -> dict[str, float]:
    """For the log: how many of the wanted topics each broker has."""
    return {
        name: float(sum(topic in state.topics for topic in wanted)) for name, state in sorted(cluster.items())
    }
