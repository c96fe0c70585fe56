"""What a broker on a topic-connected overlay and its coordinator have in common: peers, messages, a log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from broker_grpc.core.links import Links, Peer
from broker_grpc.core.options import BrokerOptions
from broker_grpc.core.outbox import Outbox, id_of
from broker_grpc.core.service import Arrival, Monitor, OutputQueue, Sampler
from broker_grpc.core.station import Station
from broker_grpc.errors import BrokerError, ProtocolError
from broker_grpc.machine import Effects, PeerDown, PeerUp, Received, Rejected, Stimulus
from protos.envelope import TYPE_OF, encoded_size
from protos.messages import Body, Envelope, Probe, ProbeAnswer, Publication, Value
from protos.records import LogEvent


class OverlayNode:
    """A machine with peers; subclasses say what messages, peers and deadlines mean."""

    steady = False  # messages may move its deadlines

    def __init__(self, id_: str, options: BrokerOptions, incarnation: int) -> None:
        self.id = id_
        self.options = options
        self.incarnation = incarnation
        self.links = Links(id_, options, None)
        self.monitor = Monitor(options.output_bandwidth)
        output = OutputQueue(options) if options.has_service_model else None
        outbox = self._outbox = Outbox(id_, self.links, self.monitor, output)
        self._station: Station | None = None
        if output is not None:
            self._station = Station(
                options, self.links, self._match, outbox, output, self.monitor, self._matched, self._served
            )
        self._sampler = Sampler(options.sample_every_us, self.monitor)

    # ------------------------------------------------------------ the machine

    def handle(self, now_us: int, stimulus: Stimulus) -> Effects:
        effects = self._outbox.begin(now_us)
        if self._station is not None:
            self._station.run(now_us)
        if isinstance(stimulus, Received):
            self._arrived(now_us, stimulus.peer, stimulus.envelope)
        elif isinstance(stimulus, PeerUp):
            self._peer_up(now_us, stimulus)
        elif isinstance(stimulus, PeerDown):
            self._peer_down(now_us, stimulus)
        elif isinstance(stimulus, Rejected):
            self._outbox.refuse(stimulus.peer, stimulus.reason, stimulus.detail, stimulus.request)
        due = self._sampler.next_deadline_us()
        if due is not None and due <= now_us:
            for event in self._sampler.sample(now_us, self.waiting):
                self._outbox.log(event)
        self._run_due(now_us)
        return effects

    def receive(self, now_us: int, peer: str, envelope: Envelope) -> Effects:
        return self.handle(now_us, Received(peer, envelope))

    def next_deadline_us(self) -> int | None:
        served = self._station.next_deadline_us() if self._station is not None else None
        due = [at for at in (self._sampler.next_deadline_us(), self._next_us(), served) if at is not None]
        return min(due, default=None)

    def _arrived(self, now_us: int, source: str, envelope: Envelope) -> None:
        if self._station is not None:
            self._station.arrive(now_us, source, envelope)
        elif envelope.body.__class__ is Publication:
            self._publication(now_us, source, self.links.get(source), envelope, 0, 0)
        else:
            self._received(now_us, source, envelope)

    def _matched(
        self, now_us: int, arrival: Arrival, targets: set[str], queueing_us: int, matching_us: int
    ) -> None:
        """Whoever sent the publication may be gone by now."""
        self._publication(now_us, arrival.peer, arrival.stream, arrival.envelope, queueing_us, matching_us)

    def _served(self, source: str, envelope: Envelope) -> None:
        self._received(self._outbox.now_us, source, envelope)

    def _received(self, now_us: int, source: str, envelope: Envelope) -> None:
        peer = self.links.get(source)
        if peer is None:
            return self._outbox.drop(source, envelope, "not connected")
        body = envelope.body
        self._outbox.log(
            LogEvent(
                kind="RECEIVED",
                type=TYPE_OF[body.__class__],
                peer=source,
                message=id_of(body),
                hops=envelope.hops,
                bytes=encoded_size(envelope),
            )
        )
        if peer.kind == "broker" and body.settles:
            peer.control_received += 1
        try:
            if isinstance(body, Probe):
                self._outbox.send(source, ProbeAnswer(body.sequence), envelope.request)
            else:
                self._act(now_us, peer, envelope, body)
        except BrokerError as error:
            self._outbox.refuse(source, error.reason, str(error), envelope.request, id_of(body))

    def _peer_up(self, now_us: int, stimulus: PeerUp) -> None:
        if self.links.get(stimulus.peer) is not None:
            self._peer_down(now_us, PeerDown(stimulus.peer, "replaced by a newer stream"))
        peer = self.links.up(stimulus.peer, stimulus.kind, stimulus.incarnation)
        if peer.kind == "broker":
            self._outbox.log(LogEvent(kind="LINK_UP", peer=peer.name))
        self._up(now_us, peer)

    def _peer_down(self, now_us: int, stimulus: PeerDown) -> None:
        peer = self.links.down(stimulus.peer)
        if peer is None:
            return
        if peer.kind == "broker":
            self._outbox.log(LogEvent(kind="LINK_DOWN", peer=peer.name, detail=stimulus.reason))
        self.monitor.forget(peer.name)
        self._down(now_us, peer)

    # ------------------------------------------------------------ for subclasses

    def _act(self, now_us: int, peer: Peer, envelope: Envelope, body: Body) -> None:
        raise ProtocolError(f"{self.id} has no use for {body.type}")

    def _match(self, attributes: Mapping[str, Value]) -> tuple[set[str], int]:
        """How many filters a publication costs the service model; its targets are found when it is served."""
        return set(), 0

    def _publication(
        self, now_us: int, source: str, peer: Peer | None, envelope: Envelope,
        queueing_us: int, matching_us: int,
    ) -> None:  # fmt: skip
        """`peer`: the stream it came on; None = there was none."""
        self._received(now_us, source, envelope)

    def _up(self, now_us: int, peer: Peer) -> None: ...

    def _down(self, now_us: int, peer: Peer) -> None: ...

    def _next_us(self) -> int | None:
        return None

    def _run_due(self, now_us: int) -> None: ...

    # ------------------------------------------------------------ questions

    @property
    def waiting(self) -> int:
        """Messages in the queues of the service model."""
        return len(self._station) if self._station is not None else 0

    def _status(self, synced: dict[str, bool], **counts: int) -> dict[str, Any]:
        brokers = self.links.brokers.values()
        return {
            "broker": self.id,
            "incarnation": self.incarnation,
            "links": synced,
            "clients": len(self.links.clients),
            "control_sent": sum(peer.control_sent for peer in brokers),
            "control_received": sum(peer.control_received for peer in brokers),
            "deliveries": self._outbox.deliveries,
            "dropped": self._outbox.dropped,
            **counts,
        }
