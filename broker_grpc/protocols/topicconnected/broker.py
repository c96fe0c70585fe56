"""A topic-based broker on a topic-connected overlay.

It floods a publication along the overlay links whose other end shares its topic, and nowhere else:
nobody forwards what nobody of its own wants (no relays). A publication that was here before is not
forwarded again. Which links there are is the coordinator's to decide; the broker opens and closes
them, and says what is up. Without a coordinator it goes on with the links it has.

Of the two ends of a link the one with the smaller id dials, and only that one hangs up.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from broker_grpc.content.predicates import check_attributes
from broker_grpc.core.interests import TOPIC, LocalInterests
from broker_grpc.core.links import Peer
from broker_grpc.core.options import BrokerOptions
from broker_grpc.errors import BrokerError, NotConformingError, ProtocolError
from broker_grpc.machine import CloseLink, Effects, Log, OpenLink
from broker_grpc.protocols.topicconnected.node import OverlayNode
from broker_grpc.protocols.topicconnected.settings import TopicBrokerSettings
from protos.envelope import publication_size
from protos.messages import (
    Ack,
    Advertisement,
    Body,
    Envelope,
    Farewell,
    Heartbeat,
    HeartbeatAnswer,
    OverlayOrder,
    OverlayReport,
    Publication,
    Refusal,
    Subscription,
    TopicInterest,
    Unadvertisement,
    Unsubscription,
    Value,
)
from protos.records import LogEvent

Topics = frozenset[str]
NOTHING: Topics = frozenset()


class TopicBroker(OverlayNode):
    """`addresses`: where every broker listens that the coordinator may name."""

    def __init__(
        self,
        id_: str,
        settings: TopicBrokerSettings,
        options: BrokerOptions | None = None,
        addresses: Mapping[str, str] | None = None,
        incarnation: int = 1,
    ) -> None:
        options = options or BrokerOptions()
        super().__init__(id_, options, incarnation)
        self.settings = settings
        self.publications = 0
        self.duplicates = 0
        self.wanted: frozenset[str] = frozenset()  # links the coordinator ordered
        self._addresses = addresses or {}
        prefix = id_ if incarnation <= 1 else f"{id_}.{incarnation}"
        self.interests = LocalInterests(
            prefix, settings.topics, options.max_routes_per_client, options.max_predicates
        )
        self._epoch = 0
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._theirs: dict[str, Topics] = {}  # neighbour -> its topics
        self._told: Topics = self.interests.topics()  # what the coordinator knows, or will when it is there
        self._fading: dict[str, int] = {}  # topic without interest -> carried until
        self._tell_at: int | None = None
        self._beat_at: int | None = None
        self._beats = 0

    # ------------------------------------------------------------ publications

    def _match(self, attributes: Mapping[str, Value]) -> tuple[set[str], int]:
        """A topic is looked up; only what its subscriptions ask beyond it are filters to look at."""
        return set(), self.interests.filters(attributes)

    def _publication(
        self, now_us: int, source: str, peer: Peer | None, envelope: Envelope,
        queueing_us: int, matching_us: int,
    ) -> None:  # fmt: skip
        if peer is None:
            return self._outbox.drop(source, envelope, "not connected")
        if peer.kind == "client":
            fresh = self._from_client(source, envelope)
        else:
            fresh = self._from_broker(source, envelope)
        if fresh is not None:
            self._flood(now_us, source, fresh, queueing_us, matching_us)

    def _from_client(self, source: str, envelope: Envelope) -> Envelope | None:
        """What is to be flooded: nothing when it is refused or was here before."""
        publication: Publication = envelope.body  # type: ignore[assignment]
        try:
            self._check(source, publication)
        except BrokerError as error:
            self._outbox.refuse(source, error.reason, str(error), envelope.request, publication.id)
            return None
        if envelope.request:
            self._outbox.send(source, Ack(publication.id), envelope.request)
        return Envelope(publication) if self._is_new(publication.id) else None

    def _check(self, source: str, publication: Publication) -> None:
        check_attributes(publication.attributes)
        if publication.publisher != source:
            raise ProtocolError(f"{source} publishes in the name of {publication.publisher!r}")
        if not publication.id:
            raise ProtocolError("a publication needs an id")
        topic = publication.attributes.get(TOPIC)
        if not self.interests.has(topic):
            raise NotConformingError(
                f"broker {self.id} takes no part in topic {topic!r}; advertise it here first"
            )

    def _from_broker(self, source: str, envelope: Envelope) -> Envelope | None:
        publication: Publication = envelope.body  # type: ignore[assignment]
        if self._is_new(publication.id):
            return envelope
        self.duplicates += 1
        self._outbox.log(
            LogEvent(
                kind="DROPPED",
                type="publication",
                peer=source,
                message=publication.id,
                hops=envelope.hops,
                bytes=publication_size(envelope),
                published_us=publication.published_us,
                detail="duplicate",
            )
        )
        return None

    def _is_new(self, id_: str) -> bool:
        if id_ in self._seen:
            return False
        self._seen[id_] = None
        if len(self._seen) > self.settings.remembered:
            self._seen.popitem(last=False)
        return True

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

    def _act(self, now_us: int, peer: Peer, envelope: Envelope, body: Body) -> None:
        match body:
            case Advertisement() | Subscription() if peer.kind == "client":
                is_subscription = isinstance(body, Subscription)
                id_ = self.interests.add(peer.name, body.id, body.predicates, is_subscription)
                self._outbox.send(peer.name, Ack(id_), envelope.request)
                self._interests_changed(now_us)
            case Unadvertisement() | Unsubscription() if peer.kind == "client":
                self.interests.remove(peer.name, body.id, isinstance(body, Unsubscription))
                self._outbox.send(peer.name, Ack(body.id), envelope.request)
                self._interests_changed(now_us)
            case TopicInterest() if peer.kind == "broker":
                self._theirs[peer.name] = frozenset(body.topics)
                self._report()
            case OverlayOrder() if peer.name == self.settings.coordinator:
                self._order(body)
            case Heartbeat():
                self._outbox.send(peer.name, HeartbeatAnswer(body.sequence))
            case HeartbeatAnswer() | Refusal() | Ack():
                pass  # it is in the log
            case _:
                super()._act(now_us, peer, envelope, body)

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
            self._outbox.send(self.settings.coordinator, TopicInterest(tuple(sorted(self._told)), links))

    def _tell_neighbours(self) -> None:
        carried = TopicInterest(tuple(sorted(self._told | self._fading.keys())))
        for name in sorted(self.links.brokers):
            if name != self.settings.coordinator:
                self._outbox.send(name, carried)

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
            self._outbox.send(self.settings.coordinator, report)

    def _up(self, now_us: int, peer: Peer) -> None:
        if peer.kind == "client":
            return
        if peer.name == self.settings.coordinator:
            self._epoch = 0  # a restarted one counts anew
            self._beat_at = now_us + self.settings.heartbeat_interval_us
            self._tell_coordinator()
        else:
            topics = tuple(sorted(self._told | self._fading.keys()))
            self._outbox.send(peer.name, TopicInterest(topics))

    def _down(self, now_us: int, peer: Peer) -> None:
        if peer.kind == "client":
            self.interests.client_gone(peer.name)
            self._interests_changed(now_us)
        elif peer.name == self.settings.coordinator:
            self._beat_at = None
        else:
            had = self._theirs.pop(peer.name, None)
            if had is not None and peer.name in self.wanted:
                self._report()

    def farewell(self, now_us: int) -> Effects:
        """For a driver that is about to stop this broker: the coordinator need not wait for heartbeats."""
        effects = self._outbox.begin(now_us)
        if self.settings.coordinator in self.links.brokers:
            self._outbox.send(self.settings.coordinator, Farewell("stopped"))
        return effects

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
            self._outbox.send(self.settings.coordinator, Heartbeat(self._beats))

    # ------------------------------------------------------------ questions

    def status(self) -> dict[str, Any]:
        """`links`: an overlay link is synchronised when it is ordered and both ends' interests are known."""
        up = set(self.neighbours())
        told = self._tell_at is None and self.interests.topics() == self._told
        synced = {
            name: told if name == self.settings.coordinator else name in up or name not in self.wanted
            for name in sorted(self.links.brokers)
        }
        return self._status(
            synced,
            advertisements=len(self.interests) - self.interests.subscriptions,
            subscriptions=self.interests.subscriptions,
            publications=self.publications,
        )
