"""A broker of DYNATOPS: topic trees grown from their roots, users that are placed, a position that changes.

What it does with publications and trees is `rendezvous`'s; here are its two other parts, `Placing` and
`Changing`, and what it reports to the manager.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from random import Random

from broker_grpc.core.interests import TOPIC
from broker_grpc.core.links import Peer
from broker_grpc.core.options import BrokerOptions
from broker_grpc.core.timed import Timed
from broker_grpc.errors import NotFoundError
from broker_grpc.protocols.dynatops import configuration as who
from broker_grpc.protocols.dynatops.changing import Changing
from broker_grpc.protocols.dynatops.clusters import cluster_of
from broker_grpc.protocols.dynatops.placing import Placing
from broker_grpc.protocols.dynatops.roundtrips import RoundTrips
from broker_grpc.protocols.dynatops.settings import DynatopsSettings
from broker_grpc.protocols.dynatops.user_placement import BrokerState
from broker_grpc.protocols.rendezvous.broker import RendezvousBroker
from broker_grpc.protocols.rendezvous.plane import Plane
from broker_grpc.protocols.rendezvous.rings import ring_of
from broker_grpc.protocols.ring.static import StaticRing
from broker_grpc.protocols.ring.substrate import RingHost, Substrate
from protos.body import Body, Envelope
from protos.client_messages import Publication, Subscription, Unsubscription
from protos.core_messages import ProbeAnswer
from protos.dynatops_messages import (
    ClusterView,
    PeriodReport,
    ReportRequest,
    TopicEvents,
    UserSent,
)
from protos.relocation_messages import PingAnswer
from protos.rendezvous_messages import TreeAttach, TreeHeartbeat


class DynatopsBroker(RendezvousBroker):
    settings: DynatopsSettings

    def __init__(
        self,
        id_: str,
        settings: DynatopsSettings,
        options: BrokerOptions | None = None,
        addresses: Mapping[str, str] | None = None,
        incarnation: int = 1,
        random: Random | None = None,
    ) -> None:
        everybody = {id_, *(addresses or {})} - {settings.manager}
        self.changing = Changing(self)
        self.changing.configurations[0] = who.by_themselves(everybody)
        self._published: Counter[str] = Counter()  # by topic, since the last report
        self.round_trips = RoundTrips(self, sorted(everybody - {id_}), settings.probe_us)
        super().__init__(id_, settings, self._ring_of, options, addresses, incarnation, random)
        cluster = frozenset(settings.cluster) or cluster_of(id_, everybody, settings.cluster_size)
        self.placing = Placing(self, settings, cluster)
        self._arrange(
            after=(
                *self._sampling(),
                Timed(self._next_us, self._run_due),
                Timed(self.placing.next_deadline_us, self.placing.deadline, False),
                Timed(self.changing.next_deadline_us, self.changing.deadline, False),
                Timed(self.round_trips.next_deadline_us, self.round_trips.deadline, False),
            )
        )

    def _ring_of(self, host: RingHost, version: int) -> Substrate:
        settings, configuration = self.settings.ring, self.changing.configurations[version]
        if settings.maintain:
            return ring_of(settings, configuration, self.incarnation)(host, version)
        return StaticRing(host, settings, who.members(configuration), version)

    # ------------------------------------------------------------ versions

    def opened(self, version: int) -> Plane:
        """A plane that takes part in nothing yet, but for the links of its ring."""
        plane = self.open_plane(version)
        del self.planes[version]
        plane.ring.join(self.now_us, [])
        return plane

    def closed(self, version: int) -> None:
        self.planes.pop(version, None)
        self._pool.demand(f"ring {version}", {})
        self._pool.demand(f"trees {version}", {})

    # ------------------------------------------------------------ messages

    def _act(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        match body:
            case ClusterView() if peer.kind == "broker":
                self.placing.told(peer.name, body)
            case UserSent():
                self.placing.will_come(body.client)
            case ReportRequest():
                self._report(peer.name, body.period)
            case PingAnswer():
                self.placing.measured(peer.name, body)
            case ProbeAnswer() if peer.kind == "broker":
                self.round_trips.answered(peer.name, body.sequence)
            case _ if not self.changing.ordered(peer, envelope, body):
                super()._act(peer, envelope, body)
                if isinstance(body, Subscription | Unsubscription) and peer.kind == "client":
                    self.placing.changed(peer.name)

    def _of_a_plane(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        """Who speaks in a plane that is forming here has heard that all have laid it out."""
        forming = self.changing.forming
        if (
            forming is not None
            and getattr(body, "plane", None) == forming.ring.plane
            and not self.changing.take_part()
        ):
            raise NotFoundError(f"plane {forming.ring.plane} is not laid out at {self.id}")
        super()._of_a_plane(peer, envelope, body)
        if isinstance(body, TreeAttach) and body.member == self.id:
            self.changing.touched((body.topic,))

    def _interests_changed(self) -> None:
        self.changing.touched(self.interests.subscribed() ^ self._subscribed)
        super()._interests_changed()

    def _accepted(self, source: str, envelope: Envelope) -> Publication | None:
        publication = super()._accepted(source, envelope)
        if publication is not None:
            self._published[str(publication.attributes[TOPIC])] += 1
        return publication

    def post(self, peer: str, envelope: Envelope) -> None:
        body = envelope.body
        if not isinstance(body, Publication | TreeHeartbeat):
            self.changing.sent(getattr(body, "plane", 0))
        super().post(peer, envelope)

    def _report(self, manager: str, period: int) -> None:
        published = tuple(TopicEvents(topic, count) for topic, count in sorted(self._published.items()))
        self._published.clear()
        peers, rtts = self.round_trips.told()
        subscribed = tuple(sorted(self.interests.subscribed()))
        self.send(manager, PeriodReport(period, subscribed, published, peers, rtts))

    # ------------------------------------------------------------ peers and time

    def _run_due(self, now_us: int) -> None:
        if not self._joined:
            self._begin()
        super()._run_due(now_us)

    def _begin(self) -> None:
        """Of two of a cluster the smaller name dials."""
        if self.settings.manager:
            self._pool.demand("manager", {self.settings.manager: "manager"})
        near = [other for other in self.placing.others if self.id < other]
        if self.settings.placement == "similarity":
            self._pool.demand("cluster", dict.fromkeys(near, "cluster"))

    def _up(self, peer: Peer) -> None:
        super()._up(peer)
        if peer.kind == "broker" and peer.name == self.settings.manager:
            self.send(peer.name, self.changing.status())
        elif peer.kind == "broker":
            self.round_trips.peer_up(peer.name)

    def _down(self, peer: Peer) -> None:
        super()._down(peer)
        if peer.kind == "client":
            self.placing.gone(peer.name)
        else:
            self.round_trips.peer_down(peer.name)

    @property
    def settled(self) -> bool:
        return super().settled and self.placing.settled and self.changing.settled

    # ------------------------------------------------------------ for its parts

    def has_link(self, peer: str) -> bool:
        return peer in self._brokers

    def demand_probed(self, wanted: dict[str, str]) -> None:
        self._pool.demand("round trips", wanted)

    def wanted_by(self, client: str) -> frozenset[str]:
        return frozenset(self.interests.subscribed_by(client))

    def own_state(self, without: str = "") -> BrokerState:
        interests = self.interests
        if not without:
            return BrokerState(interests.subscribed(), interests.subscriptions)
        others = interests.subscriptions - len(interests.subscribed_by(without))
        return BrokerState(interests.subscribed_without(without), others)

    def rtt_us(self, peer: str) -> int | None:
        return self.round_trips.to(peer)
