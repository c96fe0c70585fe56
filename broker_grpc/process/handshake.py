"""Hellos: the first message on every stream in both directions, and who may claim which id.

A peer proves its id by its certificate where there is TLS. Without it, a broker must come from the address
that the configuration gives for that id, and a client id in use can only be taken over from the same address
and by a later incarnation (a restart or a reconnection).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping

from broker_grpc.core.crossing import taken, takes_over
from broker_grpc.core.limits import Limits
from broker_grpc.errors import BrokerError, DuplicateError, LimitExceeded, ProtocolError
from broker_grpc.machine import PeerKind
from broker_grpc.process.eventlog import EventLog
from broker_grpc.process.session import Session
from broker_grpc.process.transport import Stream, StreamLost
from protos.body import Envelope
from protos.core_messages import Hello, Refusal
from protos.core_messages import PeerKind as WireKind
from protos.envelope import VERSION, MalformedEnvelope, UnknownMessage, decode, encode, encoded_size
from protos.records import LogEvent

WIRE_KIND: dict[PeerKind, WireKind] = {"broker": WireKind.BROKER, "client": WireKind.CLIENT}
MAX_ID_LENGTH = 100


def hello(identity: str, kind: PeerKind, incarnation: int) -> bytes:
    return encode(Envelope(Hello(identity, WIRE_KIND[kind], VERSION, incarnation), 0, 0, VERSION))


class RefusedByPeer(ProtocolError):
    """What came in place of a hello."""

    def __init__(self, refusal: Refusal, size: int) -> None:
        super().__init__(f"refused by the peer: {refusal.reason}: {refusal.detail}")
        self.size = size


async def refuse_hello(stream: Stream, error: BrokerError, log: EventLog, peer: str) -> None:
    """Say why, and let the stream end. `peer` is empty where its hello could not be read."""
    log.write(LogEvent(kind="REFUSED", type="hello", detail=f"{error.reason}: {error}"))
    data = encode(Envelope(Refusal(error.reason, str(error)), 0, 0, VERSION))
    with contextlib.suppress(StreamLost):
        await stream.write(data)
        if peer:
            log_sent(log, peer, "refusal", len(data))


# Hellos and their refusals cross the wire like all else: log and capture must tell of the same messages.


def log_sent(log: EventLog, peer: str, type_: str, size: int) -> None:
    log.write(LogEvent(kind="SENT", type=type_, peer=peer, bytes=size))


def log_received(log: EventLog, peer: str, type_: str, size: int) -> None:
    log.write(LogEvent(kind="RECEIVED", type=type_, peer=peer, bytes=size))


def log_hello(log: EventLog, received: Hello) -> None:
    log_received(log, received.id, "hello", encoded_size(Envelope(received, 0, 0, VERSION)))


async def read_hello(stream: Stream, kind: PeerKind, limits: Limits) -> Hello:
    """The peer's hello. ProtocolError when it is none or a wrong one, StreamLost when none comes."""
    try:
        async with asyncio.timeout(limits.hello_timeout_us / 1e6):
            data = await stream.read()
    except TimeoutError:
        raise StreamLost("no hello in time") from None
    if data is None:
        raise StreamLost("closed before the hello")
    return check_hello(data, kind, limits)


def check_hello(data: bytes, kind: PeerKind, limits: Limits) -> Hello:
    if len(data) > limits.max_message_bytes:
        raise LimitExceeded(f"a hello of {len(data)} bytes")
    try:
        body = decode(data).body
    except (MalformedEnvelope, UnknownMessage) as error:
        raise ProtocolError(f"the first message is no hello: {error}") from None
    if isinstance(body, Refusal):
        raise RefusedByPeer(body, len(data))
    if not isinstance(body, Hello):
        raise ProtocolError(f"the first message must be a hello, this is a {body.type}")
    if body.kind != WIRE_KIND[kind]:
        raise ProtocolError(f"this service is for a {kind}")
    if not body.id or len(body.id) > MAX_ID_LENGTH or not body.id.isprintable():
        raise ProtocolError("a hello needs an id of 1 to 100 printable characters")
    return body


def check_identity(stream: Stream, peer: str) -> None:
    """With TLS, the certificate must carry the id."""
    names = stream.identities()
    if names and peer not in names:
        raise ProtocolError(f"the certificate is not that of {peer!r} but of {names[0]!r}")


def check_link(stream: Stream, greeting: Hello, neighbours: Mapping[str, str], limits: Limits) -> None:
    """`neighbours`: address of every broker from which a link may come."""
    check_identity(stream, greeting.id)
    expected = neighbours.get(greeting.id)
    if expected is None:
        if limits.accept_unknown_brokers:
            return
        raise ProtocolError(f"{greeting.id!r} is no neighbour of this broker")
    host = expected.rpartition(":")[0].strip("[]")
    if not stream.identities() and stream.remote_address() != host:
        raise ProtocolError(f"{greeting.id!r} is at {host}, not at {stream.remote_address()}")


def check_taken(stream: Stream, greeting: Hello, live: Session | None) -> None:
    """An id with a live stream: only its owner's newer stream may replace it."""
    if live is None:
        return
    if WIRE_KIND[live.kind] != greeting.kind:
        raise DuplicateError(f"{greeting.id!r} is the id of a {live.kind} that is connected")
    if not takes_over(live.incarnation, greeting.incarnation):
        raise DuplicateError(taken(greeting.id, live.incarnation, greeting.incarnation))
    if stream.remote_address() != live.stream.remote_address():
        raise DuplicateError(f"{greeting.id!r} is already connected from {live.stream.remote_address()}")
