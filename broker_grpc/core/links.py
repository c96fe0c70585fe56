"""The peers of a broker: who may connect, what each stream has seen, heartbeats.

Rules for a stream that says hello:

- A broker must be one of the configured neighbours (if they are configured) and speak a version we know.
- An id is either a broker's or a client's, and never our own.
- If a stream of that id is already up, the newer incarnation wins and an equal or older one is
  refused: so a restarted peer or a redialled link takes over, and a twin or an impostor does not.

The incarnation in a Hello is made of the process's incarnation and the number of the dial, so that a
redial of the same process is newer too; `process_incarnation` takes it apart again.
"""

from __future__ import annotations

from collections.abc import Iterable

from broker_grpc.core.options import BrokerOptions
from broker_grpc.errors import BrokerError, DrainingError, DuplicateError, ProtocolError, UnknownMessageError
from broker_grpc.machine import PeerKind
from protos.envelope import VERSION
from protos.messages import Hello
from protos.messages import PeerKind as WireKind

DIAL_BITS = 20


def hello_incarnation(process: int, dial: int) -> int:
    """What a process in its nth incarnation puts in the Hello of its nth dial (0 if it was dialled)."""
    return process << DIAL_BITS | dial & (1 << DIAL_BITS) - 1


def process_incarnation(hello: int) -> int:
    return hello >> DIAL_BITS


class Peer:
    """One stream that is up."""

    __slots__ = (
        "awaited", "closing", "control_received", "control_sent", "deliveries", "dropped", "heartbeat_sent",
        "incarnation", "kind", "misses", "name", "queued", "routes", "sync_received", "sync_sent",
    )  # fmt: skip

    def __init__(self, name: str, kind: PeerKind, incarnation: int) -> None:
        self.name = name
        self.kind: PeerKind = kind
        self.incarnation = incarnation
        self.sync_sent = 0  # of two: all advertisements told, all subscriptions told
        self.sync_received = 0
        self.control_sent = 0
        self.control_received = 0
        self.queued = 0
        self.dropped = 0
        self.deliveries = 0
        self.routes = 0  # advertisements and subscriptions a client holds
        self.awaited = 0  # sequence number of the heartbeat that is out, 0 = none
        self.heartbeat_sent = 0
        self.misses = 0
        self.closing = False

    @property
    def synced(self) -> bool:
        return self.sync_sent == 2 and self.sync_received == 2


class Links:
    """Peers by id, in two dictionaries: links to brokers and streams of clients."""

    def __init__(self, broker: str, options: BrokerOptions, neighbours: Iterable[str] | None) -> None:
        self._broker = broker
        self._options = options
        self._configured = None if neighbours is None else frozenset(neighbours)
        self.brokers: dict[str, Peer] = {}
        self.clients: dict[str, Peer] = {}
        self.draining = False
        self._beat_at: int | None = None
        self._sequence = 0

    def get(self, peer: str) -> Peer | None:
        return self.brokers.get(peer) or self.clients.get(peer)

    # ------------------------------------------------------------ admission

    def admit(self, hello: Hello) -> BrokerError | None:
        """Why this stream is refused, or None. Does not change anything."""
        if hello.kind not in (WireKind.BROKER, WireKind.CLIENT) or not hello.id:
            return ProtocolError("a hello needs an id and a kind")
        if hello.version < 1:
            return UnknownMessageError(f"protocol version {hello.version}, this side speaks 1 to {VERSION}")
        if hello.id == self._broker:
            return ProtocolError(f"{hello.id} is the id of this broker")
        refusal = self._admit_kind(hello)
        known = self.get(hello.id)
        if refusal is None and known is not None and hello.incarnation <= known.incarnation:
            return DuplicateError(
                f"{hello.id} is connected with incarnation {known.incarnation}, this is {hello.incarnation}"
            )
        return refusal

    def _admit_kind(self, hello: Hello) -> BrokerError | None:
        if hello.kind == WireKind.CLIENT:
            if hello.id in self.brokers or hello.id in (self._configured or ()):
                return ProtocolError(f"{hello.id} is the id of a broker")
            return DrainingError(f"{self._broker} is draining") if self.draining else None
        if hello.id in self.clients:
            return ProtocolError(f"{hello.id} is the id of a client")
        if self._configured is not None and hello.id not in self._configured:
            return ProtocolError(f"{hello.id} is not a neighbour of {self._broker}")
        return None

    def up(self, name: str, kind: PeerKind, incarnation: int) -> Peer:
        peer = Peer(name, kind, incarnation)
        (self.brokers if kind == "broker" else self.clients)[name] = peer
        return peer

    def down(self, name: str) -> Peer | None:
        return self.brokers.pop(name, None) or self.clients.pop(name, None)

    # ------------------------------------------------------------ heartbeats

    def next_deadline_us(self) -> int | None:
        """When to look at heartbeats next."""
        if not self._options.heartbeat_interval_us or not self.brokers:
            return None
        return self._beat_at if self._beat_at is not None else 0

    def beat(self, now_us: int) -> tuple[list[tuple[str, int]], list[str]]:
        """Heartbeats to send as (peer, sequence number), and peers that missed too many."""
        self._beat_at = now_us + self._options.heartbeat_interval_us
        due: list[tuple[str, int]] = []
        dead: list[str] = []
        for name in sorted(self.brokers):
            peer = self.brokers[name]
            if peer.awaited and now_us - peer.heartbeat_sent >= self._options.heartbeat_timeout_us:
                peer.misses += 1
                peer.awaited = 0
            if peer.misses >= self._options.heartbeat_threshold and not peer.closing:
                peer.closing = True
                dead.append(name)
            elif not peer.awaited and not peer.closing:
                self._sequence += 1
                peer.awaited, peer.heartbeat_sent = self._sequence, now_us
                due.append((name, self._sequence))
        return due, dead

    def answered(self, name: str, sequence: int) -> None:
        peer = self.brokers.get(name)
        if peer is not None and sequence == peer.awaited:
            peer.awaited = 0
            peer.misses = 0
