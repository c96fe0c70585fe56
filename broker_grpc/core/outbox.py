"""What leaves a broker: messages, with or without an output queue, and a log record for each.

The effects of one `handle` call collect here. With a service model messages wait in the output queue
and become effects when their last byte is out.
"""

from __future__ import annotations

from typing import Literal

from broker_grpc.core.links import Links, Peer
from broker_grpc.core.monitor import Monitor
from broker_grpc.core.queues import OutputQueue
from broker_grpc.machine import CloseLink, Copies, Effects, Log, Send
from protos.body import Body, Envelope
from protos.client_messages import Publication
from protos.core_messages import Ack, Refusal
from protos.envelope import TYPE_OF, encoded_size
from protos.records import LogEvent


def id_of(body: Body) -> str:
    return getattr(body, "id", "")


def leg_of(body: Body) -> int:
    """Of a publication's way; other messages have one leg."""
    return body.leg if body.__class__ is Publication else 0


class Outbox:
    """`queue` None = everything leaves at once."""

    __slots__ = ("_links", "_monitor", "broker", "deliveries", "dropped", "effects", "now_us", "queue")

    def __init__(self, broker: str, links: Links, monitor: Monitor, queue: OutputQueue | None) -> None:
        self.broker = broker
        self.now_us = 0
        self.effects: Effects = []
        self.queue = queue
        self.deliveries = 0
        self.dropped = 0
        self._links = links
        self._monitor = monitor

    def begin(self, now_us: int) -> Effects:
        self.now_us = now_us
        self.effects = []
        return self.effects

    def log(self, event: LogEvent) -> None:
        event.t_us = event.t_us or self.now_us
        event.node = event.node or self.broker
        self.effects.append(Log(event))

    # ------------------------------------------------------------ publications

    def publications(
        self,
        now_us: int,
        peers: list[str],
        envelope: Envelope,
        size: int,
        kind: Literal["FORWARDED", "NOTIFIED"],
    ) -> None:
        """One copy for each of these peers: all brokers or all clients."""
        if self.queue is not None:
            return self._enqueue(now_us, peers, envelope, size)
        if kind == "NOTIFIED":
            self.deliveries += len(peers)
        self.effects.append(Copies(now_us, self.broker, kind, peers, envelope, size))

    def _enqueue(self, now_us: int, peers: list[str], envelope: Envelope, size: int) -> None:
        assert self.queue is not None
        for peer in peers:
            if self.queue.full(peer):
                self.drop(peer, envelope, "output queue full")
            else:
                self.queue.put(now_us, peer, envelope, size, self._links.get(peer))

    # ------------------------------------------------------------ all other messages

    def send(self, peer: str, body: Body, request: int = 0) -> None:
        """A message made here."""
        self.forward(peer, Envelope(body, 1 if peer in self._links.brokers else 0, request))

    def forward(self, name: str, envelope: Envelope) -> None:
        """Never dropped by a full queue: a lost routing message would leave the tables wrong.

        It has twice the room of publications; if that is full too, the stream ends (see `give_up`).
        """
        peer = self._links.get(name)
        if peer is None:
            return self.drop(name, envelope, "not connected")
        body = envelope.body
        if peer.kind == "broker" and body.settles:
            peer.control_sent += 1
        size = encoded_size(envelope)
        if self.queue is not None:
            if peer.closing or self.queue.full(name, 2):
                return self.give_up(peer, envelope, "output queue full")
            return self.queue.put(self.now_us, name, envelope, size, peer)
        self.effects.append(Send(name, envelope))
        self._log_sent("SENT", name, envelope, size)

    def _log_sent(self, kind: str, peer: str, envelope: Envelope, size: int, sending_us: int = 0) -> None:
        body = envelope.body
        event = LogEvent(self.now_us, 0, self.broker, kind, TYPE_OF[body.__class__], peer, id_of(body),  # type: ignore[arg-type]
                         envelope.hops, size)  # fmt: skip
        event.sending_us = sending_us
        event.published_us = getattr(body, "published_us", 0)
        event.leg = leg_of(body)
        self.effects.append(Log(event))

    def depart(self) -> None:
        """The next message of the output queue is out."""
        assert self.queue is not None
        at_us, peer, envelope, enqueued_us, stream = self.queue.pop()
        self.now_us = at_us
        if stream is None or self._links.get(peer) is not stream:
            # Also when the peer is back: what the old stream should have told it the new one tells anew.
            return self.drop(peer, envelope, "the link is down")
        size = encoded_size(envelope)
        self._monitor.sent(peer, size, at_us - enqueued_us)
        self.effects.append(Send(peer, envelope))
        kind = "SENT"
        if envelope.body.__class__ is Publication:
            kind = "FORWARDED" if peer in self._links.brokers else "NOTIFIED"
            self.deliveries += kind == "NOTIFIED"
        self._log_sent(kind, peer, envelope, size, at_us - enqueued_us)

    # ------------------------------------------------------------ no

    def give_up(self, peer: Peer, envelope: Envelope, reason: str) -> None:
        """A message that must not be lost has no room: the stream ends, and routes are repaired after."""
        self.drop(peer.name, envelope, reason)
        if not peer.closing:
            peer.closing = True
            self.effects.append(CloseLink(peer.name, reason, redial=True))

    def drop(self, peer: str, envelope: Envelope, reason: str) -> None:
        self.dropped += 1
        known = self._links.get(peer)
        if known is not None:
            known.dropped += 1
        body = envelope.body
        self.log(LogEvent(kind="DROPPED", type=TYPE_OF[body.__class__], peer=peer, message=id_of(body),
                          hops=envelope.hops, bytes=encoded_size(envelope), detail=reason,
                          published_us=getattr(body, "published_us", 0), leg=leg_of(body)))  # fmt: skip

    def refuse(self, peer: str, reason: str, detail: str, request: int = 0, message: str = "") -> None:
        """Say no to one message; the stream stays up. A client's request gets its Ack, all else a Refusal."""
        self.log(LogEvent(kind="REFUSED", peer=peer, message=message, detail=f"{reason}: {detail}"))
        if request and peer in self._links.clients:
            self.send(peer, Ack(message, f"{reason}: {detail}"), request)
        else:
            self.send(peer, Refusal(reason, detail), request)
