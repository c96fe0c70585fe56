"""A topic-based broker on a topic-connected overlay.

It floods a publication along the overlay links whose other end shares its topic, and nowhere else:
nobody forwards what nobody of its own wants (no relays). A publication that was here before is not
forwarded again. Which links there are is the coordinator's to decide; the broker opens and closes
them, and says what is up. Without a coordinator it goes on with the links it has.

Of the two ends of a link the one with the smaller id dials, and only that one hangs up.
"""

from __future__ import annotations

from collections.abc import Mapping

from broker_grpc.core.interests import TOPIC, LocalInterests
from broker_grpc.core.links import Peer
from broker_grpc.core.node import Node
from broker_grpc.core.options import BrokerOptions
from broker_grpc.core.seen import SeenIds
from broker_grpc.core.timed import Timed
from broker_grpc.errors import NotConformingError
from broker_grpc.machine import CloseLink, Log, OpenLink, PeerKind
from broker_grpc.protocols.topicconnected.settings import TopicBrokerSettings
from protos.body import Body, Envelope
from protos.client_messages import Advertisement, Publication, Subscription, Unadvertisement, Unsubscription
from protos.content_messages import Value
from protos.core_messages import Ack, Heartbeat
from protos.envelope import publication_size
from protos.records import LogEvent
from protos.topicconnected_messages import Farewell, OverlayOrder, OverlayReport, TopicInterest

Topics = frozenset[str]
NOTHING: Topics = frozenset()


