"""The seat of an algorithm (POP, GRAPE, link exchange by interest) on the routing broker.

A layer sees publications come and go, gets every message that the broker has no action for, and
acts through its host: it sends, logs, changes the routing tables with a few operations, and orders the
exchange of overlay links. It never knows another layer, a socket or a clock.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from broker_grpc.core.monitor import Monitor
from broker_grpc.core.options import BrokerOptions
from broker_grpc.protocols.contentbased.routing import Routing, Told
from protos.body import Body, Envelope
from protos.client_messages import Advertisement, Publication
from protos.records import LogEvent


class ExchangeEnded(msgspec.Struct, frozen=True):
    """How an exchange of overlay links ended, as one broker of its cycle tells its layer."""

    id: str
    outcome: Literal["done", "aborted", "refused"]
    path: tuple[str, ...]  # of the old tree, from one end of the new link to the other; () = none was found
    removed: tuple[str, str]
    reason: str  # of what was aborted or refused
    duration_us: int
    ordered_here: bool

    @property
    def added(self) -> tuple[str, str]:
        return self.path[0], self.path[-1]


class LayerHost(Protocol):
    """What the broker offers to its layer. Valid during a hook; effects leave in the order of the calls."""

    id: str
    options: BrokerOptions
    random: random.Random
    monitor: Monitor
    routing: Routing

    def send(self, peer: str, body: Body, request: int = 0) -> None:
        """To a neighbour or a connected client; dropped (and logged) if there is no such peer."""

    def log(self, event: LogEvent) -> None: ...

    def neighbours(self) -> list[str]:
        """Brokers with a link of the tree that is up, sorted."""

    def clients(self) -> list[str]: ...

    def has_client(self, client: str) -> bool: ...

    def tell(self, told: list[Told]) -> None:
        """Send the messages that a change of the routing tables asks for."""

    def accept_advertisement(self, advertisement: Advertisement, hop: str) -> None:
        """An advertisement that every neighbour knows, as one that came from this hop."""

    def rtt_us(self, neighbour: str) -> int | None:
        """Of the last heartbeat that this neighbour answered; None = none yet (`heartbeat_interval_us`)."""

    def measure_trip(self, broker: str) -> None:
        """Ask for the round trip to any broker; `Layer.trip_measured` is called if it answers."""

    def exchange(self, to: str, remove: tuple[str, str], path: Sequence[str] = (), detail: str = "") -> str:
        """Order a link from this broker to `to`, in place of the link `remove`; returns the exchange's id.

        `path`: the brokers from here to `to` along the tree, both included; without it the way is searched
        first. `remove`: two that follow each other on it, in any order. `detail` goes to the record EXCHANGED
        (a cost vector, say). Nothing of it is known to be true here: whoever finds it wrong, or is taking
        part in another exchange, refuses.

        The end comes as `Layer.exchange_ended`, exactly once, here and at every broker of the cycle that
        had agreed; never from inside this call. Until then the tree is the old one in every answer of the
        host. `done`: the new link is up and the old one gone, no publication lost, doubled or out of order.
        `refused`, `aborted`: the tree is as it was, and the order may be given again.
        """

    def exchanging(self) -> str:
        """The id of the exchange in which this broker takes part, or for which it searches; "" = none."""


class Layer(Protocol):
    """Hooks, called by the broker. `now_us` never goes back."""

    def attach(self, host: LayerHost) -> None:
        """Called once, before anything else."""

    def publication_accepted(self, now_us: int, publication: Publication) -> Publication:
        """A local client published. Returns it, or a copy with a Trace."""

    def publication_processed(
        self, now_us: int, envelope: Envelope, source: str, neighbours: Sequence[str], subscribers: int
    ) -> None:
        """From `source` (broker or client) to these neighbours and so many local subscribers."""

    def received(self, now_us: int, peer: str, envelope: Envelope) -> None:
        """A relocation or migration message from a broker or client."""

    def peer_up(self, now_us: int, peer: str) -> None: ...

    def peer_down(self, now_us: int, peer: str) -> None: ...

    def trip_measured(self, now_us: int, broker: str, rtt_us: int) -> None:
        """What `LayerHost.measure_trip` asked for."""

    def deadline(self, now_us: int) -> None: ...

    def next_deadline_us(self) -> int | None: ...

    def objection(self) -> str:
        """Why this broker must not take part in an exchange of links now; "" = it may."""

    def exchange_ended(self, now_us: int, ended: ExchangeEnded) -> None:
        """An exchange in which this broker took part, or which it ordered, has ended.

        After a `done` one, `peer_up` and `peer_down` were called for the links that it gave and took.
        """
