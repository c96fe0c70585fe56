"""The peers of a broker, and what each stream has seen. Who may connect is `process.handshake`'s to say.

The incarnation in a Hello is made of the process's incarnation and the number of the dial, so that a
redial of the same process is newer too; `process_incarnation` takes it apart again.
"""

from __future__ import annotations

from broker_grpc.machine import PeerKind

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
        "incarnation", "kind", "misses", "name", "queued", "routes", "rtt_us", "sync_received", "sync_sent",
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
        self.rtt_us: int | None = None  # of the last heartbeat that was answered
        self.closing = False

    @property
    def synced(self) -> bool:
        return self.sync_sent == 2 and self.sync_received == 2


class Links:
    """Peers by id, in two dictionaries: links to brokers and streams of clients."""

    def __init__(self) -> None:
        self.brokers: dict[str, Peer] = {}
        self.clients: dict[str, Peer] = {}

    def get(self, peer: str) -> Peer | None:
        return self.brokers.get(peer) or self.clients.get(peer)

    def up(self, name: str, kind: PeerKind, incarnation: int) -> Peer:
        peer = Peer(name, kind, incarnation)
        (self.brokers if kind == "broker" else self.clients)[name] = peer
        return peer

    def down(self, name: str) -> Peer | None:
        return self.brokers.pop(name, None) or self.clients.pop(name, None)