class TopicBroker(Node):
    """`addresses`: where every broker listens that the coordinator may name."""

    checks_senders = False  # each message is looked at together with who sent it

    def __init__(
        self,
        id_: str,
        settings: TopicBrokerSettings,
        options: BrokerOptions | None = None,
        addresses: Mapping[str, str] | None = None,
        incarnation: int = 1,
    ) -> None:
        super().__init__(id_, options, incarnation)
        self.settings = settings
        self.duplicates = 0
        self.wanted: frozenset[str] = frozenset()  # links the coordinator ordered
        self._addresses = addresses or {}
        self.interests = LocalInterests(
            self.id_prefix,
            settings.topics,
            self.options.max_routes_per_client,
            self.options.max_predicates,
            "on a topic-connected overlay",
        )
        self._epoch = 0
        self._seen = SeenIds(settings.remembered)
        self._theirs: dict[str, Topics] = {}  # neighbour -> its topics
        self._told: Topics = self.interests.topics()  # what the coordinator knows, or will when it is there
        self._fading: dict[str, int] = {}  # topic without interest -> carried until
        self._tell_at: int | None = None
        self._beat_at: int | None = None
        self._beats = 0
        self._arrange(after=(*self._sampling(), Timed(self._next_us, self._run_due)))

    # ------------------------------------------------------------ publications

    def _match(self, attributes: Mapping[str, Value]) -> tuple[set[str], int]:
        """A topic is looked up; only what its subscriptions ask beyond it are filters to look at.

        Who gets the publication is found when it is served.
        """
        return set(), self.interests.filters(attributes)

    def _publication(
        self, now_us: int, source: str, kind: PeerKind | None, envelope: Envelope,
        targets: set[str] | None, queueing_us: int, matching_us: int,
    ) -> None:  # fmt: skip
        if kind is None:
            return self._outbox.drop(source, envelope, "not connected")
        fresh = (
            self._from_client(source, envelope) if kind == "client" else self._from_broker(source, envelope)
        )
        if fresh is not None:
            self._flood(now_us, source, fresh, queueing_us, matching_us)

    def _from_client(self, source: str, envelope: Envelope) -> Envelope | None:
        """What is to be flooded: nothing when it is refused or was here before."""
        publication = self._accepted(source, envelope)
        if publication is None or not self._seen.is_new(publication.id):
            return None
        return Envelope(publication)

    def _check_publication(self, source: str, publication: Publication) -> None:
        topic = publication.attributes.get(TOPIC)
        if not self.interests.has(topic):
            raise NotConformingError(
                f"broker {self.id} takes no part in topic {topic!r}; advertise it here first"
            )

    def _from_broker(self, source: str, envelope: Envelope) -> Envelope | None:
        publication: Publication = envelope.body  # type: ignore[assignment]
        if self._seen.is_new(publication.id):
            return envelope
        self.duplicates += 1
        self.log(LogEvent(kind="DROPPED", type="publication", peer=source, message=publication.id,
                          hops=envelope.hops, bytes=publication_size(envelope),
                          published_us=publication.published_us, detail="duplicate"))  # fmt: skip
        return None

    def _flood(
        self, now_us: int, source: str, envelope: Envelope, queueing_us: int, matching_us: int
    ) -> None:
        publication: Publication = envelope.body  # type: ignore[assignment]
        outbox, size = self._outbox, publication_size(envelope)
        self.publications += 1
        outbox.effects.append(
            Log(LogEvent(now_us, 0, self.id, "PROCESSED", "publication", source, publication.id,
                         envelope.hops, size, publication.published_us, queueing_us, matching_us))
        )  # fmt: skip
        subscribers = self.interests.subscribers(publication.attributes)
        if subscribers:
            outbox.publications(now_us, subscribers, envelope, size, "NOTIFIED")
        topic = publication.attributes.get(TOPIC)
        sharing = [name for name in self.neighbours() if name != source and topic in self._theirs[name]]
        if sharing:
            onward = Envelope(publication, envelope.hops + 1)
            outbox.publications(now_us, sharing, onward, publication_size(onward), "FORWARDED")

    def neighbours(self) -> list[str]:
        """Ends of links that are ordered, up, and have said their interest."""
        return sorted(name for name in self.wanted if name in self.links.brokers and name in self._theirs)

    # ------------------------------------------------------------ other messages

    def _act(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        match body:
            case Advertisement() | Subscription() if peer.kind == "client":
                is_subscription = isinstance(body, Subscription)
                id_ = self.interests.add(peer.name, body.id, body.predicates, is_subscription)
                self.send(peer.name, Ack(id_), envelope.request)
                self._interests_changed(self.now_us)
            case Unadvertisement() | Unsubscription() if peer.kind == "client":
                self.interests.remove(peer.name, body.id, isinstance(body, Unsubscription))
                self.send(peer.name, Ack(body.id), envelope.request)
                self._interests_changed(self.now_us)
            case TopicInterest() if peer.kind == "broker":
                self._theirs[peer.name] = frozenset(body.topics)
                self._report()
            case OverlayOrder() if peer.name == self.settings.coordinator:
                self._order(body)
            case _:
                super()._act(peer, envelope, body)

    # ------------------------------------------------------------ interests

    def _interests_changed(self, now_us: int) -> None:
        if self.interests.topics() != self._told and self._tell_at is None:
            self._tell_at = now_us + self.settings.interest_delay_us

    def _tell(self, now_us: int) -> None:
        """New interests. Topics nobody wants here any more are carried on until the overlay is repaired."""
        topics = self.interests.topics()
        if topics == self._told:
            return
        for topic in self._told - topics:
            self._fading[topic] = now_us + self.settings.carry_us
        for topic in topics & self._fading.keys():
            del self._fading[topic]
        self._told = topics
        self._tell_coordinator()
        self._tell_neighbours()

    def _tell_coordinator(self) -> None:
        if self.settings.coordinator in self.links.brokers:
            links = tuple(self.neighbours())
            self.send(self.settings.coordinator, TopicInterest(tuple(sorted(self._told)), links))

    def _tell_neighbours(self) -> None:
        carried = TopicInterest(tuple(sorted(self._told | self._fading.keys())))
        for name in sorted(self.links.brokers):
            if name != self.settings.coordinator:
                self.send(name, carried)

    def _fade(self, now_us: int) -> None:
        gone = [topic for topic, until in self._fading.items() if until <= now_us]
        for topic in gone:
            del self._fading[topic]
        if gone:
            self._tell_neighbours()

    # ------------------------------------------------------------ links

    def _order(self, order: OverlayOrder) -> None:
        self._epoch = order.epoch
        before, self.wanted = self.wanted, frozenset(order.neighbours)
        for name in sorted(self.wanted - before):
            if self.id < name:
                self._outbox.effects.append(OpenLink(name, self._addresses.get(name, "")))
        for name in sorted(before - self.wanted):
            if self.id < name:
                self._outbox.effects.append(CloseLink(name, "no longer part of the overlay"))
        self._report()

    def _report(self) -> None:
        if self.settings.coordinator in self.links.brokers and self._epoch:
            report = OverlayReport(self._epoch, tuple(self.neighbours()))
            self.send(self.settings.coordinator, report)

    def _up(self, peer: Peer) -> None:
        if peer.kind == "client":
            return
        if peer.name == self.settings.coordinator:
            self._epoch = 0  # a restarted one counts anew
            self._beat_at = self.now_us + self.settings.heartbeat_interval_us
            self._tell_coordinator()
        else:
            topics = tuple(sorted(self._told | self._fading.keys()))
            self.send(peer.name, TopicInterest(topics))

    def _down(self, peer: Peer) -> None:
        if peer.kind == "client":
            self.interests.client_gone(peer.name)
            self._interests_changed(self.now_us)
        elif peer.name == self.settings.coordinator:
            self._beat_at = None
        else:
            had = self._theirs.pop(peer.name, None)
            if had is not None and peer.name in self.wanted:
                self._report()

    def _say_farewell(self) -> None:
        """The coordinator need not wait for heartbeats."""
        if self.settings.coordinator in self.links.brokers:
            self.send(self.settings.coordinator, Farewell("stopped"))

    # ------------------------------------------------------------ time

    def _next_us(self) -> int | None:
        due = [at for at in (self._tell_at, self._beat_at, *self._fading.values()) if at is not None]
        return min(due, default=None)

    def _run_due(self, now_us: int) -> None:
        if self._tell_at is not None and self._tell_at <= now_us:
            self._tell_at = None
            self._tell(now_us)
        if self._fading:
            self._fade(now_us)
        if self._beat_at is not None and self._beat_at <= now_us:
            self._beat_at = now_us + self.settings.heartbeat_interval_us
            self._beats += 1
            self.send(self.settings.coordinator, Heartbeat(self._beats))

    # ------------------------------------------------------------ questions

    def _synced(self) -> dict[str, bool]:
        """An overlay link is synchronised when it is ordered and both ends' interests are known."""
        up = set(self.neighbours())
        told = self._tell_at is None and self.interests.topics() == self._told
        return {
            name: told if name == self.settings.coordinator else name in up or name not in self.wanted
            for name in sorted(self.links.brokers)
        }

    def _held(self) -> tuple[int, int]:
        return len(self.interests) - self.interests.subscriptions, self.interests.subscriptions
