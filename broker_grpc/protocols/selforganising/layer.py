"""A heuristic as a layer: broadcasts, evaluation, requests and consensus on the routing broker."""

from __future__ import annotations

from collections.abc import Sequence

from broker_grpc.errors import ProtocolError
from broker_grpc.protocols.contentbased.layer import ExchangeEnded, LayerHost
from broker_grpc.protocols.selforganising.cache import NotificationCache
from broker_grpc.protocols.selforganising.consensus import cheapest
from broker_grpc.protocols.selforganising.costs import Costs
from broker_grpc.protocols.selforganising.heuristics import Heuristic, Place, Sight
from broker_grpc.protocols.selforganising.hostile import check_broadcast, check_request
from broker_grpc.protocols.selforganising.intervals import first_after, phase_us
from broker_grpc.protocols.selforganising.kinds import LINK_PROPOSED, PRICED, REQUEST_ENDED
from broker_grpc.protocols.selforganising.neighbourhood import Neighbourhood
from broker_grpc.protocols.selforganising.settings import SelfOrganisingSettings
from protos.body import Envelope
from protos.client_messages import Publication
from protos.records import LogEvent
from protos.selforganising_messages import InterestBroadcast, LinkRequest, Passed


class SelfOrganising:
    """What the three heuristics share: all but what they propose, and which link goes."""

    def __init__(self, settings: SelfOrganisingSettings, heuristic: Heuristic) -> None:
        self._settings = settings
        self._heuristic = heuristic
        self._cache = NotificationCache(settings.cache, settings.filter_bits, settings.hashes)
        self._known: Neighbourhood[str] = Neighbourhood(settings.counts_itself)

    def attach(self, host: LayerHost) -> None:
        self._host = host
        self._costs = Costs(self._settings, host.options)
        self._phase_us = phase_us(host.random, self._settings.interval_us)
        self._due_us = self._phase_us

    # ------------------------------------------------------------ costs

    def _look_at(self, now_us: int, broker: str) -> None:
        """What does a link to it cost? Measured if it is time, and told if it is new."""
        if self._costs.wants(broker, now_us):
            self._host.measure_trip(broker)
        self._price(broker)

    def _price(self, broker: str = "") -> None:
        cost = self._costs.news(broker)
        if cost is not None:
            self._host.log(LogEvent(kind=PRICED, peer=broker, content=f"{cost:.6g}"))

    def trip_measured(self, now_us: int, broker: str, rtt_us: int) -> None:
        self._costs.measured(broker, rtt_us)
        if broker in self._host.neighbours():
            self._price(broker)

    # ------------------------------------------------------------ notifications, time

    def publication_accepted(self, now_us: int, publication: Publication) -> Publication:
        return publication

    def publication_processed(
        self, now_us: int, envelope: Envelope, source: str, neighbours: Sequence[str], subscribers: int
    ) -> None:
        if subscribers or self._host.has_client(source):
            publication: Publication = envelope.body  # type: ignore[assignment]
            self._cache.add(publication.id)

    def next_deadline_us(self) -> int | None:
        return self._due_us if self._settings.eta or self._settings.measured else None

    def deadline(self, now_us: int) -> None:
        """An interval is over: who was not heard goes, and what was cached in it is told."""
        if now_us < self._due_us:
            return
        self._due_us = first_after(now_us, self._phase_us, self._settings.interval_us)
        filter_, self._known.own = self._cache.close_interval()
        self._known.age()
        self._price()
        here = Passed(self._host.id, self._costs.processing)
        for neighbour in self._host.neighbours():
            self._look_at(now_us, neighbour)
            if self._settings.eta:
                self._host.send(neighbour, InterestBroadcast(self._settings.eta, filter_, (here,)))

    # ------------------------------------------------------------ broadcasts (4.3.1)

    def received(self, now_us: int, peer: str, envelope: Envelope) -> None:
        match envelope.body:
            case InterestBroadcast() as broadcast:
                self._broadcast(now_us, peer, broadcast)
            case LinkRequest() as request:
                self._request(peer, request)
            case body:
                raise ProtocolError(f"this broker runs no algorithm that knows {body.type}")

    def _broadcast(self, now_us: int, peer: str, broadcast: InterestBroadcast) -> None:
        check_broadcast(broadcast, peer, self._settings.filter_bits)
        path = broadcast.path
        if any(one.broker == self._host.id for one in path) or peer not in self._host.neighbours():
            return self._ended("stale", path[0].broker, "a broadcast by a path that has gone")
        origin = path[0].broker
        self._known.heard(origin, self._cache.common(broadcast.filter))
        common = self._known.shared_with((peer,))
        came = self._costs.link(peer)
        if came is None:
            return self._ended("unknown", origin, f"the link to {peer} has not been measured")
        here = Passed(self._host.id, self._costs.processing, came, common[0] if common else -1)
        path = (*path, here)
        if broadcast.ttl > 1:
            self._forward(peer, InterestBroadcast(broadcast.ttl - 1, broadcast.filter, path))
        self._evaluate(now_us, path)

    def _forward(self, peer: str, broadcast: InterestBroadcast) -> None:
        for neighbour in self._host.neighbours():
            if neighbour != peer:
                self._host.send(neighbour, broadcast)

    # ------------------------------------------------------------ evaluation (4.1)

    def _evaluate(self, now_us: int, passed: Sequence[Passed]) -> None:
        """`passed` leads from the origin to this broker."""
        way = passed[::-1]
        origin = way[-1].broker
        shared = self._known.shared_with(one.broker for one in way[1:])
        if len(way) < 3:
            return
        if self._costs.wants(origin, now_us):
            self._host.measure_trip(origin)
        direct = self._costs.link(origin)
        if shared is None or direct is None:
            return
        links = [one.link for one in way[:-1]]
        sight = Sight(direct, links, [one.processing for one in way[1:]], shared,
                      [one.shared for one in way[:-1]], self._known.phi)  # fmt: skip
        if self._heuristic.proposes(sight):
            self._propose(way, (*links, direct))

    def _propose(self, way: Sequence[Passed], links: tuple[float, ...]) -> None:
        brokers = tuple(one.broker for one in way)
        processing = tuple(one.processing for one in way)
        detail = f"direct {links[-1]:.6g}, by {' '.join(brokers)}"
        self._host.log(LogEvent(kind=LINK_PROPOSED, peer=brokers[-1], hops=len(way) - 1, detail=detail))
        self._price(brokers[-1])
        request = LinkRequest(brokers, processing, links, (0.0,) * len(links))
        self._pass_on(0, request)

    # ------------------------------------------------------------ consensus (4.2, 4.3.2)

    def _request(self, peer: str, request: LinkRequest) -> None:
        check_request(request, peer, self._host.id)
        at, proposer = request.brokers.index(self._host.id), request.brokers[0]
        if at == len(request.brokers) - 1 and self._host.exchanging():
            self._ended("refused", proposer, f"exchange {self._host.exchanging()} is under way")
        else:
            self._pass_on(at, request)

    def _pass_on(self, at: int, request: LinkRequest) -> None:
        """Adds this broker's part of the sums; the last of the cycle decides."""
        brokers = request.brokers
        others = self._known.shared_with(one for one in brokers if one != self._host.id)
        if others is None:
            return self._ended("unknown", brokers[0], "too little is known of the brokers of the cycle")
        shared = [*others[:at], 0, *others[at:]]
        place = Place(at, request.links, request.processing, shared, self._known.phi)
        added = self._heuristic.judges(place)
        costs = tuple(a + b for a, b in zip(request.costs, added, strict=True))
        if at == len(brokers) - 1:
            return self._decide(request, costs)
        following = brokers[at + 1]
        if following not in self._host.neighbours():
            return self._ended("stale", brokers[0], f"the link to {following} has gone")
        self._host.send(following, LinkRequest(brokers, request.processing, request.links, costs))

    def _decide(self, request: LinkRequest, costs: Sequence[float]) -> None:
        brokers, removed = request.brokers, cheapest(costs)
        told = " ".join(f"{cost:.6g}" for cost in costs)
        if removed == len(brokers) - 1:
            return self._ended("kept", brokers[0], told)
        self._price(brokers[0])
        gone = brokers[removed], brokers[removed + 1]
        self._host.exchange(brokers[0], gone, brokers[::-1], told)

    def _ended(self, how: str, proposer: str, why: str) -> None:
        self._host.log(LogEvent(kind=REQUEST_ENDED, type=how, peer=proposer, detail=why))

    # ------------------------------------------------------------ peers, exchanges

    def peer_up(self, now_us: int, peer: str) -> None:
        if not self._host.has_client(peer):
            self._price()
            self._look_at(now_us, peer)

    def peer_down(self, now_us: int, peer: str) -> None:
        pass

    def objection(self) -> str:
        return ""

    def exchange_ended(self, now_us: int, ended: ExchangeEnded) -> None:
        """What was heard before stays: brokers that are too far now are not heard again, and go."""
