"""The content-based broker: routing, link repair, discovery and an optional layer on the node of `core`.

`routing` has the rules. Both drivers run this machine; `machine` is the contract.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from broker_grpc.content.filters import Filter
from broker_grpc.core.links import Peer
from broker_grpc.core.node import Node
from broker_grpc.core.options import BrokerOptions
from broker_grpc.core.timed import Parts, Timed
from broker_grpc.errors import LimitExceeded, NotConformingError, ProtocolError
from broker_grpc.machine import Log, MeasureTrip, PeerKind, TripMeasured
from broker_grpc.protocols.contentbased.discovery import Discovery
from broker_grpc.protocols.contentbased.exchange import Exchanges
from broker_grpc.protocols.contentbased.layer import ExchangeEnded, Layer
from broker_grpc.protocols.contentbased.part import Part, Waiting
from broker_grpc.protocols.contentbased.routekeeper import RouteKeeper
from broker_grpc.protocols.contentbased.routing import Routing, Told
from broker_grpc.protocols.contentbased.tables import Route
from protos.body import Body, Envelope
from protos.client_messages import Advertisement, Publication, Subscription, Unadvertisement, Unsubscription
from protos.content_messages import Value
from protos.contentbased_messages import BrokerInformation, DiscoveryRequest, SyncComplete
from protos.core_messages import Heartbeat, HeartbeatAnswer, Probe
from protos.envelope import publication_size
from protos.records import LogEvent


class Broker(Node):
    """One broker, perhaps with a `layer` on it. `addresses`: of those that it may have links with one day."""

    __slots__ = ("_discovery", "_exchanges", "_index", "_keeper", "_layer", "_matched_by", "_max_hops",
                 "random", "routing")  # fmt: skip

    quick = (Heartbeat, HeartbeatAnswer, Probe)

    def __init__(
        self,
        id_: str,
        options: BrokerOptions | None = None,
        incarnation: int = 1,
        rng: random.Random | None = None,
        layer: Layer | None = None,
        addresses: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(id_, options, incarnation)
        options = self.options
        self.random = rng or random.Random(0)
        self.routing = Routing(options.subscription_covering, options.advertisement_covering)
        self._index = self._matched_by = self.routing.prt.index
        self._max_hops = options.max_hops
        self._keeper = RouteKeeper(self.routing, options, self._outbox, self.id_prefix)
        self._discovery = Discovery(self.id_prefix, self.links, self.routing, self._outbox)
        self._layer = layer
        self._exchanges = Exchanges(
            self.id_prefix, self.links, self.routing, self._outbox, self, addresses or {},
            options.exchange_patience_us, options.max_predicates,
        )  # fmt: skip
        self._add_actions()
        self._arrange(before=self._due_parts())
        if layer is not None:
            layer.attach(self)

    def _add_actions(self) -> None:
        """What to do with each type of message; every other one is for the layer."""
        self._actions |= {
            Advertisement: self._keeper.advertisement,
            Subscription: self._keeper.subscription,
            Unadvertisement: self._keeper.unadvertisement,
            Unsubscription: self._keeper.unsubscription,
            SyncComplete: self._keeper.sync_complete,
            DiscoveryRequest: self._discovery.request,
            BrokerInformation: self._discovery.answer,
        }
        self._actions |= self._exchanges.actions

    def _due_parts(self) -> Parts:
        """Only what can ever be due: the usual broker has no deadline at all."""
        options, layer = self.options, self._layer
        parts: Parts = ()
        if options.repair_grace_us:
            parts += (Timed(self._keeper.next_deadline_us, self._keeper.deadline),)
        if options.heartbeat_interval_us:
            parts += (Timed(self._heartbeats.next_deadline_us, self._heartbeats.deadline),)
        parts += self._sampling()
        if layer is not None:
            parts += (Timed(layer.next_deadline_us, layer.deadline),)
        exchanges = self._exchanges
        return (*parts, Timed(exchanges.next_deadline_us, exchanges.deadline, moved_by_publications=False))

    # ------------------------------------------------------------ publications

    def _match(self, attributes: Mapping[str, Value]) -> tuple[set[str], int]:
        self._matched_by = self._index
        return self._index.match_hops(attributes), self._index.candidates

    def _publication(
        self, now_us: int, source: str, kind: PeerKind | None, envelope: Envelope,
        targets: set[str] | None, queueing_us: int, matching_us: int,
    ) -> None:  # fmt: skip
        """Rule 3: a copy per distinct last hop, never back to the broker it came from."""
        outbox, brokers = self._outbox, self._brokers
        part, index = self._exchanges.part, self._index
        if part is not None:
            if part.keeps(source, kind, envelope, now_us):
                return
            if part.is_new(source, kind, envelope):
                index = part.index()
        if kind != "broker":
            accepted = self._admitted(now_us, source, kind, envelope)
            if accepted is None:
                return
            envelope = accepted
        publication: Publication = envelope.body  # type: ignore[assignment]
        if targets is None or index is not self._matched_by:
            targets = index.match_hops(publication.attributes)
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
            elif index is not self._index and part is not None:
                self._send_marked(now_us, part, neighbours, onward)
            else:
                outbox.publications(now_us, neighbours, onward, publication_size(onward), "FORWARDED")
        if self._layer is not None:
            self._layer.publication_processed(now_us, envelope, source, neighbours, len(subscribers))

    def _send_marked(self, now_us: int, part: Part, neighbours: list[str], envelope: Envelope) -> None:
        """By the tree that an exchange is making."""
        for some, number in part.marked(neighbours):
            if some:
                onward = Envelope(envelope.body, envelope.hops, number)
                self._outbox.publications(now_us, some, onward, publication_size(onward), "FORWARDED")

    def _too_far(self, neighbours: list[str], envelope: Envelope) -> None:
        for neighbour in neighbours:
            self._outbox.drop(neighbour, envelope, f"more than {self._max_hops} hops")

    def _admitted(
        self, now_us: int, source: str, kind: PeerKind | None, envelope: Envelope
    ) -> Envelope | None:
        """A publication that came from no neighbour, as it will be routed; None if it will not be."""
        if kind is None:
            self._outbox.drop(source, envelope, "not connected")
            return None
        publication = self._accepted(source, envelope)
        if publication is not None and self._layer is not None:
            publication = self._layer.publication_accepted(now_us, publication)
        return None if publication is None else Envelope(publication)

    def _check_publication(self, source: str, publication: Publication) -> None:
        if self.options.conformance and not self._conforms(source, publication):
            raise NotConformingError(f"publication {publication.id} matches no advertisement of {source}")

    def _conforms(self, source: str, publication: Publication) -> bool:
        srt = self.routing.srt
        return any(srt.routes[id_].filter.matches(publication.attributes) for id_ in srt.of_hop(source))

    # ------------------------------------------------------------ other messages, peers

    def _act(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        part = self._exchanges.part
        if part is None or not part.defers(peer, body):
            return super()._act(peer, envelope, body)
        if peer.kind == "client" and 0 < self.options.input_queue <= len(part.waiting):
            raise LimitExceeded(f"{len(part.waiting)} requests wait for the end of exchange {part.id}")
        part.wait("message", peer, envelope)

    def _other(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        if self._layer is None:
            raise ProtocolError(f"this broker runs no algorithm that knows {body.type}")
        self._layer.received(self.now_us, peer.name, envelope)

    def _up(self, peer: Peer) -> None:
        if peer.kind == "broker":
            if self._exchanges.takes_up(peer):
                return
            self._keeper.link_up(peer)
            if self.options.verify_tree:
                self._discovery.link_up(peer.name)
        if self._layer is not None:
            self._layer.peer_up(self.now_us, peer.name)

    def _down(self, peer: Peer) -> None:
        if self._exchanges.takes_down(peer):
            return
        if peer.kind == "client":
            self._keeper.client_gone(peer)
        else:
            self._discovery.link_down(peer.name)
            self._keeper.link_down(peer, self.now_us)
        if self._layer is not None:
            self._layer.peer_down(self.now_us, peer.name)

    def _trip_measured(self, stimulus: TripMeasured) -> None:
        if self._layer is not None:
            self._layer.trip_measured(self.now_us, stimulus.peer, stimulus.rtt_us)

    def _instruct(self, name: str, arguments: dict[str, Any]) -> None:
        if name != "exchange":
            return super()._instruct(name, arguments)
        to, (first, second) = arguments["to"], arguments["remove"]
        if "address" in arguments:
            self._exchanges.learn(to, arguments["address"])
        self._exchanges.order(to, (first, second), arguments.get("path", ()))

    # ------------------------------------------------------------ for the layer

    def tell(self, told: list[Told]) -> None:
        self._keeper.tell(told)

    def accept_advertisement(self, advertisement: Advertisement, hop: str) -> None:
        filter_ = Filter.shared(advertisement.predicates, self.options.max_predicates)
        self.routing.place_advertisement(Route(advertisement, filter_, hop, 0))

    def neighbours(self) -> list[str]:
        return self.routing.neighbours

    def rtt_us(self, neighbour: str) -> int | None:
        peer = self._brokers.get(neighbour)
        return peer.rtt_us if peer is not None else None

    def measure_trip(self, broker: str) -> None:
        self._outbox.effects.append(MeasureTrip(broker))

    def exchange(self, to: str, remove: tuple[str, str], path: Sequence[str] = (), detail: str = "") -> str:
        return self._exchanges.order(to, remove, path, detail)

    def exchanging(self) -> str:
        return self._exchanges.under_way

    def clients(self) -> list[str]:
        return sorted(self._clients)

    def has_client(self, client: str) -> bool:
        return client in self._clients

    # ------------------------------------------------------------ for exchanges (exchange.Seat)

    def objection(self) -> str:
        return self._layer.objection() if self._layer is not None else ""

    def go_on(self, part: Part, is_done: bool) -> None:
        self._index = self.routing.prt.index
        for source, envelope, at_us in part.held:
            self._publication(self.now_us, source, "broker", envelope, None, self.now_us - at_us, 0)
        if is_done and self._layer is not None:
            if part.far_end:
                self._layer.peer_up(self.now_us, part.far_end)
            if part.lost_end:
                self._layer.peer_down(self.now_us, part.lost_end)
        for waiting in part.waiting:
            self._go_on_with(waiting)

    def _go_on_with(self, waiting: Waiting) -> None:
        what, peer, envelope = waiting
        is_here = self.links.get(peer.name) is peer
        if what == "down":
            self._down(peer)
        elif what == "up" and is_here:
            self._up(peer)
        elif envelope is not None and envelope.body.__class__ is Publication:
            self._publication(self.now_us, peer.name, peer.kind, envelope, None, 0, 0)
        elif envelope is not None and is_here:  # else it is void with its stream
            self._answer(peer, envelope)

    def exchange_ended(self, ended: ExchangeEnded) -> None:
        if self._layer is not None:
            self._layer.exchange_ended(self.now_us, ended)

    # ------------------------------------------------------------ questions

    @property
    def settled(self) -> bool:
        return not self._exchanges.under_way and super().settled

    def _held(self) -> tuple[int, int]:
        return len(self.routing.srt), len(self.routing.prt)
