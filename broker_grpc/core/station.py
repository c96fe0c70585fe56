"""The modelled processor of a broker: messages wait for it, and it takes time to match them.

A message is matched when its service starts and acted upon when its service ends; in between nothing
else is, because there is one server. What a broker sends waits in the output queue of its outbox.

A stream may end, and a new one to the same peer begin, while messages of the old one wait. Publications
have arrived and go their way. Routing messages are void with their stream: the peer tells all it knows anew.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping

from broker_grpc.core.links import Links
from broker_grpc.core.monitor import Monitor
from broker_grpc.core.options import BrokerOptions
from broker_grpc.core.outbox import Outbox
from broker_grpc.core.queues import Arrival, InputQueue, OutputQueue
from broker_grpc.machine import PeerKind
from protos.body import Body, Envelope
from protos.client_messages import Publication
from protos.content_messages import Value

Match = Callable[[Mapping[str, Value]], tuple[set[str], int]]  # targets, and how many filters were looked at
# now, peer, the kind of its stream, envelope, targets, queueing_us, matching_us
Matched = Callable[[int, str, PeerKind | None, Envelope, set[str], int, int], None]
Controlled = Callable[[str, Envelope], None]


class Station:
    """`matched` is called with the result of matching a publication, `controlled` for any other message."""

    def __init__(
        self, options: BrokerOptions, links: Links, outbox: Outbox, output: OutputQueue, monitor: Monitor,
        match: Match, matched: Matched, controlled: Controlled, own: Container[type[Body]],
    ) -> None:  # fmt: skip
        """`own`: the messages that are the broker's own; every other one is its algorithm's."""
        self._options = options
        self._links = links
        self._outbox = outbox
        self._output = output
        self._monitor = monitor
        self._match = match
        self._matched = matched
        self._controlled = controlled
        self._own = own
        self._input = InputQueue(options.input_queue)
        self._targets: set[str] = set()  # of the publication in service

    def __len__(self) -> int:
        return len(self._input) + len(self._output)

    def next_deadline_us(self) -> int | None:
        finish, depart = self._finish_us(), self._depart_us()
        return finish if depart is None else depart if finish is None else min(finish, depart)

    def arrive(self, now_us: int, peer: str, envelope: Envelope) -> None:
        self.run(now_us)
        stream = self._links.get(peer)
        if envelope.body.__class__ is Publication:
            self._monitor.arrivals += 1
            if self._input.full():
                return self._outbox.drop(peer, envelope, "input queue full")
        elif stream is not None and (stream.closing or self._input.full_of_controls(peer)):
            return self._outbox.give_up(stream, envelope, "input queue full")
        elif self._counted(envelope.body):
            self._monitor.arrivals += 1
        self._input.put(Arrival(peer, envelope, now_us, stream))
        self._start(now_us)
        self.run(now_us)

    def run(self, now_us: int) -> None:
        """Finish matching and sending in the order of their times, up to now."""
        while True:
            finish, depart = self._finish_us(), self._depart_us()
            if depart is not None and depart <= now_us and (finish is None or depart <= finish):
                self._outbox.depart()
            elif finish is not None and finish <= now_us:
                self._finish(finish)
            else:
                break
        self._outbox.now_us = now_us

    def _finish_us(self) -> int | None:
        return self._input.finish_us if self._input.serving is not None else None

    def _depart_us(self) -> int | None:
        return self._output.departures[0].at_us if self._output.departures else None

    def _start(self, now_us: int) -> None:
        arrival = self._input.start(now_us)
        if arrival is None:
            return
        cost, body = self._options.control_us, arrival.envelope.body
        if isinstance(body, Publication):
            self._targets, candidates = self._match(body.attributes)
            cost = self._options.matching_us + candidates * self._options.matching_per_candidate_us
        elif self._internal(body) and self._options.internal_messages != "apart":
            # As a publication that one subscription matches, its addressee's.
            cost = self._options.matching_us + self._options.matching_per_candidate_us
        self._input.finish_us = now_us + cost

    def _finish(self, at_us: int) -> None:
        arrival, started_us = self._input.serving, self._input.started_us
        assert arrival is not None
        self._input.serving = None
        self._outbox.now_us = at_us
        queueing, matching = started_us - arrival.at_us, at_us - started_us
        if self._counted(arrival.envelope.body):
            self._monitor.observe_input(queueing, matching)
        if arrival.envelope.body.__class__ is Publication:
            self._monitor.observe_input(queueing, matching)
            kind = arrival.stream.kind if arrival.stream is not None else None
            self._matched(at_us, arrival.peer, kind, arrival.envelope, self._targets, queueing, matching)
        elif self._links.get(arrival.peer) is arrival.stream:
            self._controlled(arrival.peer, arrival.envelope)
        else:
            self._outbox.drop(arrival.peer, arrival.envelope, "the link is down")
        self._start(at_us)

    def _internal(self, body: Body) -> bool:
        return body.__class__ is not Publication and body.__class__ not in self._own

    def _counted(self, body: Body) -> bool:
        return self._options.internal_messages == "counted" and self._internal(body)
