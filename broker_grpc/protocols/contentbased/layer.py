"""The seat of a relocation algorithm (POP, GRAPE) on the routing broker.

A layer sees publications come and go, gets every message of the relocation and migration types, and
acts through its host: it sends, logs, and changes the routing tables with a few operations. It never
knows another layer, a socket or a clock.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol

from broker_grpc.core.monitor import Monitor
from broker_grpc.protocols.contentbased.routing import Routing, Told
from protos.body import Body, Envelope
from protos.client_messages import Advertisement, Publication
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

    def tell(self, told: list[Told]) -> None:
        """Send the messages that a change of the routing tables asks for."""

    def accept_advertisement(self, advertisement: Advertisement, hop: str) -> None:
        """An advertisement that every neighbour knows, as one that came from this hop."""


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

    def deadline(self, now_us: int) -> None: ...

    def next_deadline_us(self) -> int | None: ...
