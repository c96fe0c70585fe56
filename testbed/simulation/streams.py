"""Streams between processes: dialled and redialled, hellos exchanged, FIFO, broken by faults.

What a gRPC stream does, in round trips: TCP is connected after one, the dialler has the listener's
HTTP/2 settings after two and then sends its hello, the listener answers. So the listener is up after
two and a half, the dialler after three. A first stream of a process to another host takes FIRST_DIAL_US
longer (measured on the wire, the same for every round trip, its cause not found; later dials and those of a
process that was started again took none). A dial of a process that is not there is refused after one;
without a path it is tried again later. Redials back off like those of the real processes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from broker_grpc.limits import Limits
from broker_grpc.links import hello_incarnation
from broker_grpc.machine import PeerDown, PeerKind, PeerUp, Stimulus
from protos.envelope import VERSION, encoded_size
from protos.messages import Envelope, Hello
from protos.messages import PeerKind as WireKind
from protos.records import LogEvent
from testbed.simulation.agenda import Agenda
from testbed.simulation.tcp import End, Transmit, connect
from testbed.simulation.wires import FRAMING, Wires

FIRST_DIAL_US = 255_550

WIRE_KIND: dict[PeerKind, WireKind] = {"broker": WireKind.BROKER, "client": WireKind.CLIENT}


Inbox = Callable[[str, Envelope], None]  # the sender, and what it sent


@dataclass(slots=True, eq=False)
class Stream:
    """One connection; each end learns of its begin and end in its own time."""

    dialler: str
    listener: str
    rtt_us: int
    broken: bool = False
    pipes: tuple[Pipe, ...] = ()


@dataclass(slots=True, eq=False)
class Pipe:
    """One direction of a stream, as its sending end holds it."""

    stream: Stream
    sender: str
    receiver: str
    other: Pipe | None = None  # the opposite direction
    inbox: Inbox | None = None  # of the receiver, while it is up and has not hung up
    deaf: bool = False  # the receiver has hung up
    early: list[Envelope] | None = None  # came before the receiver was up
    tcp: End | None = None  # the sender's, where the stream is simulated packet by packet
    last_us: int = 0  # arrival of the last message or packet
    fixed_us: int = -1  # what every message takes, where size and chance do not matter; -1 = unknown


def _pipes(stream: Stream) -> tuple[Pipe, Pipe]:
    """The dialler's and the listener's."""
    there = Pipe(stream, stream.dialler, stream.listener)
    back = Pipe(stream, stream.listener, stream.dialler, there)
    there.other = back
    stream.pipes = there, back
    return there, back


def _break(stream: Stream) -> None:
    stream.broken = True
    for pipe in stream.pipes:
        pipe.inbox, pipe.fixed_us = None, -1


class Processes(Protocol):
    """What streams need to know of the processes at their ends."""

    def host_of(self, process: str) -> str: ...
    def kind_of(self, process: str) -> PeerKind: ...
    def is_running(self, process: str) -> bool: ...
    def accepts(self, process: str) -> bool: ...
    def incarnation_of(self, process: str) -> int: ...
    def seed_of(self, process: str) -> int: ...
    def feed(self, process: str, stimulus: Stimulus) -> None: ...
    def inbox_of(self, process: str) -> Inbox: ...
    def log(self, process: str, event: LogEvent) -> None: ...


class Dial:
    """A wish for a stream, kept until it is withdrawn."""

    __slots__ = ("_name", "_rng", "dials", "failures")

    def __init__(self, dialler: str, listener: str, seed: int) -> None:
        self.failures = 0
        self.dials = 0
        self._name = f"{seed}/{dialler}/{listener}"
        self._rng: random.Random | None = None  # made when needed: it is large, and most dials succeed

    def backoff_us(self, limits: Limits) -> int:
        self._rng = self._rng or random.Random(self._name)
        ceiling = min(limits.redial_max_us, limits.redial_min_us << min(self.failures, 20))
        self.failures += 1
        return round(ceiling * self._rng.uniform(0.5, 1.0))


class Streams:
    def __init__(
        self, agenda: Agenda, wires: Wires, processes: Processes, limits: Callable[[str], Limits]
    ) -> None:
        self._agenda = agenda
        self._wires = wires
        self._processes = processes
        self._limits = limits
        self._dials: dict[str, dict[str, Dial]] = {}  # by dialler and listener
        self._live: dict[str, dict[str, Pipe]] = {}  # by end that is up and its peer
        self._dialled: set[str] = set()  # have had a stream
        self.carried = 0  # messages that arrived

    def is_live(self, end: str, peer: str) -> bool:
        return peer in self._live.get(end, ())

    def _pipe(self, end: str, peer: str) -> Pipe | None:
        return self._live.get(end, {}).get(peer)

    # ------------------------------------------------------------ dialling

    def open(self, dialler: str, listener: str) -> None:
        dials = self._dials.setdefault(dialler, {})
        if listener not in dials:
            dials[listener] = Dial(dialler, listener, self._processes.seed_of(dialler))
            self._dial(dialler, listener)

    def _wish(self, dialler: str, listener: str) -> Dial | None:
        return self._dials.get(dialler, {}).get(listener)

    def _dial(self, dialler: str, listener: str) -> None:
        dial = self._wish(dialler, listener)
        if dial is None or not self._processes.is_running(dialler):
            return
        rtt = self._rtt_us(dialler, listener)
        if rtt is None:
            self._dial_later(dial, dialler, listener)
        else:
            self._agenda.at(self._agenda.now_us + rtt, self._connected, (dialler, listener), rtt)

    def _rtt_us(self, a: str, b: str) -> int | None:
        return self._wires.rtt_us(self._processes.host_of(a), self._processes.host_of(b))

    def _dial_later(self, dial: Dial, dialler: str, listener: str) -> None:
        wait = dial.backoff_us(self._limits(dialler))
        self._agenda.at(self._agenda.now_us + wait, self._dial, dialler, listener)

    def _connected(self, ends: tuple[str, str], rtt: int) -> None:
        dialler, listener = ends
        dial = self._wish(dialler, listener)
        if dial is None or not self._processes.is_running(dialler):
            return
        if not self._processes.accepts(listener):
            self._dial_later(dial, dialler, listener)
            return
        dial.dials += 1
        there, back = _pipes(Stream(dialler, listener, rtt))
        begun = self._agenda.now_us + self._first_dial_us(dialler, listener)
        self._agenda.at(begun + rtt * 3 // 2, self._up, back)
        self._agenda.at(begun + rtt * 2, self._up, there)

    def _first_dial_us(self, dialler: str, listener: str) -> int:
        first = dialler not in self._dialled and self._processes.incarnation_of(dialler) == 1
        self._dialled.add(dialler)
        if not first or self._processes.host_of(dialler) == self._processes.host_of(listener):
            return 0
        return FIRST_DIAL_US

    def _up(self, pipe: Pipe, _: None) -> None:
        """The sender of this direction has the other's hello."""
        stream, end, peer = pipe.stream, pipe.sender, pipe.receiver
        gone = not self._processes.is_running(end)
        if stream.broken or gone or (end == stream.listener and not self._processes.is_running(peer)):
            _break(stream)
            return
        dial = self._wish(end, peer)
        if end == stream.dialler and dial is not None:
            dial.failures = 0
        old = self._pipe(end, peer)
        if old is not None and old is not pipe:
            self._end(old, "replaced")
        self._live.setdefault(end, {})[peer] = pipe
        assert pipe.other is not None
        pipe.other.inbox = self._processes.inbox_of(end)
        incarnation = self._incarnation(stream, peer)
        self._log_hellos(stream, end, peer)
        self._processes.feed(end, PeerUp(peer, self._processes.kind_of(peer), incarnation))
        for envelope in pipe.other.early or ():
            self._arrive(pipe.other, envelope)
        pipe.other.early = None

    def _incarnation(self, stream: Stream, end: str) -> int:
        dial = self._wish(stream.dialler, stream.listener)
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

    def pipes_of(self, process: str) -> dict[str, Pipe]:
        """The live one, by peer: a sender keeps it and finds its way without asking."""
        return self._live.setdefault(process, {})

    def send(self, pipe: Pipe, envelope: Envelope) -> None:
        agenda = self._agenda
        if pipe.fixed_us >= 0:
            arrival = agenda.now_us + pipe.fixed_us
        elif pipe.stream.broken:
            return
        else:
            due = self._travel(pipe, envelope)
            if due is None:
                size = encoded_size(envelope) + FRAMING
                return self._end_of(pipe).write(size, self._arrive, pipe, envelope)
            arrival = due
        if arrival < pipe.last_us:
            arrival = pipe.last_us  # TCP keeps the order
        pipe.last_us = arrival
        agenda.at(arrival, self._arrive, pipe, envelope)

    def _travel(self, pipe: Pipe, envelope: Envelope | None) -> int | None:
        """When the message is there; None where that is for TCP to find out."""
        route = self._wires.route(
            self._processes.host_of(pipe.sender), self._processes.host_of(pipe.receiver)
        )
        if route is None or route.lossy or (pipe.tcp is not None and not pipe.tcp.idle):
            return None
        if route.plain:
            pipe.fixed_us = route.latency_us
        size = encoded_size(envelope) if envelope is not None else 0
        return self._wires.arrival_us(self._agenda.now_us, route, size)

    def _end_of(self, pipe: Pipe) -> End:
        """The sender's end of the connection; made when it is needed."""
        if pipe.tcp is None:
            there, back = pipe.stream.pipes
            there.tcp, back.tcp = connect(
                self._agenda, self._transmitter(there), self._transmitter(back), pipe.stream.rtt_us
            )
        assert pipe.tcp is not None
        return pipe.tcp

    def _transmitter(self, pipe: Pipe) -> Transmit:
        hosts = self._processes.host_of(pipe.sender), self._processes.host_of(pipe.receiver)

        def transmit(payload_bytes: int) -> int | None:
            arrival = self._wires.packet_us(self._agenda.now_us, *hosts, payload_bytes)
            if arrival is not None:
                arrival = pipe.last_us = max(arrival, pipe.last_us)
            return arrival

        return transmit

    def _arrive(self, pipe: Pipe, envelope: Envelope) -> None:
        inbox = pipe.inbox
        if inbox is not None:
            self.carried += 1
            inbox(pipe.sender, envelope)
        elif not pipe.stream.broken and not pipe.deaf:  # the hello is still on its way
            pipe.early = [*(pipe.early or ()), envelope]

    def paths_changed(self) -> None:
        for pipes in self._live.values():
            for pipe in pipes.values():
                pipe.fixed_us = -1

    # ------------------------------------------------------------ ends

    def close(self, end: str, peer: str, reason: str, redial: bool) -> None:
        """One end hangs up, behind what it has sent."""
        if not redial:
            self._dials.get(end, {}).pop(peer, None)
        pipe = self._live.get(end, {}).pop(peer, None)
        if pipe is None:
            return
        self._agenda.at(self._agenda.now_us, self._hung_up, (end, peer), reason)
        self._leave(pipe, reason)

    def _hung_up(self, ends: tuple[str, str], reason: str) -> None:
        end, peer = ends
        if self._processes.is_running(end) and not self.is_live(end, peer):
            self._processes.feed(end, PeerDown(peer, reason))
            dial = self._wish(end, peer)
            if dial is not None:
                self._dial_later(dial, end, peer)

    def _leave(self, pipe: Pipe, reason: str) -> None:
        """The sender takes nothing more; the end of the stream arrives like a message."""
        other = pipe.other
        assert other is not None
        other.deaf, other.inbox = True, None
        arrival = self._travel(pipe, None)
        if arrival is None:
            self._end_of(pipe).write(1, self._end, other, reason)
        else:
            self._agenda.at(max(arrival, pipe.last_us), self._end, other, reason)

    def _end(self, pipe: Pipe, reason: str) -> None:
        """The stream is over for the sender of this direction."""
        end, peer = pipe.sender, pipe.receiver
        _break(pipe.stream)
        if self._pipe(end, peer) is not pipe:
            return
        del self._live[end][peer]
        if self._processes.is_running(end):
            self._processes.feed(end, PeerDown(peer, reason))
        dial = self._wish(end, peer)
        if dial is not None:
            self._dial_later(dial, end, peer)

    def hang_up(self, process: str, reason: str) -> None:
        """It ends what it dialled, and dials no more."""
        self._dials.pop(process, None)
        live = self._live.get(process, {})
        for peer in sorted(p for p, pipe in live.items() if pipe.stream.dialler == process):
            self.close(process, peer, reason, False)

    def crash(self, process: str, reason: str) -> None:
        """The process is gone; the kernel tells its peers."""
        self._dials.pop(process, None)
        pipes = self._live.get(process, {})
        for peer in sorted(pipes):
            self._leave(pipes.pop(peer), reason)
