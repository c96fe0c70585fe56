"""Streams between processes: hellos exchanged, FIFO, broken by faults.

A hello can be refused. Whoever dialled and ends a stream gracefully listens until the other has ended it too.
"""

from __future__ import annotations

from collections.abc import Callable

from broker_grpc.core.crossing import is_overtaken, taken, takes_over
from broker_grpc.core.limits import PATIENCE_AT_END_US, Limits
from broker_grpc.errors import DuplicateError, ProtocolError
from broker_grpc.machine import PeerDown, PeerKind, PeerUp
from protos.body import Body, Envelope
from protos.core_messages import Hello, Refusal
from protos.core_messages import PeerKind as WireKind
from protos.envelope import VERSION, encoded_size
from protos.records import LogEvent
from testbed.simulation.agenda import Agenda
from testbed.simulation.carrier import Carrier
from testbed.simulation.connections import Connections
from testbed.simulation.dials import Dials
from testbed.simulation.pipes import Pipe, Processes, Stream, break_stream
from testbed.simulation.trips import Trips
from testbed.simulation.wires import FRAMING, Wires

CLOSED = "closed by the peer"
END_BYTES = FRAMING  # of the frames that end a stream, about
WIRE_KIND: dict[PeerKind, WireKind] = {"broker": WireKind.BROKER, "client": WireKind.CLIENT}


