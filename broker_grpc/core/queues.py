"""What waits in the service model of a broker: messages to be matched, and messages to be sent.

In simulated and virtual time a processor is infinitely fast, so queueing must be modelled to exist:
one input queue with one server (matching time per publication and per candidate filter), and one
output server of a given bandwidth behind a queue per peer. With every cost zero nothing waits.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from broker_grpc.core.links import Peer
from broker_grpc.core.options import BrokerOptions
from protos.body import Envelope
from protos.client_messages import Publication


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
