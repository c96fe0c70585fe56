"""Who may say what: messages that only brokers, or only clients, send, and publications in one's own name."""

from __future__ import annotations

from broker_grpc.content.predicates import check_attributes
from broker_grpc.errors import ProtocolError
from broker_grpc.machine import PeerKind
from protos.envelope import TYPE_OF
from protos.messages import (
    Body,
    BrokerInformation,
    Heartbeat,
    HeartbeatAnswer,
    MigrationAdvertisement,
    MigrationComplete,
    MigrationPaused,
    MigrationUpdate,
    PingAnswer,
    Publication,
    RelocationAnswer,
    RelocationRequest,
    SyncComplete,
    TraceInformationAnswer,
    TraceInformationRequest,
    TraceResult,
)

FROM_BROKERS = frozenset(
    (SyncComplete, Heartbeat, HeartbeatAnswer, BrokerInformation, TraceResult, RelocationRequest,
     RelocationAnswer, TraceInformationRequest, TraceInformationAnswer, MigrationUpdate, MigrationComplete)
)  # fmt: skip
FROM_CLIENTS = frozenset((PingAnswer, MigrationPaused, MigrationAdvertisement))


def check_sender(sender: PeerKind, body: Body) -> None:
    """Raises ProtocolError for a message that is not this kind of peer's to send."""
    kind = body.__class__
    if kind in (FROM_BROKERS if sender == "client" else FROM_CLIENTS):
        raise ProtocolError(f"a {sender} does not send a {TYPE_OF[kind]}")


def check_published(client: str, publication: Publication) -> None:
    """Raises BrokerError for a publication that no broker takes from this client."""
    check_attributes(publication.attributes)
    if publication.publisher != client:
        raise ProtocolError(f"{client} publishes in the name of {publication.publisher!r}")
    if not publication.id:
        raise ProtocolError("a publication needs an id")
