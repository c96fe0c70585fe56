"""Who may say what: messages that only brokers, or only clients, send."""

from __future__ import annotations

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