class Streams:
    def __init__(
        self, agenda: Agenda, wires: Wires, processes: Processes, limits: Callable[[str], Limits]
    ) -> None:
        self._agenda = agenda
        self._processes = processes
        carrier = Carrier(agenda, wires)
        self._connections = Connections(agenda, wires, carrier, processes)
        self._dials = Dials(
            agenda, wires, carrier, processes, self._connections, limits, self._hello, self._failed,
            self._was_dialled,
        )  # fmt: skip
        self.open = self._dials.open
        self.measure_trip = Trips(agenda, carrier, processes).measure
        self._live: dict[str, dict[str, Pipe]] = {}  # by end that is up and its peer
        self._refused: dict[str, dict[str, str]] = {}  # by listener: whose links it does not take, and why
        self.carried = 0  # messages that arrived

    def is_live(self, end: str, peer: str) -> bool:
        return peer in self._live.get(end, ())

    def _pipe(self, end: str, peer: str) -> Pipe | None:
        return self._live.get(end, {}).get(peer)

    def _was_dialled(self, end: str, peer: str) -> bool:
        pipe = self._pipe(end, peer)
        return pipe is not None and pipe.stream.dialler == peer

    # ------------------------------------------------------------ hellos

    def _hello(self, pipe: Pipe, _: None) -> None:
        """The receiver of this direction has the other's hello: it is up, and may send."""
        assert pipe.other is not None
        self._up(pipe.other)

    def _up(self, pipe: Pipe) -> None:
        stream, end, peer = pipe.stream, pipe.sender, pipe.receiver
        may_be_up = self._may_be_up(pipe)
        self._log_hellos(pipe)
        if end == stream.listener:
            self._dials.answer(pipe)
        if not may_be_up:
            break_stream(stream)
            if end == stream.dialler:
                self._failed(pipe)
            return
        if end == stream.dialler:
            self._dials.answered(stream.dial)
        old = self._pipe(end, peer)
        if old is not None and old is not pipe:
            self._end(old, "replaced")
        self._live.setdefault(end, {})[peer] = pipe
        assert pipe.other is not None
        pipe.other.inbox = self._processes.inbox_of(end)
        self._processes.feed(end, PeerUp(peer, self._processes.kind_of(peer), stream.said_by(peer)))
        for envelope in pipe.other.unheard or ():
            self._arrive(pipe.other, envelope)
        pipe.other.unheard = None

    def _failed(self, pipe: Pipe) -> None:
        """A dial that was given up on its way, one that was overtaken, or one to try again."""
        wanted, overtaken = self._dials.wanted(pipe.stream.dial), self._is_overtaken(pipe)
        if wanted:
            self._dials.dial_later(pipe.stream.dial)
        if overtaken or (not wanted and not pipe.stream.refused):
            self._leave(pipe, CLOSED)

    def _may_be_up(self, pipe: Pipe) -> bool:
        """Both are there, and each takes the other's hello."""
        stream, end = pipe.stream, pipe.sender
        if end == stream.dialler:
            if stream.refused:
                self._log_refusal(stream)
            return self._dials.wanted(stream.dial) and not stream.broken and not self._is_overtaken(pipe)
        if stream.broken or not self._processes.is_running(end) or not self._dials.wanted(stream.dial):
            return False
        stream.refused = self._refusal(pipe)
        if stream.refused:
            self._processes.log(end, LogEvent(kind="REFUSED", type="hello", detail=stream.refused))
        stream.answer = self._dials.crossing_of(end).answer_to(pipe.receiver)
        return not stream.refused

    def _refusal(self, pipe: Pipe) -> str:
        """Of a dialler's hello; asked in the order in which the gate of the real process asks."""
        end, peer, greeting = pipe.sender, pipe.receiver, pipe.stream.greeting
        forever = self._refused.get(end, {}).get(peer)
        if forever:
            return f"{ProtocolError.reason}: {forever}"
        crossing = self._dials.crossing_of(end)
        if crossing.prevails(peer):
            return f"{DuplicateError.reason}: {crossing.refusal(peer)}"
        live = self._pipe(end, peer)
        if live is not None and not takes_over(live.stream.said_by(peer), greeting):
            return f"{DuplicateError.reason}: {taken(peer, live.stream.said_by(peer), greeting)}"
        return ""

    def _is_overtaken(self, pipe: Pipe) -> bool:
        """The listener has answered this dial, and a dial of its own that is newer has come up since."""
        stream, live = pipe.stream, self._pipe(pipe.sender, pipe.receiver)
        if live is None or live.stream.dialler == pipe.sender or not stream.answer or stream.refused:
            return False
        return is_overtaken(live.stream.said_by(pipe.receiver), stream.answer)

    def _log_refusal(self, stream: Stream) -> None:
        """As the dialler does it."""
        detail = f"refused by the peer: {stream.refused}"
        if self._dials.wanted(stream.dial) and detail != stream.dial.said:
            stream.dial.said = detail
            event = LogEvent(kind="REFUSED", peer=stream.listener, type="hello", detail=detail)
            self._processes.log(stream.dialler, event)

    def _log_hellos(self, pipe: Pipe) -> None:
        """What this end has got and said: hellos, or the listener's refusal. Of a client's the brokers' logs
        tell."""
        stream, end, peer = pipe.stream, pipe.sender, pipe.receiver
        if self._processes.kind_of(end) == "client" or not self._processes.is_running(end):
            return
        if not stream.answer or (stream.broken and not stream.refused):
            return
        for kind, who in (("RECEIVED", peer), ("SENT", end)):
            body: Body = Hello(who, WIRE_KIND[self._processes.kind_of(who)], VERSION, stream.said_by(who))
            if stream.refused and who == stream.listener:
                body = Refusal(*stream.refused.split(": ", 1))
            size = encoded_size(Envelope(body, 0, 0, VERSION))
            event = LogEvent(kind=kind, type=body.type, peer=peer, bytes=size)  # type: ignore[arg-type]
            self._processes.log(end, event)

    # ------------------------------------------------------------ messages

    def pipes_of(self, process: str) -> dict[str, Pipe]:
        """The live one, by peer: a sender keeps it and finds its way without asking."""
        return self._live.setdefault(process, {})

    def send(self, pipe: Pipe, envelope: Envelope) -> None:
        if pipe.fixed_us < 0:
            if pipe.stream.broken or pipe.finished:
                return
            if not self._connections.fix(pipe):
                size = encoded_size(envelope) + FRAMING
                return self._connections.write(pipe, size, self._arrive, pipe, envelope)
        agenda = self._agenda
        arrival = agenda.now_us + pipe.fixed_us
        if arrival < pipe.last_us:
            arrival = pipe.last_us  # TCP keeps the order
        pipe.last_us = arrival
        agenda.at(arrival, pipe.inbox or self._arrive, pipe, envelope)

    def _arrive(self, pipe: Pipe, envelope: Envelope) -> None:
        inbox = pipe.inbox
        if inbox is not None:
            inbox(pipe, envelope)
        elif not pipe.stream.broken and not pipe.deaf:  # the hello is still on its way
            pipe.unheard = [*(pipe.unheard or ()), envelope]

    def paths_changed(self) -> None:
        for pipes in self._live.values():
            for pipe in pipes.values():
                pipe.fixed_us = -1

    # ------------------------------------------------------------ ends

    def close(self, end: str, peer: str, reason: str, redial: bool, forever: bool = False) -> None:
        """One end hangs up, behind what it has sent; `forever`: it takes no link from that peer any more."""
        if forever:
            self._refused.setdefault(end, {})[peer] = reason
        if not redial:
            self._dials.withdraw(end, peer)
        pipe = self._pipe(end, peer)
        if pipe is None:
            return
        if not redial and pipe.stream.dialler == end:
            self._finish(pipe, reason)
        else:
            self._hang_up(pipe, reason)

    def _finish(self, pipe: Pipe, reason: str) -> None:
        """The dialler says that nothing more will come, and listens until the other has ended as well."""
        if pipe.finished:
            return
        pipe.finished, pipe.fixed_us = True, -1
        assert pipe.other is not None
        self._behind(pipe, self._read_to_the_end, pipe.other, CLOSED)
        self._agenda.at(self._agenda.now_us + PATIENCE_AT_END_US, self._give_up, pipe, reason)

    def _read_to_the_end(self, pipe: Pipe, reason: str) -> None:
        """The sender of this direction, a listener, has got all; it ends behind what it has sent."""
        assert pipe.other is not None
        pipe.other.inbox = None
        if self._pipe(pipe.sender, pipe.receiver) is pipe:
            del self._live[pipe.sender][pipe.receiver]
            self._processes.feed(pipe.sender, PeerDown(pipe.receiver, reason))
            pipe.finished, pipe.fixed_us = True, -1
            self._behind(pipe, self._end, pipe.other, reason)
            self._dial_again(pipe)

    def _give_up(self, pipe: Pipe, reason: str) -> None:
        if self._pipe(pipe.sender, pipe.receiver) is pipe:
            self._hang_up(pipe, reason)

    def _hang_up(self, pipe: Pipe, reason: str) -> None:
        """This end takes and sends nothing more, and hears of it as of any other end."""
        del self._live[pipe.sender][pipe.receiver]
        self._agenda.at(self._agenda.now_us, self._hung_up, pipe, reason)
        self._leave(pipe, reason)

    def _hung_up(self, pipe: Pipe, reason: str) -> None:
        end, peer = pipe.sender, pipe.receiver
        if self._processes.is_running(end) and not self.is_live(end, peer):
            self._processes.feed(end, PeerDown(peer, reason))
            self._dial_again(pipe)

    def _dial_again(self, pipe: Pipe) -> None:
        """If a stream is still wanted here. A wish that was made anew meanwhile dials by itself."""
        dial = pipe.stream.dial
        if pipe.sender != dial.dialler:
            self._dials.rise(pipe.sender, pipe.receiver)
        elif self._dials.wanted(dial):
            self._dials.dial_later(dial)

    def _leave(self, pipe: Pipe, reason: str) -> None:
        """The sender takes nothing more; the end of the stream arrives like a message."""
        other = pipe.other
        assert other is not None
        other.deaf, other.inbox = True, None
        self._behind(pipe, self._end, other, reason)

    def _behind(self, pipe: Pipe, call: Callable[[Pipe, str], None], other: Pipe, reason: str) -> None:
        """A call when all that was sent on this pipe has arrived, and the end of it."""
        self._connections.write(pipe, END_BYTES, call, other, reason)

    def _end(self, pipe: Pipe, reason: str) -> None:
        """The stream is over for the sender of this direction."""
        end, peer = pipe.sender, pipe.receiver
        break_stream(pipe.stream)
        if self._pipe(end, peer) is not pipe:
            return
        del self._live[end][peer]
        if self._processes.is_running(end):
            self._processes.feed(end, PeerDown(peer, reason))
        self._dial_again(pipe)

    def hang_up(self, process: str, reason: str) -> None:
        """It ends what it dialled, one after the other in the order of dialling, and dials no more."""
        dialled = self._dials.withdraw_all(process)
        live = self._live.get(process, {})
        others = sorted(peer for peer, pipe in live.items() if pipe.stream.dialler == process)
        for peer in dict.fromkeys([*dialled, *others]):
            pipe = live.get(peer)
            if pipe is not None and pipe.stream.dialler == process:
                del live[peer]
                self._leave(pipe, reason)
                self._processes.feed(process, PeerDown(peer, reason))

    def crash(self, process: str, reason: str) -> None:
        """The process is gone; the kernel tells its peers."""
        self._dials.crash(process)
        self._refused.pop(process, None)
        pipes = self._live.get(process, {})
        for peer in sorted(pipes):
            self._leave(pipes.pop(peer), reason)
