"""The broker: links, routing, service model and an optional relocation layer, composed.

Both drivers run this machine. See `machine` for the contract, `content.routing` for the rules.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from broker_grpc.content.filters import Filter
from broker_grpc.content.predicates import check_attributes
from broker_grpc.core.links import Links, Peer
from broker_grpc.core.options import BrokerOptions
from broker_grpc.core.outbox import Outbox, id_of
from broker_grpc.core.service import Arrival, Monitor, OutputQueue, Sampler
from broker_grpc.core.station import Station
from broker_grpc.errors import BrokerError, NotConformingError, ProtocolError
from broker_grpc.machine import (
    SPENT,
    CloseLink,
    Effects,
    Log,
    PeerDown,
    PeerUp,
    Received,
    Rejected,
    Stimulus,
)
from broker_grpc.protocols.contentbased.discovery import Discovery
from broker_grpc.protocols.contentbased.layer import Layer
from broker_grpc.protocols.contentbased.routekeeper import RouteKeeper
from broker_grpc.protocols.contentbased.routing import Routing, Told
from broker_grpc.protocols.contentbased.tables import Route
from protos.bodies import SENDER_OF
from protos.envelope import TYPE_OF, encoded_size, publication_size
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
    Value,
)
from protos.records import LogEvent

Action = Callable[[Peer, Envelope, Any], None]


class Broker:
    """One broker. `neighbours` None = links from any broker are accepted."""

    __slots__ = (
        "_actions", "_brokers", "_clients", "_discovery", "_index", "_keeper", "_layer", "_max_hops",
        "_outbox", "_sampler", "_station", "_timeless", "id", "incarnation", "links", "monitor", "options",
        "publications", "random", "routing", "steady",
    )  # fmt: skip

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
        self.publications = 0
        prefix = id_ if incarnation <= 1 else f"{id_}.{incarnation}"
        output = OutputQueue(options) if options.has_service_model else None
        self._outbox = Outbox(id_, self.links, self.monitor, output)
        self._keeper = RouteKeeper(self.routing, options, self._outbox, prefix)
        self._discovery = Discovery(prefix, self.links, self.routing, self._outbox)
        self._station: Station | None = None
        if output is not None:
            self._station = Station(
                options,
                self.links,
                self._match_counted,
                self._outbox,
                output,
                self.monitor,
                self._matched,
                self._control,
            )
        self._sampler = Sampler(options.sample_every_us, self.monitor)
        self._brokers = self.links.brokers
        self._clients = self.links.clients
        self._index = self.routing.prt.index
        self._max_hops = options.max_hops
        self._actions = self._table()
        self._layer = layer
        timed = options.heartbeat_interval_us or options.sample_every_us or options.repair_grace_us
        self._timeless = not timed and self._station is None and layer is None
        moved = options.heartbeat_interval_us or options.repair_grace_us
        self.steady = not moved and self._station is None and layer is None  # messages move no deadline
        if layer is not None:
            layer.attach(self)

    def _table(self) -> dict[type, Action]:
        """What to do with each type of message; every other one is for the layer."""
        return {
            Advertisement: self._keeper.advertisement,
            Subscription: self._keeper.subscription,
            Unadvertisement: self._keeper.unadvertisement,
            Unsubscription: self._keeper.unsubscription,
            SyncComplete: self._keeper.sync_complete,
            DiscoveryRequest: self._discovery.request,
            BrokerInformation: self._discovery.answer,
            Heartbeat: self._heartbeat,
            HeartbeatAnswer: self._heartbeat_answer,
            Probe: self._probe,
            Refusal: self._ignore,
            Ack: self._ignore,
            Hello: self._second_hello,
        }

    # ------------------------------------------------------------ the machine

    def handle(self, now_us: int, stimulus: Stimulus) -> Effects:
        kind = stimulus.__class__
        if kind is Received:
            return self.receive(now_us, stimulus.peer, stimulus.envelope)  # type: ignore[union-attr]
        effects = self._outbox.begin(now_us)
        self._run_due(now_us)
        if kind is PeerUp:
            self._peer_up(stimulus)  # type: ignore[arg-type]
        elif kind is PeerDown:
            self._peer_down(stimulus)  # type: ignore[arg-type]
        elif kind is Rejected:
            self._rejected(stimulus)  # type: ignore[arg-type]
        return effects

    def receive(self, now_us: int, peer: str, envelope: Envelope) -> Effects:
        """`handle` of a `Received`, for a driver that spares itself the object."""
        outbox = self._outbox
        effects: Effects = []
        outbox.now_us, outbox.effects = now_us, effects
        if self._station is not None:
            self._station.arrive(now_us, peer, envelope)
        elif envelope.body.__class__ is not Publication:
            self._control(peer, envelope)
        elif peer in self._brokers:
            targets = self._index.match_hops(envelope.body.attributes)
            self._distribute(now_us, peer, envelope, targets, 0, 0)
        else:
            self._published(now_us, peer, envelope)
        outbox.effects = SPENT
        return effects

    def next_deadline_us(self) -> int | None:
        """Asked after every message, so the usual broker answers at once."""
        if self._timeless:
            return None
        due = _earlier(self._sampler.next_deadline_us(), self.links.next_deadline_us())
        due = _earlier(due, self._keeper.next_deadline_us())
        if self._station is not None:
            due = _earlier(due, self._station.next_deadline_us())
        if self._layer is not None:
            due = _earlier(due, self._layer.next_deadline_us())
        return due

    def _run_due(self, now_us: int) -> None:
        """Do what deadlines up to now ask for."""
        if self._station is not None:
            self._station.run(now_us)
        self._keeper.deadline(now_us)
        if _reached(self.links.next_deadline_us(), now_us):
            self._beat(now_us)
        if _reached(self._sampler.next_deadline_us(), now_us):
            for event in self._sampler.sample(now_us, self.waiting):
                self.log(event)
        if self._layer is not None and _reached(self._layer.next_deadline_us(), now_us):
            self._layer.deadline(now_us)

    # ------------------------------------------------------------ publications

    def _published(self, now_us: int, source: str, envelope: Envelope) -> None:
        """A publication that came from no neighbour."""
        if source not in self._clients:
            return self._outbox.drop(source, envelope, "not connected")
        accepted = self._accept(now_us, source, envelope)
        if accepted is not None:
            targets = self._index.match_hops(accepted.body.attributes)  # type: ignore[attr-defined]
            self._distribute(now_us, source, accepted, targets, 0, 0)

    def _match_counted(self, attributes: Mapping[str, Value]) -> tuple[set[str], int]:
        return self._index.match_hops(attributes), self._index.candidates

    def _matched(
        self, now_us: int, arrival: Arrival, targets: set[str], queueing_us: int, matching_us: int
    ) -> None:
        """The station has matched a publication; whoever sent it may be gone by now."""
        source, accepted = arrival.peer, arrival.envelope
        if arrival.stream is None:
            return self._outbox.drop(source, accepted, "not connected")
        if arrival.stream.kind == "client":
            checked = self._accept(now_us, source, accepted)
            if checked is None:
                return
            accepted = checked
        self._distribute(now_us, source, accepted, targets, queueing_us, matching_us)

    def _distribute(
        self, now_us: int, source: str, envelope: Envelope, targets: set[str],
        queueing_us: int, matching_us: int,
    ) -> None:  # fmt: skip
        """Rule 3: a copy per distinct last hop, never back to the broker it came from."""
        publication: Publication = envelope.body  # type: ignore[assignment]
        outbox, brokers = self._outbox, self._brokers
        hops, size = envelope.hops, publication_size(envelope)
        self.publications += 1
        outbox.effects.append(
            Log(LogEvent(now_us, 0, self.id, "PROCESSED", "publication", source, publication.id, hops, size,
                         publication.published_us, queueing_us, matching_us))
        )  # fmt: skip
        neighbours: list[str] = []
        subscribers: list[str] = []
        for hop in sorted(targets) if len(targets) > 1 else targets:
            if hop in brokers:
                if hop != source:
                    neighbours.append(hop)
            elif hop in self._clients:
                subscribers.append(hop)
            else:
                outbox.drop(hop, envelope, "the link is down")
        if subscribers:
            outbox.publications(now_us, subscribers, envelope, size, "NOTIFIED")
        if neighbours:
            onward = Envelope(publication, hops + 1)
            if self._max_hops and hops >= self._max_hops:
                self._too_far(neighbours, onward)
            else:
                outbox.publications(now_us, neighbours, onward, publication_size(onward), "FORWARDED")
        if self._layer is not None:
            self._layer.publication_processed(now_us, envelope, source, neighbours, len(subscribers))

    def _too_far(self, neighbours: list[str], envelope: Envelope) -> None:
        for neighbour in neighbours:
            self._outbox.drop(neighbour, envelope, f"more than {self._max_hops} hops")

    def _accept(self, now_us: int, source: str, envelope: Envelope) -> Envelope | None:
        """A publication of a local client, checked; None if it is refused."""
        publication: Publication = envelope.body  # type: ignore[assignment]
        try:
            self._check_publication(source, publication)
        except BrokerError as error:
            self._outbox.refuse(source, error.reason, str(error), envelope.request, publication.id)
            return None
        if envelope.request:
            self._outbox.send(source, Ack(publication.id), envelope.request)
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
        srt = self.routing.srt
        return any(srt.routes[id_].filter.matches(publication.attributes) for id_ in srt.of_hop(source))

    # ------------------------------------------------------------ other messages

    def _control(self, source: str, envelope: Envelope) -> None:
        peer = self.links.get(source)
        if peer is None:
            return self._outbox.drop(source, envelope, "not connected")
        body = envelope.body
        self.log(LogEvent(kind="RECEIVED", type=TYPE_OF[body.__class__], peer=source, message=id_of(body),
                          hops=envelope.hops, bytes=encoded_size(envelope)))  # fmt: skip
        if peer.kind == "broker" and body.settles:
            peer.control_received += 1
        try:
            self._act(peer, envelope)
        except BrokerError as error:
            self._outbox.refuse(source, error.reason, str(error), envelope.request, id_of(body))

    def _act(self, peer: Peer, envelope: Envelope) -> None:
        kind = envelope.body.__class__
        if SENDER_OF[kind] not in ("anyone", peer.kind):
            raise ProtocolError(f"a {peer.kind} does not send a {TYPE_OF[kind]}")
        action = self._actions.get(kind)
        if action is not None:
            action(peer, envelope, envelope.body)
        elif self._layer is not None:
            self._layer.received(self._outbox.now_us, peer.name, envelope)
        else:
            raise ProtocolError(f"this broker runs no algorithm that knows {envelope.body.type}")

    def _rejected(self, stimulus: Rejected) -> None:
        self._outbox.refuse(stimulus.peer, stimulus.reason, stimulus.detail, stimulus.request)

    def _heartbeat(self, peer: Peer, envelope: Envelope, body: Heartbeat) -> None:
        self._outbox.send(peer.name, HeartbeatAnswer(body.sequence))

    def _heartbeat_answer(self, peer: Peer, envelope: Envelope, body: HeartbeatAnswer) -> None:
        self.links.answered(peer.name, body.sequence)

    def _probe(self, peer: Peer, envelope: Envelope, body: Probe) -> None:
        self._outbox.send(peer.name, ProbeAnswer(body.sequence), envelope.request)

    def _ignore(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        """It is in the log; an answer to an answer would never end."""

    def _second_hello(self, peer: Peer, envelope: Envelope, body: Hello) -> None:
        raise ProtocolError("a second hello on one stream")

    # ------------------------------------------------------------ links

    def admit(self, hello: Hello) -> BrokerError | None:
        """For a driver, before PeerUp: why this stream is refused, or None."""
        return self.links.admit(hello)

    def _peer_up(self, stimulus: PeerUp) -> None:
        if self.links.get(stimulus.peer) is not None:
            self._peer_down(PeerDown(stimulus.peer, "replaced by a newer stream"))
        peer = self.links.up(stimulus.peer, stimulus.kind, stimulus.incarnation)
        if peer.kind == "broker":
            self.log(LogEvent(kind="LINK_UP", peer=peer.name))
            self._keeper.link_up(peer)
            if self.options.verify_tree:
                self._discovery.link_up(peer.name)
        if self._layer is not None:
            self._layer.peer_up(self._outbox.now_us, peer.name)

    def _peer_down(self, stimulus: PeerDown) -> None:
        peer = self.links.down(stimulus.peer)
        if peer is None:
            return
        if peer.kind == "client":
            self._keeper.client_gone(peer)
        else:
            self.log(LogEvent(kind="LINK_DOWN", peer=peer.name, detail=stimulus.reason))
            self._discovery.link_down(peer.name)
            self._keeper.link_down(peer, self._outbox.now_us)
        self.monitor.forget(peer.name)
        if self._layer is not None:
            self._layer.peer_down(self._outbox.now_us, peer.name)

    def _beat(self, now_us: int) -> None:
        due, dead = self.links.beat(now_us)
        for peer, sequence in due:
            self._outbox.send(peer, Heartbeat(sequence))
        for peer in dead:
            self._outbox.effects.append(CloseLink(peer, "no answer to heartbeats", redial=True))

    # ------------------------------------------------------------ for the layer

    def send(self, peer: str, body: Body, request: int = 0) -> None:
        self._outbox.send(peer, body, request)

    def log(self, event: LogEvent) -> None:
        self._outbox.log(event)

    def tell(self, told: list[Told]) -> None:
        self._keeper.tell(told)

    def accept_advertisement(self, advertisement: Advertisement, hop: str) -> None:
        filter_ = Filter.shared(advertisement.predicates, self.options.max_predicates)
        self.routing.place_advertisement(Route(advertisement, filter_, hop, 0))

    # ------------------------------------------------------------ questions

    def neighbours(self) -> list[str]:
        return sorted(self._brokers)

    def clients(self) -> list[str]:
        return sorted(self._clients)

    def has_client(self, client: str) -> bool:
        return client in self._clients

    @property
    def waiting(self) -> int:
        """Messages in the queues of the service model."""
        return len(self._station) if self._station is not None else 0

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
            "deliveries": self._outbox.deliveries,
            "dropped": self._outbox.dropped,
        }


def _earlier(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return one if other is None else other
    return min(one, other)


def _reached(deadline: int | None, now_us: int) -> bool:
    return deadline is not None and deadline <= now_us
