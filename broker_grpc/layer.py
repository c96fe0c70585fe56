"""The seat of a relocation algorithm (POP, GRAPE) on the routing broker.

A layer sees publications come and go, gets every message of the relocation and migration types, and
acts through its host: it sends, logs, and changes the routing tables with a few operations. It never
knows another layer, a socket or a clock.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol

from broker_grpc.content.routing import Routing
from broker_grpc.service import Monitor
from protos.messages import Advertisement, Body, Envelope, Publication
from protos.records import LogEvent


class LayerHost(Protocol):
    """What the broker offers to its layer. Valid during a hook; effects leave in the order of the calls."""

    id: str
    random: random.Random
    monitor: Monitor
    routing: Routing

    def send(self, peer: str, body: Body, request: int = 0) -> None:
        """To a neighbour or a connected client; dropped (and logged) if there is no such peer."""

    def log(self, event: LogEvent) -> None: ...

    def neighbours(self) -> list[str]:
        """Brokers with a link that is up, sorted."""

    def clients(self) -> list[str]: ...

    def has_client(self, client: str) -> bool: ...

    # routing-table operations of POP 3.3; messages that follow from them are sent at once

    def accept_advertisement(self, advertisement: Advertisement, hop: str) -> None:
        """An advertisement that is new here, without telling any neighbour."""

    def move_advertisement(self, advertisement: str, hop: str) -> None:
        """Operations 1 and 3: new last hop; forward the subscriptions that match to it."""

    def drop_unmatched(self, hop: str) -> None:
        """Operation 2: drop subscriptions with this last hop that match no advertisement from elsewhere."""

    def forget_unmatched(self, neighbour: str) -> None:
        """The other end of operation 2: what the neighbour drops need not be taken back later."""


class Layer(Protocol):
    """Hooks, called by the broker. `now_us` never goes back."""

    def attach(self, host: LayerHost) -> None:
        """Called once, before anything else."""

    def publication_accepted(self, now_us: int, publication: Publication) -> Publication:
        """A local client published. Returns it, or a copy with a Trace."""

    def publication_processed(
        self, now_us: int, envelope: Envelope, source: str, neighbours: Sequence[str], subscribers: int
    ) -> None:
        """It came from `source` (broker or client) and goes to these neighbours and so many local subscribers."""

    def received(self, now_us: int, peer: str, envelope: Envelope) -> None:
        """A relocation or migration message from a broker or client."""

    def peer_up(self, now_us: int, peer: str) -> None: ...

    def peer_down(self, now_us: int, peer: str) -> None: ...

    def deadline(self, now_us: int) -> None: ...

    def next_deadline_us(self) -> int | None: ...
