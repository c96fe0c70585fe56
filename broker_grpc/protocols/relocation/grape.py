"""GRAPE, Greedy Relocation Algorithm for Publishers of Events (section 4)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from broker_grpc.errors import ProtocolError
from broker_grpc.protocols.relocation.layer import Relocation
from broker_grpc.protocols.relocation.selection import BrokerStatistics, Tree, choose, estimates, survivors
from broker_grpc.protocols.relocation.settings import GrapeSettings
from broker_grpc.protocols.relocation.tracing import Session, own_trace, statistics
from protos.body import Envelope
from protos.client_messages import Publication, Trace
from protos.relocation_messages import (
    BrokerTrace,
    PingAnswer,
    PingRequest,
    TraceInformationAnswer,
    TraceInformationRequest,
)


class Publisher(msgspec.Struct):
    """One publisher, at its first broker: the session being traced, and the selection under way."""

    session: str = ""
    traced: int = 0
    started_us: int = 0  # of phase 2
    pinged_us: int = -1  # when ping times were asked for; -1 = not
    deadline_us: int = 0
    brokers: tuple[BrokerStatistics, ...] = ()


class Grape(Relocation):
    def __init__(self, settings: GrapeSettings) -> None:
        self._settings = settings
        self._sessions: dict[str, Session] = {}
        self._publishers: dict[str, Publisher] = {}  # by advertisement
        self._serial = 0

    # ------------------------------------------------------------ phase 1: tracing

    def publication_accepted(self, now_us: int, publication: Publication) -> Publication:
        """Consecutive publications carry the session's id until G_threshold of them have."""
        advertisement = publication.advertisement
        if not advertisement or self.migration.moving(advertisement):
            return publication
        publisher = self._publishers.setdefault(advertisement, Publisher())
        if publisher.traced >= self._settings.threshold:
            return publication
        if not publisher.session:
            self._serial += 1
            publisher.session = f"{self.host.id}-{self._serial}"
        trace = Trace(session=publisher.session, index=publisher.traced)
        publisher.traced += 1
        return msgspec.structs.replace(publication, trace=trace, wire=b"", wire_size=-1)

    def publication_processed(
        self, now_us: int, envelope: Envelope, source: str, neighbours: Sequence[str], subscribers: int
    ) -> None:
        publication = envelope.body
        if (
            not isinstance(publication, Publication)
            or publication.trace is None
            or not publication.trace.session
        ):
            return
        trace, first = publication.trace, self.host.has_client(source)
        session = self._sessions.get(trace.session)
        if session is None:
            session = Session(publication.advertisement, "" if first else source, set())
            self._sessions[trace.session] = session
        session.record(trace.index, list(neighbours), subscribers)
        if first and trace.index + 1 >= self._settings.threshold:
            self._publishers[publication.advertisement].started_us = now_us
            self._retrieve(now_us, trace.session, session)

    # ------------------------------------------------------------ phase 1: retrieval

    def _retrieve(self, now_us: int, name: str, session: Session) -> None:
        """Ask the downstream neighbours that got at least one publication of the session."""
        session.asked_us = now_us
        session.deadline_us = now_us + self._settings.answer_timeout_us
        session.waiting = {n for n in session.downstream if n in self.host.neighbours()}
        for neighbour in sorted(session.waiting):
            self.host.send(neighbour, TraceInformationRequest(session.advertisement, name))
        self._conclude(now_us, name, session)

    def _request(self, now_us: int, peer: str, body: TraceInformationRequest) -> None:
        session = self._sessions.get(body.session)
        if session is None:  # restarted since: nothing is known of this session
            self.host.send(peer, TraceInformationAnswer(body.advertisement, body.session, ()))
            return
        session.upstream = peer
        self._retrieve(now_us, body.session, session)

    def _answer(self, now_us: int, peer: str, body: TraceInformationAnswer) -> None:
        session = self._sessions.get(body.session)
        if session is not None and peer in session.waiting:
            session.waiting.discard(peer)
            session.answers += body.brokers
            self._conclude(now_us, body.session, session)

    def _conclude(self, now_us: int, name: str, session: Session) -> None:
        if session.waiting or session.asked_us < 0:
            return
        del self._sessions[name]
        brokers: tuple[BrokerTrace, ...] = (
            own_trace(self.host, session, self._settings.link_latency),
            *session.answers,
        )
        if session.upstream:
            self.host.send(session.upstream, TraceInformationAnswer(session.advertisement, name, brokers))
        else:
            self._select(now_us, session.advertisement, tuple(statistics(b) for b in brokers))

    # ------------------------------------------------------------ phase 2: selection

    def _select(self, now_us: int, advertisement: str, brokers: tuple[BrokerStatistics, ...]) -> None:
        """Ping times are fetched where the second metric needs them: not for a single survivor."""
        publisher = self._publishers.get(advertisement)
        client = self.publisher_of(advertisement)
        if publisher is None or client is None:
            self._publishers.pop(advertisement, None)
            return
        publisher.brokers = brokers
        candidates = self._candidates(publisher)
        if self._settings.prioritise == "load":
            rates = estimates(Tree(brokers), candidates, {})
            candidates = [o.broker for o in survivors(rates, "load", self._settings.weight)]
        if len(candidates) == 1:
            self._settle(now_us, advertisement, publisher, candidates, {})
            return
        publisher.pinged_us = now_us
        publisher.deadline_us = now_us + self._settings.answer_timeout_us
        self.host.send(client, PingRequest(advertisement, tuple(candidates)))

    def _candidates(self, publisher: Publisher) -> list[str]:
        """4.2: "the downstream brokers that replied", and the publisher's own if it is to be one; it stays
        where nobody else replied."""
        own = self.host.id
        others = sorted(b.id for b in publisher.brokers if b.id != own)
        return sorted([own, *others]) if self._settings.own_candidate else others or [own]

    def _pinged(self, now_us: int, body: PingAnswer) -> None:
        publisher = self._publishers.get(body.advertisement)
        if publisher is None or publisher.pinged_us < 0:
            return
        pings = {r.broker: r.rtt_us for r in body.rtts if r.rtt_us >= 0}
        asked = {r.broker for r in body.rtts}
        candidates = [b for b in self._candidates(publisher) if b not in asked or b in pings]
        self._settle(now_us, body.advertisement, publisher, candidates or [self.host.id], pings)

    def _settle(
        self,
        now_us: int,
        advertisement: str,
        publisher: Publisher,
        candidates: list[str],
        ping_us: dict[str, int],
    ) -> None:
        """Algorithms 1 to 3, then phase 3 or the next session. Half a ping is the way there; 4.2 says "ping
        times, together with the queuing and matching delays", so a whole one is a reading too."""
        del self._publishers[advertisement]
        tree = Tree(publisher.brokers)
        share = 2 if self._settings.ping == "half" else 1
        one_way = {broker: rtt // share for broker, rtt in ping_us.items()}
        options = estimates(tree, candidates, one_way)
        target = choose(options, self._settings.prioritise, self._settings.weight, self.host.id)
        waited = now_us - publisher.pinged_us if publisher.pinged_us >= 0 else 0
        path = tuple(reversed(_path(tree, self.host.id, target)))
        self.selected(now_us, advertisement, path, publisher.started_us, f"grape ping_us={waited}")

    # ------------------------------------------------------------ everything else

    def received_other(self, now_us: int, peer: str, envelope: Envelope) -> None:
        body = envelope.body
        if isinstance(body, TraceInformationRequest):
            self._request(now_us, peer, body)
        elif isinstance(body, TraceInformationAnswer):
            self._answer(now_us, peer, body)
        elif isinstance(body, PingAnswer):
            self._pinged(now_us, body)
        else:
            raise ProtocolError(f"GRAPE does not know {body.type}")

    def forget(self, advertisement: str) -> None:
        self._publishers.pop(advertisement, None)
        for name, session in sorted(self._sessions.items()):
            if session.advertisement == advertisement:
                del self._sessions[name]

    def neighbour_lost(self, now_us: int, peer: str) -> None:
        for name, session in sorted(self._sessions.items()):
            if session.upstream == peer and peer:
                del self._sessions[name]
            elif peer in session.waiting:
                session.waiting.discard(peer)
                self._conclude(now_us, name, session)
            else:
                session.downstream.discard(peer)
        for advertisement in sorted(self._publishers):
            if self.publisher_of(advertisement) is None:
                self.forget(advertisement)

    def deadline(self, now_us: int) -> None:
        for name, session in sorted(self._sessions.items()):
            if session.asked_us >= 0 and session.deadline_us <= now_us:
                session.waiting.clear()
                self._conclude(now_us, name, session)
        for advertisement, publisher in sorted(self._publishers.items()):
            if publisher.pinged_us >= 0 and publisher.deadline_us <= now_us:
                self._settle(now_us, advertisement, publisher, self._candidates(publisher), {})

    def next_deadline_us(self) -> int | None:
        due = [s.deadline_us for s in self._sessions.values() if s.asked_us >= 0]
        due += [p.deadline_us for p in self._publishers.values() if p.pinged_us >= 0]
        return min(due, default=None)


def _path(tree: Tree, source: str, target: str) -> list[str]:
    """The brokers from source to target on the tree of those that answered."""
    previous: dict[str, str] = {source: source}
    frontier = [source]
    while frontier and target not in previous:
        following = []
        for at in frontier:
            for neighbour in tree.links[at]:
                if neighbour not in previous:
                    previous[neighbour] = at
                    following.append(neighbour)
        frontier = following
    path = [target]
    while path[-1] != source:
        path.append(previous[path[-1]])
    return path[::-1]
