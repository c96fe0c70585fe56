"""POP, Publisher Optimistic Placement (section 3)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from broker_grpc.errors import ProtocolError
from broker_grpc.protocols.relocation.layer import Relocation
from broker_grpc.protocols.relocation.profile import LOCAL, PublisherProfileTable, closest_neighbour
from broker_grpc.protocols.relocation.settings import PopSettings
from broker_grpc.protocols.relocation.tagging import Tagger
from protos.body import Envelope
from protos.client_messages import Publication, Trace
from protos.relocation_messages import RelocationAnswer, RelocationRequest, TraceResult


class Pending(msgspec.Struct):
    """A traced publication that went on to neighbours whose results are awaited."""

    advertisement: str
    upstream: str  # "" at the publisher's first broker
    local: int
    waiting: set[str]
    results: dict[str, int]
    deadline_us: int


class Tracing(msgspec.Struct):
    """Phase 1 of one publisher, at its first broker."""

    tagger: Tagger
    traced: int = 0
    outstanding: int = 0
    selecting_since_us: int = -1  # -1 = phase 2 is not under way


class Pop(Relocation):
    def __init__(self, settings: PopSettings) -> None:
        self._settings = settings
        self._tables: dict[str, PublisherProfileTable] = {}
        self._pending: dict[str, Pending] = {}  # by publication
        self._tracing: dict[str, Tracing] = {}  # by advertisement

    # ------------------------------------------------------------ phase 1: distributed trace

    def publication_accepted(self, now_us: int, publication: Publication) -> Publication:
        """Tag it or not. Tagging rests from the threshold until the selection is over, so that the
        second condition of phase 2, no outstanding results, can come true."""
        advertisement = publication.advertisement
        if not advertisement or self.migration.moving(advertisement):
            return publication
        tracing = self._tracing.get(advertisement)
        if tracing is None:
            tagger = Tagger(self._settings.traced_per_window, self._settings.window_us)
            tracing = self._tracing[advertisement] = Tracing(tagger)
        if tracing.traced >= self._settings.threshold or not tracing.tagger.tag(now_us, self.host.random):
            return publication
        tracing.traced += 1
        tracing.outstanding += 1
        return msgspec.structs.replace(publication, trace=Trace(counted=True), wire=b"", wire_size=-1)

    def publication_processed(
        self, now_us: int, envelope: Envelope, source: str, neighbours: Sequence[str], subscribers: int
    ) -> None:
        publication = envelope.body
        if (
            not isinstance(publication, Publication)
            or publication.trace is None
            or not publication.trace.counted
        ):
            return
        upstream = "" if self.host.has_client(source) else source
        pending = Pending(
            publication.advertisement,
            upstream,
            subscribers,
            set(neighbours),
            {},
            now_us + self._settings.trace_timeout_us,
        )
        self._pending[publication.id] = pending
        self._conclude(now_us, publication.id, pending)

    def _conclude(self, now_us: int, publication: str, pending: Pending) -> None:
        """Both conditions of 3.1: only subscribers got it, or every neighbour has answered."""
        if pending.waiting:
            return
        del self._pending[publication]
        table = self._tables.get(pending.advertisement)
        if table is None:
            settings = self._settings
            table = PublisherProfileTable(settings.newest_weight, settings.absent, settings.late_row)
            self._tables[pending.advertisement] = table
        table.record({LOCAL: pending.local, **pending.results})
        total = pending.local + sum(pending.results.values())
        if pending.upstream:
            self.host.send(pending.upstream, TraceResult(pending.advertisement, publication, total))
        else:
            self._concluded(now_us, pending.advertisement)

    def _concluded(self, now_us: int, advertisement: str) -> None:
        tracing = self._tracing.get(advertisement)
        if tracing is None:
            return
        tracing.outstanding -= 1
        ready = tracing.traced >= self._settings.threshold and not tracing.outstanding
        if ready and tracing.selecting_since_us < 0:
            tracing.selecting_since_us = now_us
            self._request(now_us, "", RelocationRequest(advertisement))

    def _result(self, now_us: int, peer: str, body: TraceResult) -> None:
        pending = self._pending.get(body.publication)
        if pending is not None and peer in pending.waiting:
            pending.waiting.discard(peer)
            pending.results[peer] = body.subscribers
            self._conclude(now_us, body.publication, pending)

    # ------------------------------------------------------------ phase 2: decentralised selection

    def _request(self, now_us: int, via: str, body: RelocationRequest) -> None:
        """Forward to the closest neighbour, or be the closest broker."""
        table = self._tables.get(body.advertisement)
        rows = dict(table.average) if table is not None else {}
        local = rows.pop(LOCAL, 0.0)
        rows = {n: v for n, v in rows.items() if n in self.host.neighbours()}
        if via:
            rows[via] = body.subscribers
        brokers = (self.host.id, *body.brokers)
        closest = closest_neighbour(rows, local)
        if closest is None or closest == via:
            self._answer(now_us, RelocationAnswer(body.advertisement, brokers))
            return
        others = local + sum(rows[n] for n in sorted(rows) if n != closest)
        self.host.send(closest, RelocationRequest(body.advertisement, others, brokers))

    def _answer(self, now_us: int, body: RelocationAnswer) -> None:
        """Back along the request's way; the last broker of the list is its originator."""
        if self.host.id not in body.brokers:
            raise ProtocolError(f"relocation answer that did not pass {self.host.id}")
        at = body.brokers.index(self.host.id)
        if at + 1 < len(body.brokers):
            self.host.send(body.brokers[at + 1], body)
            return
        tracing = self._tracing.pop(body.advertisement, None)
        if tracing is not None and tracing.selecting_since_us >= 0:
            self.selected(now_us, body.advertisement, body.brokers, tracing.selecting_since_us, "pop")

    # ------------------------------------------------------------ everything else

    def received_other(self, now_us: int, peer: str, envelope: Envelope) -> None:
        body = envelope.body
        if isinstance(body, TraceResult):
            self._result(now_us, peer, body)
        elif isinstance(body, RelocationRequest):
            self._request(now_us, peer, body)
        elif isinstance(body, RelocationAnswer):
            self._answer(now_us, body)
        else:
            raise ProtocolError(f"POP does not know {body.type}")

    def forget(self, advertisement: str) -> None:
        self._tables.pop(advertisement, None)
        self._tracing.pop(advertisement, None)

    def neighbour_lost(self, now_us: int, peer: str) -> None:
        """Its results will not come; a selection on its way may be lost, so it starts over."""
        for publication, pending in sorted(self._pending.items()):
            if peer in pending.waiting:
                pending.waiting.discard(peer)
                self._conclude(now_us, publication, pending)
            elif pending.upstream == peer:
                self._pending.pop(publication, None)
        for table in self._tables.values():
            table.average.pop(peer, None)
        for advertisement, tracing in sorted(self._tracing.items()):
            if tracing.selecting_since_us >= 0 or self.publisher_of(advertisement) is None:
                del self._tracing[advertisement]

    def deadline(self, now_us: int) -> None:
        for publication, pending in sorted(self._pending.items()):
            if pending.deadline_us <= now_us:
                pending.waiting.clear()
                self._conclude(now_us, publication, pending)

    def next_deadline_us(self) -> int | None:
        # Deadlines are given in the order of insertion, and never changed.
        for pending in self._pending.values():
            return pending.deadline_us
        return None
