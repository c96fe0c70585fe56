"""The content-based broker: routing, link repair, discovery and an optional layer on the node of `core`.

`routing` has the rules. Both drivers run this machine; `machine` is the contract.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from broker_grpc.content.filters import Filter
from broker_grpc.core.links import Peer
from broker_grpc.core.node import Node
from broker_grpc.core.options import BrokerOptions
from broker_grpc.core.timed import Parts, Timed
from broker_grpc.errors import NotConformingError, ProtocolError
from broker_grpc.machine import Log, PeerKind
from broker_grpc.protocols.contentbased.discovery import Discovery
from broker_grpc.protocols.contentbased.layer import Layer
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
    """One broker; with a `layer`, one whose publishers may move."""

    __slots__ = ("_discovery", "_index", "_keeper", "_layer", "_max_hops", "random", "routing")

    quick = (Heartbeat, HeartbeatAnswer, Probe)

    def __init__(
        self,
        id_: str,
        options: BrokerOptions | None = None,
        incarnation: int = 1,
        rng: random.Random | None = None,
        layer: Layer | None = None,
    ) -> None:
        super().__init__(id_, options, incarnation)
        options = self.options
        self.random = rng or random.Random(0)
        self.routing = Routing(options.subscription_covering, options.advertisement_covering)
        self._index = self.routing.prt.index
        self._max_hops = options.max_hops
        self._keeper = RouteKeeper(self.routing, options, self._outbox, self.id_prefix)
        self._discovery = Discovery(self.id_prefix, self.links, self.routing, self._outbox)
        self._layer = layer
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
        return parts

    # ------------------------------------------------------------ publications

    def _match(self, attributes: Mapping[str, Value]) -> tuple[set[str], int]:
        return self._index.match_hops(attributes), self._index.candidates

    def _publication(
        self, now_us: int, source: str, kind: PeerKind | None, envelope: Envelope,
        targets: set[str] | None, queueing_us: int, matching_us: int,
    ) -> None:  # fmt: skip
        """Rule 3: a copy per distinct last hop, never back to the broker it came from."""
        outbox, brokers = self._outbox, self._brokers
        if kind != "broker":
            accepted = self._admitted(now_us, source, kind, envelope)
            if accepted is None:
                return
            envelope = accepted
        publication: Publication = envelope.body  # type: ignore[assignment]
        if targets is None:
            targets = self._index.match_hops(publication.attributes)
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

    def _other(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        if self._layer is None:
            raise ProtocolError(f"this broker runs no algorithm that knows {body.type}")
        self._layer.received(self.now_us, peer.name, envelope)

    def _up(self, peer: Peer) -> None:
        if peer.kind == "broker":
            self._keeper.link_up(peer)
            if self.options.verify_tree:
                self._discovery.link_up(peer.name)
        if self._layer is not None:
            self._layer.peer_up(self.now_us, peer.name)

    def _down(self, peer: Peer) -> None:
        if peer.kind == "client":
            self._keeper.client_gone(peer)
        else:
            self._discovery.link_down(peer.name)
            self._keeper.link_down(peer, self.now_us)
        if self._layer is not None:
            self._layer.peer_down(self.now_us, peer.name)

    # ------------------------------------------------------------ for the layer

    def tell(self, told: list[Told]) -> None:
        self._keeper.tell(told)

    def accept_advertisement(self, advertisement: Advertisement, hop: str) -> None:
        filter_ = Filter.shared(advertisement.predicates, self.options.max_predicates)
        self.routing.place_advertisement(Route(advertisement, filter_, hop, 0))

    def neighbours(self) -> list[str]:
        return sorted(self._brokers)

    def clients(self) -> list[str]:
        return sorted(self._clients)

    def has_client(self, client: str) -> bool:
        return client in self._clients

    # ------------------------------------------------------------ questions

    def _held(self) -> tuple[int, int]:
        return len(self.routing.srt), len(self.routing.prt)
