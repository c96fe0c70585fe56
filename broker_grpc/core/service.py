"""What a broker's work costs: an optional service model, and the measures the papers define.

In simulated and virtual time a processor is infinitely fast, so queueing must be modelled to exist:
one input queue with one server (matching time per publication and per candidate filter), and one
output server of a given bandwidth behind a queue per peer. With every cost zero nothing waits.

`Monitor` holds the measures, wherever they come from: the model, or a driver with a real clock.

- input queueing, matching and (per neighbour) output queueing delay: what GRAPE 4.1 asks a broker for
- input utilisation: incoming rate x matching time
- output utilisation: used / available output bandwidth
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from broker_grpc.core.links import Peer
from broker_grpc.core.options import BrokerOptions
from protos.messages import Envelope, Publication
from protos.records import LogEvent


class Average:
    """Mean of what was observed since the last reset; keeps the last mean while nothing is."""

    __slots__ = ("count", "last", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = 0
        self.last = 0

    def add(self, value: int) -> None:
        self.count += 1
        self.total += value

    @property
    def mean(self) -> int:
        return self.total // self.count if self.count else self.last

    def reset(self) -> None:
        self.last = self.mean
        self.count = self.total = 0


class Monitor:
    """Delays and utilisations since the last sample."""

    def __init__(self, output_bandwidth: int = 0) -> None:
        self.input_queueing = Average()
        self.matching = Average()
        self.output_queueing: dict[str, Average] = {}
        self.arrivals = 0
        self.bytes_sent = 0
        self._bandwidth = output_bandwidth
        self._since_us: int | None = None

    def observe_input(self, queueing_us: int, matching_us: int) -> None:
        self.input_queueing.add(queueing_us)
        self.matching.add(matching_us)

    def observe_output(self, peer: str, sending_us: int) -> None:
        average = self.output_queueing.get(peer)
        if average is None:
            average = self.output_queueing[peer] = Average()
        average.add(sending_us)

    def output_queueing_us(self, peer: str) -> int:
        return self.output_queueing[peer].mean if peer in self.output_queueing else 0

    def utilisations(self, now_us: int) -> tuple[float, float]:
        """Input and output utilisation since the last call; the first call only starts the clock."""
        elapsed = 0 if self._since_us is None else now_us - self._since_us
        self._since_us = now_us
        used, arrived, matching = self.bytes_sent, self.arrivals, self.matching.mean
        self.bytes_sent = self.arrivals = 0
        self.input_queueing.reset()
        self.matching.reset()
        for average in self.output_queueing.values():
            average.reset()
        if elapsed <= 0:
            return 0.0, 0.0
        output = used * 1_000_000 / (self._bandwidth * elapsed) if self._bandwidth else 0.0
        return arrived * matching / elapsed, output

    def forget(self, peer: str) -> None:
        self.output_queueing.pop(peer, None)


class Sampler:
    """Periodic SAMPLED events; the driver adds the memory of its process."""

    def __init__(self, every_us: int, monitor: Monitor) -> None:
        self._every_us = every_us
        self._monitor = monitor
        self._at: int | None = None

    def next_deadline_us(self) -> int | None:
        return (self._at or 0) if self._every_us else None

    def sample(self, now_us: int, waiting: int) -> list[LogEvent]:
        """The first time only starts the clock. Samples keep their distance; missed ones are not made up."""
        first = self._at is None
        self._at = max((self._at or now_us) + self._every_us, now_us + 1)
        used = self._monitor.utilisations(now_us)
        if first:
            return []
        return [
            LogEvent(kind="SAMPLED", queue=waiting, input_utilisation=used[0], output_utilisation=used[1])
        ]


class Arrival(NamedTuple):
    peer: str
    envelope: Envelope
    at_us: int
    stream: Peer | None  # on which it came: by the time of its service there may be another


class Departure(NamedTuple):
    at_us: int  # last byte out
    peer: str
    envelope: Envelope
    enqueued_us: int
    stream: Peer | None  # for which it was meant


class InputQueue:
    """FIFO with one server; the broker says how long the message in service takes.

    Publications have `limit` places in all. Other messages, which must not be lost one by one, have as many
    per peer: so a peer that floods the broker with them costs bounded memory, and only its own stream.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.waiting: deque[Arrival] = deque()
        self.controls: dict[str, int] = {}  # of those that wait, messages that are no publications, by peer
        self.serving: Arrival | None = None
        self.started_us = 0
        self.finish_us = 0

    def __len__(self) -> int:
        return len(self.waiting) + (self.serving is not None)

    def full(self) -> bool:
        return bool(self.limit) and len(self.waiting) >= self.limit

    def full_of_controls(self, peer: str) -> bool:
        return bool(self.limit) and self.controls.get(peer, 0) >= self.limit

    def put(self, arrival: Arrival) -> None:
        self.waiting.append(arrival)
        if arrival.envelope.body.__class__ is not Publication:
            self.controls[arrival.peer] = self.controls.get(arrival.peer, 0) + 1

    def start(self, now_us: int) -> Arrival | None:
        """Take the next message into service, if the server is free."""
        if self.serving is not None or not self.waiting:
            return None
        arrival = self.serving = self.waiting.popleft()
        self.started_us = now_us
        if arrival.envelope.body.__class__ is not Publication:
            _one_less(self.controls, arrival.peer)
        return arrival


def _one_less(counts: dict[str, int], key: str) -> None:
    left = counts[key] - 1
    if left:
        counts[key] = left
    else:
        del counts[key]


class OutputQueue:
    """One server of `bandwidth` bytes per second, first come first served; counts what waits per peer."""

    def __init__(self, options: BrokerOptions) -> None:
        self.bandwidth = options.output_bandwidth
        self.limit = options.output_queue
        self.departures: deque[Departure] = deque()
        self.waiting: dict[str, int] = {}
        self._free_us = 0

    def __len__(self) -> int:
        return len(self.departures)

    def full(self, peer: str, room: int = 1) -> bool:
        """`room`: how many times the limit."""
        return bool(self.limit) and self.waiting.get(peer, 0) >= self.limit * room

    def put(self, now_us: int, peer: str, envelope: Envelope, size: int, stream: Peer | None) -> None:
        start = max(now_us, self._free_us)
        # Rounded up: a server never works faster than its bandwidth.
        self._free_us = start - (-size * 1_000_000 // self.bandwidth) if self.bandwidth else start
        self.departures.append(Departure(self._free_us, peer, envelope, now_us, stream))
        self.waiting[peer] = self.waiting.get(peer, 0) + 1

    def pop(self) -> Departure:
        departure = self.departures.popleft()
        _one_less(self.waiting, departure.peer)
        return departure
