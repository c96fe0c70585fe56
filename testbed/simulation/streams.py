"""Streams between processes: dialled and redialled, hellos exchanged, FIFO, broken by faults.

What a gRPC stream does, in round trips: TCP is connected after one, the dialler has the listener's
HTTP/2 settings after two and then sends its hello, the listener answers. So the listener is up after
two and a half, the dialler after three. A dial of a process that is not there is refused after one;
without a path it is tried again later. Redials back off like those of the real processes.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from broker_grpc.limits import Limits
from broker_grpc.links import hello_incarnation
from broker_grpc.machine import PeerDown, PeerKind, PeerUp, Stimulus
from protos.envelope import VERSION, encoded_size
from protos.messages import Envelope, Hello
from protos.messages import PeerKind as WireKind
from protos.records import LogEvent
from testbed.simulation.agenda import Agenda
from testbed.simulation.wires import RTO_MIN_US, Wires

WIRE_KIND: dict[PeerKind, WireKind] = {"broker": WireKind.BROKER, "client": WireKind.CLIENT}


@dataclass(slots=True)
class Stream:
    """One connection; each end learns of its begin and end in its own time."""

    dialler: str
    listener: str
    up: dict[str, bool] = field(default_factory=dict)  # by end
    broken: bool = False
    last_us: dict[str, int] = field(default_factory=dict)  # by receiving end: arrival of the last message
    stalled: deque[tuple[str, Envelope, int]] = field(default_factory=deque)  # (sender, message, sent)

    def other(self, end: str) -> str:
        return self.listener if end == self.dialler else self.dialler


class Processes(Protocol):
    """What streams need to know of the processes at their ends."""

    def host_of(self, process: str) -> str: ...
    def kind_of(self, process: str) -> PeerKind: ...
    def is_running(self, process: str) -> bool: ...
    def incarnation_of(self, process: str) -> int: ...
    def feed(self, process: str, stimulus: Stimulus) -> None: ...
    def receive(self, process: str, peer: str, envelope: Envelope) -> None: ...
    def log(self, process: str, event: LogEvent) -> None: ...


class Dial:
    """A wish for a stream, kept until it is withdrawn."""

    __slots__ = ("dials", "failures", "rng")

    def __init__(self, dialler: str, listener: str, seed: int) -> None:
        self.failures = 0
        self.dials = 0
        self.rng = random.Random(f"{seed}/{dialler}/{listener}")

    def backoff_us(self, limits: Limits) -> int:
        ceiling = min(limits.redial_max_us, limits.redial_min_us << min(self.failures, 20))
        self.failures += 1
        return round(ceiling * self.rng.uniform(0.5, 1.0))


class Streams:
    def __init__(
        self, agenda: Agenda, wires: Wires, processes: Processes, limits: Callable[[str], Limits], seed: int
    ) -> None:
        self._agenda = agenda
        self._wires = wires
        self._processes = processes
        self._limits = limits
        self._seed = seed
        self._dials: dict[tuple[str, str], Dial] = {}
        self.live: dict[tuple[str, str], Stream] = {}  # (end, peer), both ways

    # ------------------------------------------------------------ dialling

    def open(self, dialler: str, listener: str) -> None:
        if (dialler, listener) not in self._dials:
            self._dials[dialler, listener] = Dial(dialler, listener, self._seed)
            self._dial(dialler, listener)

    def _dial(self, dialler: str, listener: str) -> None:
        dial = self._dials.get((dialler, listener))
        if dial is None or not self._processes.is_running(dialler):
            return
        rtt = self._rtt_us(dialler, listener)
        if rtt is None:
            self._agenda.at(self._agenda.now_us + self._wait(dial, dialler), self._dial, dialler, listener)
        else:
            self._agenda.at(self._agenda.now_us + rtt, self._connected, (dialler, listener), rtt)

    def _rtt_us(self, a: str, b: str) -> int | None:
        return self._wires.rtt_us(self._processes.host_of(a), self._processes.host_of(b))

    def _wait(self, dial: Dial, dialler: str) -> int:
        return dial.backoff_us(self._limits(dialler))

    def _connected(self, ends: tuple[str, str], rtt: int) -> None:
        dialler, listener = ends
        dial = self._dials.get(ends)
        if dial is None or not self._processes.is_running(dialler):
            return
        if not self._processes.is_running(listener):
            self._agenda.at(self._agenda.now_us + self._wait(dial, dialler), self._dial, dialler, listener)
            return
        dial.dials += 1
        stream = Stream(dialler, listener)
        self._agenda.at(self._agenda.now_us + rtt * 3 // 2, self._up, stream, listener)
        self._agenda.at(self._agenda.now_us + rtt * 2, self._up, stream, dialler)

    def _up(self, stream: Stream, end: str) -> None:
        peer = stream.other(end)
        if stream.broken or not self._processes.is_running(end):
            stream.broken = True
            return
        if end == stream.listener and not self._processes.is_running(peer):
            stream.broken = True
            return
        if end == stream.dialler:
            self._dials[end, peer].failures = 0
        old = self.live.get((end, peer))
        if old is not None and old is not stream:
            self._end(old, end, "replaced")
        self.live[end, peer] = stream
        stream.up[end] = True
        incarnation = self._incarnation(stream, peer)
        self._log_hellos(stream, end, peer)
        self._processes.feed(end, PeerUp(peer, self._processes.kind_of(peer), incarnation))

    def _incarnation(self, stream: Stream, end: str) -> int:
        dial = self._dials.get((stream.dialler, stream.listener))
        number = dial.dials if dial is not None and end == stream.dialler else 0
        return hello_incarnation(self._processes.incarnation_of(end), number)

    def _log_hellos(self, stream: Stream, end: str, peer: str) -> None:
        if self._processes.kind_of(end) == "client":
            return  # the brokers' logs tell of both
        for kind, who in (("RECEIVED", peer), ("SENT", end)):
            body = Hello(
                who, WIRE_KIND[self._processes.kind_of(who)], VERSION, self._incarnation(stream, who)
            )
            size = encoded_size(Envelope(body, 0, 0, VERSION))
            event = LogEvent(kind=kind, type="hello", peer=peer, bytes=size)  # type: ignore[arg-type]
            self._processes.log(end, event)

    # ------------------------------------------------------------ messages

    def send(self, sender: str, receiver: str, envelope: Envelope, size: int) -> None:
        stream = self.live.get((sender, receiver))
        if stream is None or stream.broken:
            return
        hosts = self._processes.host_of(sender), self._processes.host_of(receiver)
        arrival = None if stream.stalled else self._wires.arrival_us(self._agenda.now_us, *hosts, size)
        if arrival is None:
            stream.stalled.append((sender, envelope, self._agenda.now_us))
            return
        last = stream.last_us.get(receiver, 0)
        if arrival < last:
            arrival = last  # TCP keeps the order
        stream.last_us[receiver] = arrival
        self._agenda.at(arrival, self._arrive, stream, (receiver, envelope))

    def _arrive(self, stream: Stream, what: tuple[str, Envelope]) -> None:
        receiver, envelope = what
        if stream.up.get(receiver) and not stream.broken:
            self._processes.receive(receiver, stream.other(receiver), envelope)
        elif not stream.broken:  # the hello is still on its way
            self._agenda.at(self._agenda.now_us + 1, self._arrive, stream, what)

    def paths_changed(self) -> None:
        """Streams whose path is back: TCP's next retransmission brings the first message, the rest follow."""
        for ends, stream in sorted(self.live.items()):
            if ends[0] == stream.dialler and stream.stalled and self._rtt_us(*ends) is not None:
                self._resume(stream)

    def _resume(self, stream: Stream) -> None:
        rtt = self._rtt_us(stream.dialler, stream.listener) or 0
        _sender, _, sent_us = stream.stalled[0]
        wait, at = rtt + RTO_MIN_US, sent_us
        while at < self._agenda.now_us:
            at, wait = at + wait, 2 * wait
        self._agenda.at(at, self._release, stream, None)

    def _release(self, stream: Stream, _: None) -> None:
        waiting, stream.stalled = stream.stalled, deque()
        for sender, envelope, _sent in waiting:
            self.send(sender, stream.other(sender), envelope, encoded_size(envelope))

    # ------------------------------------------------------------ ends

    def close(self, end: str, peer: str, reason: str, redial: bool) -> None:
        """One end hangs up, behind what it has sent."""
        if not redial:
            self._dials.pop((end, peer), None)
        stream = self.live.pop((end, peer), None)
        if stream is None:
            return
        stream.up[end] = False
        self._agenda.at(self._agenda.now_us, self._hung_up, (end, peer), reason)
        self._tell_other(stream, end, reason)

    def _hung_up(self, ends: tuple[str, str], reason: str) -> None:
        end, peer = ends
        if self._processes.is_running(end) and (end, peer) not in self.live:
            self._processes.feed(end, PeerDown(peer, reason))
            if (end, peer) in self._dials:
                self._dial(end, peer)

    def _tell_other(self, stream: Stream, end: str, reason: str) -> None:
        """The end of the stream arrives like a message."""
        peer = stream.other(end)
        hosts = self._processes.host_of(end), self._processes.host_of(peer)
        arrival = self._wires.arrival_us(self._agenda.now_us, *hosts, 0)
        if arrival is not None:
            at = max(arrival, stream.last_us.get(peer, 0))
            self._agenda.at(at, self._ended, (stream, peer), reason)

    def _ended(self, what: tuple[Stream, str], reason: str) -> None:
        self._end(*what, reason)

    def _end(self, stream: Stream, end: str, reason: str) -> None:
        peer = stream.other(end)
        stream.broken = True
        if self.live.get((end, peer)) is not stream:
            return
        del self.live[end, peer]
        if self._processes.is_running(end):
            self._processes.feed(end, PeerDown(peer, reason))
        dial = self._dials.get((end, peer))
        if dial is not None:
            self._agenda.at(self._agenda.now_us + self._wait(dial, end), self._dial, end, peer)

    def crash(self, process: str, reason: str) -> None:
        """The process is gone; the kernel tells its peers."""
        for key in [k for k in self._dials if k[0] == process]:
            del self._dials[key]
        for ends in sorted(k for k in self.live if k[0] == process):
            stream = self.live.pop(ends)
            stream.up[process] = False
            self._tell_other(stream, process, reason)
