"""A broker that floods publications over whatever overlay there is.

Subscriptions stay where they are made. A publication goes to every neighbour but the one it came from; who
has heard it before drops it. A neighbour that was away, or whose queue was full, is told again: brokers send
each other digests of what they have heard, and whoever reads one repeats what is missing in it.

A restarted broker has forgotten what it had heard: its clients may get the last publications once more.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from broker_grpc.core.interests import LocalInterests
from broker_grpc.core.links import Peer
from broker_grpc.core.node import Node
from broker_grpc.core.options import BrokerOptions
from broker_grpc.core.seen import SeenIds
from broker_grpc.core.timed import Parts, Timed
from broker_grpc.machine import PeerKind
from gossip.gossip_messages import Digest, Missed
from gossip.kinds import REPEATED
from gossip.settings import GossipSettings
from protos.body import Body, Envelope
from protos.client_messages import Advertisement, Publication, Subscription, Unadvertisement, Unsubscription
from protos.content_messages import Value
from protos.core_messages import Ack
from protos.envelope import publication_size
from protos.records import LogEvent


class GossipBroker(Node):
    def __init__(
        self, id_: str, settings: GossipSettings, options: BrokerOptions | None = None, incarnation: int = 1
    ) -> None:
        super().__init__(id_, options, incarnation)
        self.settings = settings
        limits = self.options.max_routes_per_client, self.options.max_predicates
        self.interests = LocalInterests(self.id_prefix, (), *limits, "among gossiping brokers")
        self._seen = SeenIds(settings.remembered)
        self._kept: OrderedDict[str, Envelope] = OrderedDict()  # as they arrived, the oldest first
        self._heard_from: set[str] = set()  # neighbours whose digest has come since their link is up
        self._digest_at: int | None = None
        self._arrange(after=(*self._sampling(), *self._beating(), *self._telling()))

    # ------------------------------------------------------------ publications

    def _match(self, attributes: Mapping[str, Value]) -> tuple[set[str], int]:
        """Who gets it is found when it is served; what takes time are the filters of its topic."""
        return set(), self.interests.filters(attributes)

    def _publication(
        self, now_us: int, source: str, kind: PeerKind | None, envelope: Envelope,
        targets: set[str] | None, queueing_us: int, matching_us: int,
    ) -> None:  # fmt: skip
        if kind is None:
            return self._outbox.drop(source, envelope, "not connected")
        if kind == "client" and self._accepted(source, envelope) is None:
            return
        publication: Publication = envelope.body  # type: ignore[assignment]
        is_new = self._seen.is_new(publication.id)
        self.log(LogEvent(kind="PROCESSED" if is_new else "DROPPED", type="publication", peer=source,
                          message=publication.id, hops=envelope.hops, bytes=publication_size(envelope),
                          published_us=publication.published_us, queueing_us=queueing_us,
                          matching_us=matching_us, detail="" if is_new else "duplicate"))  # fmt: skip
        if is_new:
            self._spread(now_us, source, Envelope(publication, envelope.hops))

    def _spread(self, now_us: int, source: str, envelope: Envelope) -> None:
        publication: Publication = envelope.body  # type: ignore[assignment]
        self.publications += 1
        self._keep(publication.id, envelope)
        subscribers = self.interests.subscribers(publication.attributes)
        if subscribers:
            size = publication_size(envelope)
            self._outbox.publications(now_us, subscribers, envelope, size, "NOTIFIED")
        self._pass_on(now_us, [name for name in sorted(self.links.brokers) if name != source], envelope)

    def _pass_on(self, now_us: int, neighbours: list[str], envelope: Envelope) -> None:
        if envelope.hops >= self.settings.reach:
            for name in neighbours:
                self._outbox.drop(name, envelope, "out of reach")
        elif neighbours:
            onward = Envelope(envelope.body, envelope.hops + 1)
            self._outbox.publications(now_us, neighbours, onward, publication_size(onward), "FORWARDED")

    def _keep(self, id_: str, envelope: Envelope) -> None:
        self._kept[id_] = envelope
        if len(self._kept) > self.settings.kept:
            self._kept.popitem(last=False)

    # ------------------------------------------------------------ other messages

    def _act(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        match body:
            case Advertisement() | Subscription() if peer.kind == "client":
                is_subscription = isinstance(body, Subscription)
                id_ = self.interests.add(peer.name, body.id, body.predicates, is_subscription)
                self.send(peer.name, Ack(id_), envelope.request)
                if is_subscription and self.settings.tells_clients:
                    self.send(peer.name, Digest(tuple(self._kept_for(peer.name))))
            case Unadvertisement() | Unsubscription() if peer.kind == "client":
                self.interests.remove(peer.name, body.id, isinstance(body, Unsubscription))
                self.send(peer.name, Ack(body.id), envelope.request)
            case Digest():
                self._repeat(peer, body)
            case Missed():
                self._repeat_to_client(peer.name, body)
            case _:
                super()._act(peer, envelope, body)

    def _repeat(self, peer: Peer, digest: Digest) -> None:
        """One that is on its way already arrives twice, and is dropped like every duplicate."""
        self._heard_from.add(peer.name)
        known = set(digest.publications)
        missed = [envelope for id_, envelope in self._kept.items() if id_ not in known]
        if missed:
            self.log(LogEvent(kind=REPEATED, peer=peer.name, detail=f"{len(missed)} publications"))
        for envelope in missed:
            self._pass_on(self.now_us, [peer.name], envelope)

    def _kept_for(self, client: str) -> list[str]:
        """Those that its subscriptions match."""
        kept = self._kept.items()
        return [id_ for id_, one in kept if client in self.interests.subscribers(one.body.attributes)]  # type: ignore[attr-defined]

    def _repeat_to_client(self, client: str, missed: Missed) -> None:
        for id_ in [id_ for id_ in self._kept_for(client) if id_ in missed.publications]:
            envelope = self._kept[id_]
            self._outbox.publications(self.now_us, [client], envelope, publication_size(envelope), "NOTIFIED")

    # ------------------------------------------------------------ peers and time

    def _up(self, peer: Peer) -> None:
        if peer.kind == "broker":
            self.send(peer.name, Digest(tuple(self._kept)))
            if self._digest_at is None:
                self._digest_at = self.now_us + self.settings.digest_every_us

    def _down(self, peer: Peer) -> None:
        self._heard_from.discard(peer.name)
        if peer.kind == "client":
            self.interests.client_gone(peer.name)

    def _beating(self) -> Parts:
        """The heartbeats of `core`, where the options ask for them."""
        beats = self._heartbeats
        wanted = self.options.heartbeat_interval_us
        return (Timed(beats.next_deadline_us, beats.deadline),) if wanted else ()

    def _telling(self) -> Parts:
        return (Timed(self._next_digest_us, self._tell),) if self.settings.digest_every_us else ()

    def _next_digest_us(self) -> int | None:
        return self._digest_at

    def _tell(self, now_us: int) -> None:
        self._digest_at = now_us + self.settings.digest_every_us
        for name in sorted(self.links.brokers):
            self.send(name, Digest(tuple(self._kept)))

    # ------------------------------------------------------------ questions

    def _synced(self) -> dict[str, bool]:
        """A link is synchronised when the other end has said what it has heard."""
        return {name: name in self._heard_from for name in sorted(self.links.brokers)}

    def _held(self) -> tuple[int, int]:
        return len(self.interests) - self.interests.subscriptions, self.interests.subscriptions
