"""The broker: links, routing, service model and an optional relocation layer, composed.

Both drivers run this machine. See `machine` for the contract, `content.routing` for the rules.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from broker_grpc.config import BrokerOptions, BrokerProcessConfig, broker_options
from broker_grpc.content.filters import Filter
from broker_grpc.content.predicates import check_attributes
from broker_grpc.content.routing import Routing, Told
from broker_grpc.content.tables import Route
from broker_grpc.discovery import TREE, Discovery
from broker_grpc.errors import (
    BrokerError,
    DuplicateError,
    LimitExceeded,
    NotConformingError,
    NotFoundError,
    ProtocolError,
)
from broker_grpc.layer import Layer
from broker_grpc.links import Links, Peer, process_incarnation
from broker_grpc.machine import (
    CloseLink,
    Effects,
    Log,
    PeerDown,
    PeerUp,
    Received,
    Rejected,
    Send,
    Stimulus,
)
from broker_grpc.repair import Repair
from broker_grpc.service import Arrival, InputQueue, Monitor, OutputQueue
from protos.envelope import TYPE_OF, encoded_size
from protos.messages import (
    Ack,
    Advertisement,
    Body,
    BrokerInformation,
    DiscoveryRequest,
    Envelope,
    Heartbeat,
    HeartbeatAnswer,
    Hello,
    Probe,
    ProbeAnswer,
    Publication,
    Refusal,
    Subscription,
    SyncComplete,
    Unadvertisement,
    Unsubscription,
)
from protos.records import LogEvent

# Not counted as routing messages: they say nothing about routes, and some go on for ever.
_UNCOUNTED = (Heartbeat, HeartbeatAnswer, Refusal, Hello)


def publication_size(envelope: Envelope) -> int:
    """`encoded_size`, quicker for the usual publication."""
    inner = envelope.body.wire_size
    hops = envelope.hops
    if inner < 0 or hops > 127 or envelope.request or envelope.version != 1 or inner > 16383:
        return encoded_size(envelope)
    return inner + (5 if inner < 128 else 6) + (2 if hops else 0)


class Broker:
    """One broker. `neighbours` None = links from any broker are accepted."""

    def __init__(
        self,
        id_: str,
        options: BrokerOptions | None = None,
        neighbours: Iterable[str] | None = None,
        incarnation: int = 1,
        rng: random.Random | None = None,
        layer: Layer | None = None,
    ) -> None:
        self.id = id_
        self.options = options = options or BrokerOptions()
        self.incarnation = incarnation
        self.random = rng or random.Random(0)
        self.routing = Routing(options.subscription_covering, options.advertisement_covering)
        self.links = Links(id_, options, neighbours)
        self.monitor = Monitor(options.output_bandwidth)
        self.now_us = 0
        self.publications = 0
        self.deliveries = 0
        self.dropped = 0
        self._brokers = self.links.brokers
        self._clients = self.links.clients
        self._repair = Repair(options.repair_grace_us)
        self._discovery = Discovery(id_)
        self._input = InputQueue(options.input_queue) if options.has_service_model else None
        self._output = OutputQueue(options)
        self._service: tuple[set[str], int] = (set(), 0)  # of the publication being matched
        self._sample_at: int | None = None
        self._last_id = 0
        self._out: Effects = []
        self._actions = self._table()
        self._layer = layer
        if layer is not None:
            layer.attach(self)

    def _table(self) -> dict[type, Callable[[Peer, Envelope, Any], None]]:
        """What to do with each type of message; every other one is for the layer."""
        return {
            Advertisement: self._advertisement,
            Subscription: self._subscription,
            Unadvertisement: self._unadvertisement,
            Unsubscription: self._unsubscription,
            SyncComplete: self._sync_complete,
            Heartbeat: self._heartbeat,
            HeartbeatAnswer: self._heartbeat_answer,
            DiscoveryRequest: self._discovery_request,
            BrokerInformation: self._broker_information,
            Probe: self._probe,
            Refusal: self._ignore,
            Hello: self._unexpected,
            Ack: self._ignore,
        }

    # ------------------------------------------------------------ the machine

    def handle(self, now_us: int, stimulus: Stimulus) -> Effects:
        out: Effects = []
        self._out = out
        self.now_us = now_us
        kind = stimulus.__class__
        if kind is Received:
            envelope: Envelope = stimulus.envelope  # type: ignore[union-attr]
            if self._input is not None:
                self._run_due(now_us)
                self._enqueue(now_us, stimulus.peer, envelope)  # type: ignore[union-attr]
            elif envelope.body.__class__ is Publication:
                self._publication(now_us, stimulus.peer, envelope)  # type: ignore[union-attr]
            else:
                self._control(stimulus.peer, envelope)  # type: ignore[union-attr]
            return out
        self._run_due(now_us)
        if kind is PeerUp:
            self._peer_up(stimulus)  # type: ignore[arg-type]
        elif kind is PeerDown:
            self._peer_down(stimulus)  # type: ignore[arg-type]
        elif kind is Rejected:
            self._refuse(stimulus.peer, stimulus.reason, stimulus.detail, 0)  # type: ignore[union-attr]
        return out

    def next_deadline_us(self) -> int | None:
        due = [self.links.next_deadline_us(), self._repair.next_deadline_us(), self._sample_deadline()]
        if self._input is not None:
            if self._input.serving is not None:
                due.append(self._input.finish_us)
            if self._output.departures:
                due.append(self._output.departures[0].at_us)
        if self._layer is not None:
            due.append(self._layer.next_deadline_us())
        return min((d for d in due if d is not None), default=None)

    def _run_due(self, now_us: int) -> None:
        """Do what deadlines up to now ask for."""
        if self._input is not None:
            self._serve(now_us)
        for neighbour in self._repair.expired(now_us):
            self._tell(self.routing.hop_gone(neighbour))
        deadline = self.links.next_deadline_us()
        if deadline is not None and deadline <= now_us:
            self._beat(now_us)
        deadline = self._sample_deadline()
        if deadline is not None and deadline <= now_us:
            self._sample(now_us)
        if self._layer is not None:
            deadline = self._layer.next_deadline_us()
            if deadline is not None and deadline <= now_us:
                self._layer.deadline(now_us)

    # ------------------------------------------------------------ publications

    def _publication(self, now_us: int, source: str, envelope: Envelope) -> None:
        if source not in self._brokers:
            accepted = self._accept(now_us, source, envelope)
            if accepted is None:
                return
            envelope = accepted
        targets = self.routing.match(envelope.body.attributes)  # type: ignore[union-attr]
        self._distribute(now_us, source, envelope, targets, 0, 0)

    def _distribute(
        self,
        now_us: int,
        source: str,
        envelope: Envelope,
        targets: set[str],
        queueing_us: int,
        matching_us: int,
    ) -> None:
        """Rule 3: a copy per distinct last hop, never back to the broker it came from."""
        publication: Publication = envelope.body  # type: ignore[assignment]
        size = publication_size(envelope)
        hops = envelope.hops
        self.publications += 1
        self._out.append(
            Log(LogEvent(now_us, 0, self.id, "PROCESSED", "publication", source, publication.id, hops, size,
                         publication.published_us, queueing_us, matching_us))
        )  # fmt: skip
        neighbours: list[str] = []
        subscribers = 0
        brokers = self._brokers
        forwarded: Envelope | None = None
        for hop in sorted(targets) if len(targets) > 1 else targets:
            if hop in brokers:
                if hop != source:
                    if forwarded is None:
                        forwarded = Envelope(publication, hops + 1)
                        forwarded_size = publication_size(forwarded)
                    neighbours.append(hop)
                    self._send_publication(now_us, hop, forwarded, forwarded_size, "FORWARDED")
            elif hop in self._clients:
                subscribers += 1
                self._send_publication(now_us, hop, envelope, size, "NOTIFIED")
            else:
                self._drop(hop, envelope, "the link is down")
        if self._layer is not None:
            self._layer.publication_processed(now_us, envelope, source, neighbours, subscribers)

    def _send_publication(self, now_us: int, peer: str, envelope: Envelope, size: int, kind: Any) -> None:
        if self.options.max_hops and envelope.hops > self.options.max_hops:
            return self._drop(peer, envelope, f"more than {self.options.max_hops} hops")
        if self._input is not None:
            if self._output.full(peer):
                return self._drop(peer, envelope, "output queue full")
            return self._output.put(now_us, peer, envelope, size)
        if kind == "NOTIFIED":
            self.deliveries += 1
        publication: Publication = envelope.body  # type: ignore[assignment]
        self._out.append(Send(peer, envelope))
        self._out.append(
            Log(LogEvent(now_us, 0, self.id, kind, "publication", peer, publication.id, envelope.hops, size,
                         publication.published_us))
        )  # fmt: skip

    def _accept(self, now_us: int, source: str, envelope: Envelope) -> Envelope | None:
        """A publication of a local client, checked; None if it is refused."""
        if source not in self._clients:
            self._drop(source, envelope, "not connected")
            return None
        publication: Publication = envelope.body  # type: ignore[assignment]
        try:
            self._check_publication(source, publication)
        except BrokerError as error:
            self._refuse(source, error.reason, str(error), envelope.request, publication.id)
            return None
        if envelope.request:
            self.send(source, Ack(publication.id), envelope.request)
        if self._layer is not None:
            publication = self._layer.publication_accepted(now_us, publication)
        return Envelope(publication)

    def _check_publication(self, source: str, publication: Publication) -> None:
        check_attributes(publication.attributes)
        if publication.publisher != source:
            raise ProtocolError(f"{source} publishes in the name of {publication.publisher!r}")
        if not publication.id:
            raise ProtocolError("a publication needs an id")
        if self.options.conformance and not self._conforms(source, publication):
            raise NotConformingError(f"publication {publication.id} matches no advertisement of {source}")

    def _conforms(self, source: str, publication: Publication) -> bool:
        return any(
            self.routing.srt.routes[id_].filter.matches(publication.attributes)
            for id_ in self.routing.srt.of_hop(source)
        )

    # ------------------------------------------------------------ other messages

    def _control(self, source: str, envelope: Envelope) -> None:
        peer = self.links.get(source)
        if peer is None:
            return self._drop(source, envelope, "not connected")
        body = envelope.body
        self.log(LogEvent(kind="RECEIVED", type=TYPE_OF[body.__class__], peer=source, message=_id_of(body),
                          hops=envelope.hops, bytes=encoded_size(envelope)))  # fmt: skip
        if peer.kind == "broker" and not isinstance(body, _UNCOUNTED):
            peer.control_received += 1
        action = self._actions.get(body.__class__)
        try:
            if action is not None:
                action(peer, envelope, body)
            elif self._layer is not None:
                self._layer.received(self.now_us, source, envelope)
            else:
                raise ProtocolError(f"this broker runs no algorithm that knows {body.type}")
        except BrokerError as error:
            self._refuse(source, error.reason, str(error), envelope.request, _id_of(body))

    def _advertisement(self, peer: Peer, envelope: Envelope, body: Advertisement) -> None:
        filter_ = Filter.checked(body.predicates, self.options.max_predicates)
        if peer.kind == "client":
            body = Advertisement(
                self._new_id(peer, body.id, "a", self.routing.srt.get), peer.name, body.predicates
            )
        else:
            self._repair.seen(peer.name, body.id)
        self._tell(self.routing.advertise(Route(body, filter_, peer.name, envelope.hops)))
        self._ack(peer, envelope, body.id, 1)

    def _subscription(self, peer: Peer, envelope: Envelope, body: Subscription) -> None:
        filter_ = Filter.checked(body.predicates, self.options.max_predicates)
        if peer.kind == "client":
            body = Subscription(
                self._new_id(peer, body.id, "s", self.routing.prt.get), peer.name, body.predicates
            )
        else:
            self._repair.seen(peer.name, body.id)
        self._tell(self.routing.subscribe(Route(body, filter_, peer.name, envelope.hops)))
        self._ack(peer, envelope, body.id, 1)

    def _unadvertisement(self, peer: Peer, envelope: Envelope, body: Unadvertisement) -> None:
        self._check_held(peer, self.routing.srt.get(body.id), body.id)
        self._tell(self.routing.unadvertise(body.id, peer.name))
        self._ack(peer, envelope, body.id, -1)

    def _unsubscription(self, peer: Peer, envelope: Envelope, body: Unsubscription) -> None:
        self._check_held(peer, self.routing.prt.get(body.id), body.id)
        self._tell(self.routing.unsubscribe(body.id, peer.name))
        self._ack(peer, envelope, body.id, -1)

    @staticmethod
    def _check_held(peer: Peer, route: Route | None, id_: str) -> None:
        if peer.kind == "client" and (route is None or route.hop != peer.name):
            raise NotFoundError(f"{peer.name} holds no {id_!r} here")

    def _ack(self, peer: Peer, envelope: Envelope, id_: str, change: int) -> None:
        if peer.kind == "client":
            peer.routes += change
            self.send(peer.name, Ack(id_), envelope.request)

    def _new_id(self, peer: Peer, wish: str, letter: str, known: Callable[[str], Route | None]) -> str:
        """The first broker gives the id; a client may wish for one that is not in use."""
        if peer.routes >= self.options.max_routes_per_client:
            raise LimitExceeded(f"{peer.name} holds {peer.routes} advertisements and subscriptions")
        if wish:
            if known(wish) is not None:
                raise DuplicateError(f"id {wish!r} is in use")
            return wish
        self._last_id += 1
        start = self.id if self.incarnation <= 1 else f"{self.id}.{self.incarnation}"
        return f"{start}:{letter}{self._last_id}"

    # ------------------------------------------------------------ links

    def admit(self, hello: Hello) -> BrokerError | None:
        """Asked by the driver before PeerUp: why this stream is refused, or None."""
        return self.links.admit(hello)

    def _peer_up(self, stimulus: PeerUp) -> None:
        peer = self.links.up(stimulus.peer, stimulus.kind, stimulus.incarnation)
        if peer.kind == "broker":
            self.log(LogEvent(kind="LINK_UP", peer=peer.name))
            self._synchronise(peer)
        if self._layer is not None:
            self._layer.peer_up(self.now_us, peer.name)

    def _synchronise(self, peer: Peer) -> None:
        """Rule 5: tell all advertisements. What the peer told before it was lost is kept only if it tells it again."""
        routes = [*self.routing.srt.of_hop(peer.name), *self.routing.prt.of_hop(peer.name)]
        if not self._repair.returned(peer.name, process_incarnation(peer.incarnation), routes):
            self._tell(self.routing.hop_gone(peer.name))
        told = self.routing.link_up(peer.name)
        self._tell(told)
        peer.sync_sent = 1
        self.send(peer.name, SyncComplete(len(told)))
        if self.options.verify_tree and self.id < peer.name:
            self.send(peer.name, DiscoveryRequest(self._discovery.check_link(peer.name, self.incarnation)))

    def _sync_complete(self, peer: Peer, envelope: Envelope, body: SyncComplete) -> None:
        """The first says that all advertisements were told, the second that all subscriptions were."""
        peer.sync_received += 1
        table = self.routing.srt if peer.sync_received == 1 else self.routing.prt
        for id_ in self._repair.unseen(peer.name, table.of_hop(peer.name)):
            if table is self.routing.srt:
                self._tell(self.routing.unadvertise(id_, peer.name))
            else:
                self._tell(self.routing.unsubscribe(id_, peer.name))
        if peer.sync_received == 1:
            peer.sync_sent = 2
            told = self.routing.subscriptions_told[peer.name]
            self.send(peer.name, SyncComplete(body.advertisements, len(told.told)))
        else:
            self._repair.done(peer.name)

    def _peer_down(self, stimulus: PeerDown) -> None:
        peer = self.links.down(stimulus.peer)
        if peer is None:
            return
        if peer.kind == "client":
            self._tell(self.routing.hop_gone(peer.name))
        else:
            self.log(LogEvent(kind="LINK_DOWN", peer=peer.name, detail=stimulus.reason))
            self._discovery.forget(peer.name)
            self.routing.link_lost(peer.name)
            if not self._repair.lost(peer.name, process_incarnation(peer.incarnation), self.now_us):
                self._tell(self.routing.hop_gone(peer.name))
        self.monitor.forget(peer.name)
        if self._layer is not None:
            self._layer.peer_down(self.now_us, peer.name)

    def _beat(self, now_us: int) -> None:
        due, dead = self.links.beat(now_us)
        for peer, sequence in due:
            self.send(peer, Heartbeat(sequence))
        for peer in dead:
            self._out.append(CloseLink(peer, "no answer to heartbeats", redial=True))

    def _heartbeat(self, peer: Peer, envelope: Envelope, body: Heartbeat) -> None:
        self.send(peer.name, HeartbeatAnswer(body.sequence))

    def _heartbeat_answer(self, peer: Peer, envelope: Envelope, body: HeartbeatAnswer) -> None:
        self.links.answered(peer.name, body.sequence)

    def _probe(self, peer: Peer, envelope: Envelope, body: Probe) -> None:
        self.send(peer.name, ProbeAnswer(body.sequence), envelope.request)

    def _ignore(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        """It is in the log; an answer to an answer would never end."""

    def _unexpected(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        raise ProtocolError("a second hello on one stream")

    # ------------------------------------------------------------ discovery

    def _discovery_request(self, peer: Peer, envelope: Envelope, body: DiscoveryRequest) -> None:
        link = self._discovery.checked_link(body.id)
        if link is not None:
            self._out.append(CloseLink(link, "the overlay is not a tree"))
            raise ProtocolError(f"the overlay is not a tree: a check sent over the link to {link} came back")
        if not self._discovery.first_seen(body.id, peer.name):
            raise ProtocolError(f"the overlay is not a tree: discovery {body.id} came by two links")
        if not body.id.startswith(TREE):
            self.send(peer.name, self._information(body.id), envelope.request)
        for neighbour in self.neighbours():
            if neighbour != peer.name:
                self._send(neighbour, Envelope(body, envelope.hops + 1))

    def _broker_information(self, peer: Peer, envelope: Envelope, body: BrokerInformation) -> None:
        source = self._discovery.source(body.request)
        if source is None:
            raise ProtocolError(f"an answer to the unknown discovery {body.request!r}")
        self._send(source, Envelope(body, envelope.hops + (source in self._brokers)))

    def _information(self, request: str) -> BrokerInformation:
        return BrokerInformation(
            request,
            self.id,
            tuple(self.neighbours()),
            tuple(self.clients()),
            len(self.routing.srt),
            len(self.routing.prt),
        )

    # ------------------------------------------------------------ service model

    def _enqueue(self, now_us: int, peer: str, envelope: Envelope) -> None:
        queue = self._input
        assert queue is not None
        if envelope.body.__class__ is Publication:
            self.monitor.arrivals += 1
            if queue.full():
                return self._drop(peer, envelope, "input queue full")
        queue.waiting.append(Arrival(peer, envelope, now_us))
        self._start_service(now_us)
        self._serve(now_us)

    def _start_service(self, now_us: int) -> None:
        queue = self._input
        assert queue is not None
        arrival = queue.start(now_us)
        if arrival is None:
            return
        cost = self.options.control_us
        if arrival.envelope.body.__class__ is Publication:
            targets = self.routing.match(arrival.envelope.body.attributes)  # type: ignore[union-attr]
            candidates = self.routing.candidates
            cost = self.options.matching_us + candidates * self.options.matching_per_candidate_us
            self._service = targets, cost
        queue.finish_us = now_us + cost

    def _serve(self, now_us: int) -> None:
        """Finish matching and sending in the order of their times, up to now."""
        queue, output = self._input, self._output
        assert queue is not None
        while True:
            finish = queue.finish_us if queue.serving is not None else None
            depart = output.departures[0].at_us if output.departures else None
            if depart is not None and depart <= now_us and (finish is None or depart <= finish):
                self._depart()
            elif finish is not None and finish <= now_us:
                self._finish(finish)
            else:
                break
        self.now_us = now_us

    def _finish(self, at_us: int) -> None:
        queue = self._input
        assert queue is not None and queue.serving is not None
        arrival, queue.serving = queue.serving, None
        self.now_us = at_us
        if arrival.envelope.body.__class__ is Publication:
            targets, cost = self._service
            queueing = queue.started_us - arrival.at_us
            self.monitor.observe_input(queueing, cost)
            self._finish_publication(at_us, arrival, targets, queueing, cost)
        else:
            self._control(arrival.peer, arrival.envelope)
        self._start_service(at_us)

    def _finish_publication(
        self, at_us: int, arrival: Arrival, targets: set[str], queueing: int, cost: int
    ) -> None:
        envelope = arrival.envelope
        if arrival.peer not in self._brokers:
            accepted = self._accept(at_us, arrival.peer, envelope)
            if accepted is None:
                return
            envelope = accepted
        self._distribute(at_us, arrival.peer, envelope, targets, queueing, cost)

    def _depart(self) -> None:
        departure = self._output.pop()
        at_us, peer, envelope, enqueued = departure
        self.now_us = at_us
        if peer not in self._brokers and peer not in self._clients:
            return self._drop(peer, envelope, "the link is down")
        size = encoded_size(envelope)
        self.monitor.bytes_sent += size
        self.monitor.observe_output(peer, at_us - enqueued)
        self._out.append(Send(peer, envelope))
        body = envelope.body
        event = LogEvent(
            at_us, 0, self.id, "SENT", TYPE_OF[body.__class__], peer, _id_of(body), envelope.hops, size
        )
        event.sending_us = at_us - enqueued
        if isinstance(body, Publication):
            event.published_us = body.published_us
            event.kind = "FORWARDED" if peer in self._brokers else "NOTIFIED"
            self.deliveries += event.kind == "NOTIFIED"
        self._out.append(Log(event))

    def _sample_deadline(self) -> int | None:
        if not self.options.sample_every_us:
            return None
        return self._sample_at if self._sample_at is not None else 0

    def _sample(self, now_us: int) -> None:
        """The first time only starts the clock; samples then come at a fixed distance, late ones once."""
        every = self.options.sample_every_us
        first = self._sample_at is None
        self._sample_at = (
            now_us + every if self._sample_at is None else max(self._sample_at + every, now_us + 1)
        )
        utilisation_in, utilisation_out = self.monitor.utilisations(now_us)
        if not first:
            queued = len(self._output) + (len(self._input) if self._input is not None else 0)
            self.log(LogEvent(kind="SAMPLED", queue=queued, input_utilisation=utilisation_in,
                              output_utilisation=utilisation_out))  # fmt: skip

    # ------------------------------------------------------------ what the layer, and all above, send and log

    def send(self, peer: str, body: Body, request: int = 0) -> None:
        crossed = 1 if peer in self._brokers else 0
        self._send(peer, Envelope(body, crossed, request))

    def _send(self, name: str, envelope: Envelope) -> None:
        """Any message but a publication; these are never dropped by a full queue."""
        peer = self.links.get(name)
        if peer is None:
            return self._drop(name, envelope, "not connected")
        body = envelope.body
        if peer.kind == "broker" and not isinstance(body, _UNCOUNTED):
            peer.control_sent += 1
        size = encoded_size(envelope)
        if self._input is not None:
            return self._output.put(self.now_us, name, envelope, size)
        self._out.append(Send(name, envelope))
        self.log(LogEvent(kind="SENT", type=TYPE_OF[body.__class__], peer=name, message=_id_of(body),
                          hops=envelope.hops, bytes=size))  # fmt: skip

    def _tell(self, told: list[Told]) -> None:
        for neighbour, message, hops in told:
            if self.options.max_hops and hops > self.options.max_hops:
                self._drop(neighbour, Envelope(message, hops), f"more than {self.options.max_hops} hops")
            else:
                self._send(neighbour, Envelope(message, hops))

    def log(self, event: LogEvent) -> None:
        event.t_us = event.t_us or self.now_us
        event.node = event.node or self.id
        self._out.append(Log(event))

    def _drop(self, peer: str, envelope: Envelope, reason: str) -> None:
        self.dropped += 1
        known = self.links.get(peer)
        if known is not None:
            known.dropped += 1
        body = envelope.body
        self.log(LogEvent(kind="DROPPED", type=TYPE_OF[body.__class__], peer=peer, message=_id_of(body),
                          hops=envelope.hops, bytes=encoded_size(envelope), detail=reason,
                          published_us=getattr(body, "published_us", 0)))  # fmt: skip

    def _refuse(self, peer: str, reason: str, detail: str, request: int, message: str = "") -> None:
        """Say no to one message; the stream stays up. A client's request gets its Ack, all else a Refusal."""
        self.log(LogEvent(kind="REFUSED", peer=peer, message=message, detail=f"{reason}: {detail}"))
        if peer in self._clients and request:
            self.send(peer, Ack(message, f"{reason}: {detail}"), request)
        else:
            self.send(peer, Refusal(reason, detail), request)

    # ------------------------------------------------------------ routing-table operations for the layer

    def accept_advertisement(self, advertisement: Advertisement, hop: str) -> None:
        filter_ = Filter.checked(advertisement.predicates, self.options.max_predicates)
        self.routing.place_advertisement(Route(advertisement, filter_, hop, 0))

    def move_advertisement(self, advertisement: str, hop: str) -> None:
        self._tell(self.routing.move_advertisement(advertisement, hop))

    def drop_unmatched(self, hop: str) -> None:
        self._tell(self.routing.drop_unmatched(hop))

    def forget_unmatched(self, neighbour: str) -> None:
        self._tell(self.routing.forget_unmatched(neighbour))

    # ------------------------------------------------------------ questions

    def neighbours(self) -> list[str]:
        return sorted(self._brokers)

    def clients(self) -> list[str]:
        return sorted(self._clients)

    def has_client(self, client: str) -> bool:
        return client in self._clients

    def status(self) -> dict[str, Any]:
        """The fields of StatusAnswer that a machine knows; `links` says which are synchronised.

        Routing messages are counted over the links that are up, since they came up: when nothing is on its
        way, the sums over all brokers of sent and of received are equal, also after faults.
        """
        return {
            "broker": self.id,
            "incarnation": self.incarnation,
            "links": {name: peer.synced for name, peer in sorted(self._brokers.items())},
            "clients": len(self._clients),
            "advertisements": len(self.routing.srt),
            "subscriptions": len(self.routing.prt),
            "control_sent": sum(peer.control_sent for peer in self._brokers.values()),
            "control_received": sum(peer.control_received for peer in self._brokers.values()),
            "publications": self.publications,
            "deliveries": self.deliveries,
            "dropped": self.dropped,
        }


def _id_of(body: Body) -> str:
    return getattr(body, "id", "")


def build(config: BrokerProcessConfig) -> Broker:
    """The machine of a broker process; raises BrokerError for options it does not know."""
    try:
        options = broker_options(config.options)
    except msgspec.ValidationError as error:
        raise BrokerError(f"options of broker {config.broker}: {error}") from None
    if config.sample_every_us and not options.sample_every_us:
        options.sample_every_us = config.sample_every_us
    return Broker(config.broker, options, None, config.incarnation, random.Random(config.seed))
