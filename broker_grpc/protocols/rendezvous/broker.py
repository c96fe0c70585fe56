"""A broker on topic trees: a publication goes to the rendezvous point of its topic, and down its tree.

On its way to the root it is a publication like any other, on leg 1. The root turns it round: on leg 0 every
broker notifies its clients and passes it to its children. Which broker is the root, and by which way it is
reached, the ring says; a broker holds one ring with its trees, a `Plane`, or several versions of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import msgspec

from broker_grpc.core.interests import TOPIC, LocalInterests
from broker_grpc.core.linkpool import NO_LINK, LinkPool
from broker_grpc.core.links import Peer
from broker_grpc.core.node import Node
from broker_grpc.core.options import BrokerOptions
from broker_grpc.core.seen import SeenIds
from broker_grpc.core.timed import Timed
from broker_grpc.errors import NotConformingError, NotFoundError, ProtocolError
from broker_grpc.machine import Log, PeerKind
from broker_grpc.protocols.rendezvous.plane import Plane
from broker_grpc.protocols.rendezvous.rings import MakeRing
from broker_grpc.protocols.rendezvous.settings import RendezvousSettings
from broker_grpc.protocols.rendezvous.trees import Trees
from broker_grpc.protocols.ring.identifiers import key_of
from broker_grpc.protocols.ring.substrate import Substrate
from protos.body import Body, Envelope
from protos.client_messages import (
    Advertisement,
    Publication,
    Redirect,
    Subscription,
    Unadvertisement,
    Unsubscription,
)
from protos.content_messages import Value
from protos.core_messages import Ack
from protos.envelope import publication_size
from protos.purposes import TO_ROOT, goes_up
from protos.records import LogEvent
from protos.rendezvous_messages import (
    TreeAttach,
    TreeDetach,
    TreeHandover,
    TreeHeartbeat,
    TreeJoin,
    TreeLeave,
    TreePrune,
)

# Messages that are kept until a ring has joined. A heartbeat changes nothing then.
OF_TREES = (TreeJoin, TreeAttach, TreeLeave, TreeDetach, TreeHandover, TreePrune)
KEPT = 1000  # of each plane


class RendezvousBroker(Node):
    """`RingHost` and `TreeHost` of its planes. `make_ring` gives the ring of a plane."""

    quick = (TreeHeartbeat,)

    def __init__(
        self,
        id_: str,
        settings: RendezvousSettings,
        make_ring: MakeRing,
        options: BrokerOptions | None = None,
        addresses: Mapping[str, str] | None = None,
        incarnation: int = 1,
        random: Random | None = None,
    ) -> None:
        super().__init__(id_, options, incarnation)
        self.settings = settings
        self.random = random or Random(0)
        self.addresses = addresses or {}
        self.plane = 0  # in which publications of clients are routed
        self.planes: dict[int, Plane] = {}
        limits = self.options.max_routes_per_client, self.options.max_predicates
        self.interests = LocalInterests(self.id_prefix, (), *limits, "on topic trees")
        self._seen = SeenIds(settings.remembered)
        self._pool = LinkPool(self._outbox, self.links, self.addresses, None, self._undelivered)
        self._make_ring = make_ring
        self._joined = False
        self._leaving = False
        self._subscribed: frozenset[str] = frozenset()
        self.open_plane(0)
        self._arrange(after=(*self._sampling(), Timed(self._next_us, self._run_due)))

    def open_plane(self, number: int, ring: Substrate | None = None) -> Plane:
        """Ring and trees of one more version. The trees are empty, the ring is as it was made; whoever opens
        the plane has it join."""
        ring = ring or self._make_ring(self, number)
        plane = self.planes[number] = Plane(ring, Trees(self, ring, self.settings))
        ring.listeners.append(self)
        return plane

    def close_plane(self, number: int) -> None:
        del self.planes[number]
        self._pool.demand(f"ring {number}", {})
        self._pool.demand(f"trees {number}", {})

    # ------------------------------------------------------------ publications

    def _match(self, attributes: Mapping[str, Value]) -> tuple[set[str], int]:
        """A topic is looked up; only what its subscriptions ask beyond it are filters to look at."""
        return set(), self.interests.filters(attributes)

    def _publication(
        self, now_us: int, source: str, kind: PeerKind | None, envelope: Envelope,
        targets: set[str] | None, queueing_us: int, matching_us: int,
    ) -> None:  # fmt: skip
        if kind is None:
            return self._outbox.drop(source, envelope, "not connected")
        publication: Publication = envelope.body  # type: ignore[assignment]
        if kind == "client":
            accepted = self._accepted(source, envelope)
            if accepted is None:
                return
            publication = on_leg(accepted, self.plane, TO_ROOT)
        plane = self.planes.get(publication.plane)
        if plane is None:
            return self._outbox.drop(source, envelope, f"no plane {publication.plane} here")
        tree = self.tree_of(publication)
        times = queueing_us, matching_us
        if goes_up(publication.leg):
            self._to_root(now_us, source, plane, tree, Envelope(publication, envelope.hops), times)
        elif plane.trees.came_down(tree, source):
            self._spread(now_us, source, plane, tree, envelope, times, came_up=False)
        else:
            self._outbox.drop(source, envelope, "not in the tree")

    def _check_publication(self, source: str, publication: Publication) -> None:
        if not publication.attributes.get(TOPIC):
            raise NotConformingError(f"on topic trees a publication names its topic: [{TOPIC},'news']")

    def tree_of(self, publication: Publication) -> str:
        """Whose root it goes to, or which it comes down. On every tree the way up has an odd leg, and the way
        down the even one before it."""
        return topic_of(publication)

    def _to_root(
        self, now_us: int, source: str, plane: Plane, tree: str, envelope: Envelope, times: tuple[int, int]
    ) -> None:
        if not plane.ring.joined:
            return self._keep(plane, source, envelope, times)
        publication: Publication = envelope.body  # type: ignore[assignment]
        hop = plane.ring.next_hop(key_of(tree))
        if hop is None:
            turned = Envelope(on_leg(publication, publication.plane, publication.leg - 1), envelope.hops)
            return self._spread(now_us, source, plane, tree, turned, times, envelope.hops > 0)
        if envelope.hops >= self.settings.ring.hop_limit:
            return self._outbox.drop(hop, envelope, "over too many links")
        self._processed(now_us, source, envelope, times, publication.leg)
        self.post(hop, Envelope(publication, envelope.hops + 1))

    def _spread(
        self, now_us: int, source: str, plane: Plane, tree: str, envelope: Envelope, times: tuple[int, int],
        came_up: bool,
    ) -> None:  # fmt: skip
        """To clients and children, once."""
        publication: Publication = envelope.body  # type: ignore[assignment]
        if not self._seen.is_new(self._copy_of(publication)):
            return self._outbox.drop(source, envelope, "duplicate")
        self._processed(now_us, source, envelope, times, publication.leg + came_up)
        self._notify(now_us, envelope)
        children = plane.trees.children(tree, "" if came_up else source)
        if children:
            self._to_children(now_us, children, Envelope(publication, envelope.hops + 1))

    def _copy_of(self, publication: Publication) -> str:
        """By which a copy is known again."""
        return publication.id

    def _notify(self, now_us: int, envelope: Envelope) -> None:
        publication: Publication = envelope.body  # type: ignore[assignment]
        subscribers = self.interests.subscribers(publication.attributes)
        if subscribers:
            size = publication_size(envelope)
            self._outbox.publications(now_us, subscribers, envelope, size, "NOTIFIED")

    def _to_children(self, now_us: int, children: list[str], onward: Envelope) -> None:
        linked = [name for name in children if name in self._brokers]
        if linked:
            self._outbox.publications(now_us, linked, onward, publication_size(onward), "FORWARDED")
        for name in children:
            if name not in self._brokers:
                self.post(name, onward)

    def _processed(
        self, now_us: int, source: str, envelope: Envelope, times: tuple[int, int], leg: int
    ) -> None:
        publication: Publication = envelope.body  # type: ignore[assignment]
        self.publications += 1
        size = publication_size(envelope)
        event = LogEvent(now_us, 0, self.id, "PROCESSED", "publication", source, publication.id,
                         envelope.hops, size, publication.published_us, *times)  # fmt: skip
        event.leg = leg
        self._outbox.effects.append(Log(event))

    # ------------------------------------------------------------ other messages

    def _act(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        match body:
            case Advertisement() | Subscription() if peer.kind == "client":
                is_subscription = isinstance(body, Subscription)
                id_ = self.interests.add(peer.name, body.id, body.predicates, is_subscription)
                self.send(peer.name, Ack(id_), envelope.request)
                self._interests_changed()
            case Unadvertisement() | Unsubscription() if peer.kind == "client":
                self.interests.remove(peer.name, body.id, isinstance(body, Unsubscription))
                self.send(peer.name, Ack(body.id), envelope.request)
                self._interests_changed()
            case _:
                self._of_a_plane(peer, envelope, body)

    def _of_a_plane(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        number = getattr(body, "plane", None)
        if number is None:
            return super()._act(peer, envelope, body)
        plane = self.planes.get(number)
        if plane is None:
            raise NotFoundError(f"no plane {number} at {self.id}")
        if body.__class__ in OF_TREES and not plane.ring.joined:
            return self._keep(plane, peer.name, envelope, (0, 0))
        if not plane.received(self.now_us, peer.name, envelope):
            raise ProtocolError(f"{self.id} has no use for {body.type}")

    # ------------------------------------------------------------ before the ring has joined

    def _keep(self, plane: Plane, source: str, envelope: Envelope, times: tuple[int, int]) -> None:
        if self._leaving or len(plane.early) >= KEPT:
            return self._outbox.drop(source, envelope, "not a member of the ring")
        plane.early.append((source, envelope, times))

    def _release(self, now_us: int, plane: Plane) -> None:
        for source, envelope, times in plane.released():
            peer = self.links.get(source)
            if isinstance(envelope.body, Publication):
                self._to_root(now_us, source, plane, self.tree_of(envelope.body), envelope, times)
            elif peer is None:
                self._outbox.drop(source, envelope, "not connected")
            else:
                self._answer(peer, envelope)

    # ------------------------------------------------------------ local interests

    def _interests_changed(self) -> None:
        """The first local interest in a topic joins its tree, the last one leaves it (in every plane)."""
        wanted = self.interests.subscribed()
        for topic in sorted(wanted ^ self._subscribed):
            for plane in self.planes.values():
                if topic in wanted:
                    plane.trees.subscribe(topic)
                else:
                    plane.trees.unsubscribe(topic)
        self._subscribed = wanted

    def redirect(self, client: str, broker: str) -> None:
        """Send a client to another broker."""
        if client in self.links.clients:
            self.send(client, Redirect(broker, self.addresses.get(broker, "")))

    # ------------------------------------------------------------ peers and time

    def _up(self, peer: Peer) -> None:
        if peer.kind == "broker":
            self._pool.peer_up(peer.name)
            for plane in self.planes.values():
                plane.peer_up(self.now_us, peer.name)

    def _down(self, peer: Peer) -> None:
        if peer.kind == "client":
            self.interests.client_gone(peer.name)
            return self._interests_changed()
        self._pool.peer_down(peer.name)
        for plane in self.planes.values():
            plane.peer_down(self.now_us, peer.name)

    def _next_us(self) -> int | None:
        """It joins its ring as soon as it is asked for the first time."""
        if not self._joined:
            return 0
        if any(plane.has_kept for plane in self.planes.values()):
            return 0
        due = [self._pool.next_deadline_us(), *(plane.next_deadline_us() for plane in self.planes.values())]
        return min((at for at in due if at is not None), default=None)

    def _run_due(self, now_us: int) -> None:
        if not self._joined:
            self._joined = True
            self.planes[self.plane].ring.join(now_us, self.seeds())
        at = self._pool.next_deadline_us()
        if at is not None and at <= now_us:
            self._pool.deadline(now_us)
        for plane in list(self.planes.values()):
            plane.deadline(now_us)
            if plane.has_kept:
                self._release(now_us, plane)

    def seeds(self) -> list[str]:
        """Through whom to join. Without a word of the settings the first of all brokers begins the ring; when
        it comes back, it joins through the others."""
        if self.settings.seeds:
            return [name for name in self.settings.seeds if name != self.id]
        others = sorted(name for name in self.addresses if name != self.id)
        if self.incarnation > 1:
            return self.random.sample(others, len(others))
        is_first = not others or self.id < others[0]
        return [] if is_first else others

    def _say_farewell(self) -> None:
        self._leaving = True
        for plane in self.planes.values():
            plane.farewell(self.now_us)

    # ------------------------------------------------------------ questions

    @property
    def settled(self) -> bool:
        whole = all(plane.settled for plane in self.planes.values())
        return self._joined and whole and not self._pool.waiting and not self._pool.missing()

    def _synced(self) -> dict[str, bool]:
        """A link needs no synchronisation; whether ring and trees are whole is `settled`'s to say."""
        return dict.fromkeys(sorted(self._brokers), True)

    def _held(self) -> tuple[int, int]:
        return len(self.interests) - self.interests.subscriptions, self.interests.subscriptions

    # ------------------------------------------------------------ for rings and trees

    def send(self, peer: str, body: Body, request: int = 0) -> None:
        """To a client, or to any broker."""
        if peer in self._clients:
            return super().send(peer, body, request)
        self._pool.send(peer, Envelope(body, 1, request))

    def post(self, peer: str, envelope: Envelope) -> None:
        self._pool.send(peer, envelope)

    def _undelivered(self, peer: str, envelope: Envelope) -> None:
        """A publication for a root may find another way meanwhile; trees repair themselves."""
        body = envelope.body
        upward = isinstance(body, Publication) and goes_up(body.leg)
        plane = self.planes.get(body.plane) if upward else None  # type: ignore[attr-defined]
        hop = plane.ring.next_hop(key_of(self.tree_of(body))) if plane is not None else None  # type: ignore[arg-type]
        if hop is None or hop == peer:
            return self._outbox.drop(peer, envelope, NO_LINK)
        self.post(hop, envelope)

    def responsibility_moved(self) -> None:
        """The trees' business."""

    def replaced(self, old: str, new: str | None) -> None:
        self._pool.give_up(old)

    def demand(self, plane: int, wanted: Mapping[str, str]) -> None:
        self._pool.demand(f"ring {plane}", wanted)
        if plane in self.planes:
            self.planes[plane].trees.ring_changed()

    def demand_trees(self, plane: int, wanted: dict[str, str]) -> None:
        self._pool.demand(f"trees {plane}", wanted)

    def rtt_us(self, peer: str) -> int | None:
        return None


def topic_of(publication: Publication) -> str:
    return str(publication.attributes.get(TOPIC, ""))


def on_leg(publication: Publication, plane: int, leg: int) -> Publication:
    return msgspec.structs.replace(publication, plane=plane, leg=leg, wire=b"", wire_size=-1)
