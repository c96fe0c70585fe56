"""Heartbeats over broker links: a neighbour that misses too many answers is cut off, and redialled."""

from __future__ import annotations

from broker_grpc.core.links import Links, Peer
from broker_grpc.core.options import BrokerOptions
from broker_grpc.core.outbox import Outbox
from broker_grpc.machine import CloseLink
from protos.body import Envelope
from protos.core_messages import Heartbeat, HeartbeatAnswer


class Heartbeats:
    def __init__(self, links: Links, options: BrokerOptions, outbox: Outbox) -> None:
        self._links = links
        self._options = options
        self._outbox = outbox
        self._beat_at: int | None = None
        self._sequence = 0

    def next_deadline_us(self) -> int | None:
        """When to look at heartbeats next."""
        if not self._options.heartbeat_interval_us or not self._links.brokers:
            return None
        return self._beat_at if self._beat_at is not None else 0

    def deadline(self, now_us: int) -> None:
        self._beat_at = now_us + self._options.heartbeat_interval_us
        dead: list[str] = []
        for name in sorted(self._links.brokers):
            peer = self._links.brokers[name]
            if peer.awaited and now_us - peer.heartbeat_sent >= self._options.heartbeat_timeout_us:
                peer.misses += 1
                peer.awaited = 0
            if peer.misses >= self._options.heartbeat_threshold and not peer.closing:
                peer.closing = True
                dead.append(name)
            elif not peer.awaited and not peer.closing:
                self._beat(peer, now_us)
        for name in dead:
            self._outbox.effects.append(CloseLink(name, "no answer to heartbeats", redial=True))

    def _beat(self, peer: Peer, now_us: int) -> None:
        self._sequence += 1
        peer.awaited, peer.heartbeat_sent = self._sequence, now_us
        self._outbox.send(peer.name, Heartbeat(self._sequence))

    # ------------------------------------------------------------ messages

    def asked(self, peer: Peer, envelope: Envelope, body: Heartbeat) -> None:
        self._outbox.send(peer.name, HeartbeatAnswer(body.sequence))

    def answered(self, peer: Peer, envelope: Envelope, body: HeartbeatAnswer) -> None:
        if peer.kind == "broker" and body.sequence == peer.awaited:
            peer.awaited = 0
            peer.misses = 0
            peer.rtt_us = self._outbox.now_us - peer.heartbeat_sent
