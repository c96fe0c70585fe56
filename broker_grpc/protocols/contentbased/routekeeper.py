"""Keeps the routing tables: requests of clients, messages of brokers, links that come and go.

`routing` says what follows from a change; here it is decided who may make which change, and the
messages that follow are sent.
"""

from __future__ import annotations

from collections.abc import Callable

from broker_grpc.content.filters import Filter
from broker_grpc.core.links import Peer, process_incarnation
from broker_grpc.core.options import BrokerOptions
from broker_grpc.core.outbox import Outbox
from broker_grpc.errors import DuplicateError, LimitExceeded, NotFoundError, ProtocolError
from broker_grpc.protocols.contentbased.repair import Repair
from broker_grpc.protocols.contentbased.routing import Routing, Told
from broker_grpc.protocols.contentbased.tables import Route
from protos.body import Envelope
from protos.client_messages import Advertisement, Subscription, Unadvertisement, Unsubscription
from protos.contentbased_messages import SyncComplete
from protos.core_messages import Ack


class RouteKeeper:
    def __init__(self, routing: Routing, options: BrokerOptions, outbox: Outbox, id_prefix: str) -> None:
        self.routing = routing
        self._options = options
        self._outbox = outbox
        self._id_prefix = id_prefix
        self._last_id = 0
        self._repair = Repair(options.repair_grace_us)

    # ------------------------------------------------------------ messages

    def advertisement(self, peer: Peer, envelope: Envelope, body: Advertisement) -> None:
        filter_ = Filter.shared(body.predicates, self._options.max_predicates)
        if peer.kind == "client":
            id_ = self._new_id(peer, body.id, "a", self.routing.srt.get)
            body = Advertisement(id_, peer.name, body.predicates)
        else:
            self._repair.seen(peer.name, body.id)
        self.tell(self.routing.advertise(Route(body, filter_, peer.name, envelope.hops)))
        self._ack(peer, envelope, body.id, 1)

    def subscription(self, peer: Peer, envelope: Envelope, body: Subscription) -> None:
        filter_ = Filter.shared(body.predicates, self._options.max_predicates)
        if peer.kind == "client":
            id_ = self._new_id(peer, body.id, "s", self.routing.prt.get)
            body = Subscription(id_, peer.name, body.predicates)
        else:
            self._repair.seen(peer.name, body.id)
        self.tell(self.routing.subscribe(Route(body, filter_, peer.name, envelope.hops)))
        self._ack(peer, envelope, body.id, 1)

    def unadvertisement(self, peer: Peer, envelope: Envelope, body: Unadvertisement) -> None:
        _check_held(peer, self.routing.srt.get(body.id), body.id)
        self.tell(self.routing.unadvertise(body.id, peer.name))
        self._ack(peer, envelope, body.id, -1)

    def unsubscription(self, peer: Peer, envelope: Envelope, body: Unsubscription) -> None:
        _check_held(peer, self.routing.prt.get(body.id), body.id)
        self.tell(self.routing.unsubscribe(body.id, peer.name))
        self._ack(peer, envelope, body.id, -1)

    def _ack(self, peer: Peer, envelope: Envelope, id_: str, change: int) -> None:
        if peer.kind == "client":
            peer.routes += change
            self._outbox.send(peer.name, Ack(id_), envelope.request)

    def _new_id(self, peer: Peer, wish: str, letter: str, known: Callable[[str], Route | None]) -> str:
        """The first broker gives the id; a client may wish for one that is not in use."""
        if peer.routes >= self._options.max_routes_per_client:
            raise LimitExceeded(f"{peer.name} holds {peer.routes} advertisements and subscriptions")
        if wish:
            if known(wish) is not None:
                raise DuplicateError(f"id {wish!r} is in use")
            return wish
        self._last_id += 1
        return f"{self._id_prefix}:{letter}{self._last_id}"

    # ------------------------------------------------------------ links

    def link_up(self, peer: Peer) -> None:
        """Rule 5. What the peer had told before it was lost stays only if it tells it again."""
        routes = [*self.routing.srt.of_hop(peer.name), *self.routing.prt.of_hop(peer.name)]
        if not self._repair.returned(peer.name, process_incarnation(peer.incarnation), routes):
            self.tell(self.routing.hop_gone(peer.name))
        told = self.routing.link_up(peer.name)
        self.tell(told)
        peer.sync_sent = 1
        self._outbox.send(peer.name, SyncComplete(len(told)))

    def sync_complete(self, peer: Peer, envelope: Envelope, body: SyncComplete) -> None:
        """The first says that all advertisements were told, the second that all subscriptions were."""
        if peer.sync_received == 2:
            raise ProtocolError("a third sync_complete on one stream")
        peer.sync_received += 1
        if peer.sync_received == 1:
            for id_ in self._repair.unseen(peer.name, self.routing.srt.of_hop(peer.name)):
                self.tell(self.routing.unadvertise(id_, peer.name))
            peer.sync_sent = 2
            advertisements = len(self.routing.advertisements_told[peer.name].told)
            subscriptions = len(self.routing.subscriptions_told[peer.name].told)
            self._outbox.send(peer.name, SyncComplete(advertisements, subscriptions))
        else:
            for id_ in self._repair.unseen(peer.name, self.routing.prt.of_hop(peer.name)):
                self.tell(self.routing.unsubscribe(id_, peer.name))
            self._repair.done(peer.name)

    def link_down(self, peer: Peer, now_us: int) -> None:
        self.routing.link_lost(peer.name)
        if not self._repair.lost(peer.name, process_incarnation(peer.incarnation), now_us):
            self.tell(self.routing.hop_gone(peer.name))

    def client_gone(self, peer: Peer) -> None:
        self.tell(self.routing.hop_gone(peer.name))

    def next_deadline_us(self) -> int | None:
        return self._repair.next_deadline_us()

    def deadline(self, now_us: int) -> None:
        for neighbour in self._repair.expired(now_us):
            self.tell(self.routing.hop_gone(neighbour))

    def tell(self, told: list[Told]) -> None:
        limit = self._options.max_hops
        for neighbour, message, hops in told:
            envelope = Envelope(message, hops)
            if limit and hops > limit:
                self._outbox.drop(neighbour, envelope, f"more than {limit} hops")
            else:
                self._outbox.forward(neighbour, envelope)


def _check_held(peer: Peer, route: Route | None, id_: str) -> None:
    if peer.kind == "client" and (route is None or route.hop != peer.name):
        raise NotFoundError(f"{peer.name} holds no {id_!r} here")
