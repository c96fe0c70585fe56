"""What POP and GRAPE have in common as layers: phase 3, and the bookkeeping around it."""

from __future__ import annotations

from collections.abc import Sequence

from broker_grpc.protocols.contentbased.layer import ExchangeEnded, LayerHost
from broker_grpc.protocols.relocation.kinds import SELECTED
from broker_grpc.protocols.relocation.migration import Migration
from protos.body import Envelope
from protos.client_messages import Publication
from protos.records import LogEvent


class Relocation:
    """Base of the two layers; a subclass traces and selects."""

    host: LayerHost
    migration: Migration

    def attach(self, host: LayerHost) -> None:
        self.host = host
        self.migration = Migration(host, self.forget)

    # ------------------------------------------------------------ for subclasses

    def forget(self, advertisement: str) -> None:
        """Drop all that was traced of this advertisement."""
        raise NotImplementedError

    def received_other(self, now_us: int, peer: str, envelope: Envelope) -> None:
        raise NotImplementedError

    def neighbour_lost(self, now_us: int, peer: str) -> None:
        raise NotImplementedError

    def selected(
        self, now_us: int, advertisement: str, path: Sequence[str], started_us: int, detail: str
    ) -> None:
        """Phase 2 is over; path[0] is the selected broker. Moves the publisher unless it is there already."""
        target = path[0] if path else self.host.id
        self.host.log(
            LogEvent(kind=SELECTED, message=advertisement, peer=target, duration_us=now_us - started_us,
                     hops=max(0, len(path) - 1), detail=detail)
        )  # fmt: skip
        client = self.publisher_of(advertisement)
        if target != self.host.id and client is not None:
            self.migration.order(advertisement, client, tuple(path))

    def publisher_of(self, advertisement: str) -> str | None:
        """The local client that holds this advertisement."""
        route = self.host.routing.srt.get(advertisement)
        return route.hop if route is not None and self.host.has_client(route.hop) else None

    # ------------------------------------------------------------ the hooks

    def publication_accepted(self, now_us: int, publication: Publication) -> Publication:
        raise NotImplementedError

    def received(self, now_us: int, peer: str, envelope: Envelope) -> None:
        if not self.migration.received(peer, envelope):
            self.received_other(now_us, peer, envelope)

    def peer_up(self, now_us: int, peer: str) -> None:
        pass

    def peer_down(self, now_us: int, peer: str) -> None:
        self.migration.peer_down(peer)
        self.neighbour_lost(now_us, peer)

    def trip_measured(self, now_us: int, broker: str, rtt_us: int) -> None:
        pass

    def objection(self) -> str:
        return "its publishers may be moving"

    def exchange_ended(self, now_us: int, ended: ExchangeEnded) -> None:
        pass
