"""What a protocol says to the node that it is: each with what follows when it says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from broker_grpc.core.links import Peer
from broker_grpc.errors import ProtocolError
from broker_grpc.machine import PeerKind
from protos.body import Body, Envelope
from protos.client_messages import Publication
from protos.content_messages import Value


class Hooks:
    """Called by `core.node` while it handles a stimulus; what they send and log leaves with its effects."""

    __slots__ = ()

    id: str

    # ------------------------------------------------------------ publications

    def _match(self, attributes: Mapping[str, Value]) -> tuple[set[str], int]:
        """With a service model, as the service of a publication starts: where it will go, and how many
        filters were looked at to know it."""
        return set(), 0

    def _publication(
        self, now_us: int, source: str, kind: PeerKind | None, envelope: Envelope,
        targets: set[str] | None, queueing_us: int, matching_us: int,
    ) -> None:  # fmt: skip
        """A publication arrived, or its service has ended.

        `kind`: whose stream it came on, which may have ended since; None = there was none.
        `targets`: what `_match` found; None = it was not asked, because nothing takes time. The node's own
        answer is that of a message which nobody has use for.
        """
        raise NotImplementedError

    def _check_publication(self, source: str, publication: Publication) -> None:
        """Raises BrokerError when this client may not publish it here."""

    # ------------------------------------------------------------ other messages, peers

    def _other(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        """A message without an action."""
        raise ProtocolError(f"{self.id} has no use for {body.type}")

    def _up(self, peer: Peer) -> None:
        """It may be told what it has to know."""

    def _down(self, peer: Peer) -> None:
        """It is no longer among the links."""

    def _instruct(self, name: str, arguments: dict[str, Any]) -> None:
        """Whoever runs the broker wants this of it. Raises BrokerError for what it cannot do."""
        raise ProtocolError(f"{self.id} knows no instruction {name!r}")

    def _say_farewell(self) -> None:
        """This broker is about to be stopped."""

    # ------------------------------------------------------------ questions

    def _synced(self) -> dict[str, bool]:
        """Neighbours with a link that is up, sorted: does each end hold what the other has to say?

        The node's own answer counts the two rounds of SyncComplete (`Peer.synced`).
        """
        raise NotImplementedError

    def _held(self) -> tuple[int, int]:
        """Advertisements and subscriptions."""
        return 0, 0
