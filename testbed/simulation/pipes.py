"""A stream between two processes as its two ends hold it, and what is known of the processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from broker_grpc.machine import PeerKind, Stimulus
from protos.body import Envelope
from protos.records import LogEvent
from testbed.simulation.agenda import Call
from testbed.simulation.tcp import End

if TYPE_CHECKING:
    from testbed.simulation.dials import Dial

Inbox = Callable[["Pipe", Envelope], None]  # the direction, and what came that way


@dataclass(slots=True, eq=False)
class Turn:
    """Something written on a pipe: its place in the order, and what its arrival means."""

    number: int
    call: Call
    a: Any
    b: Any
    packets: int = 1  # that have not arrived


@dataclass(slots=True, eq=False)
class Stream:
    """One connection; each end learns of its begin and end in its own time."""

    dialler: str
    listener: str
    rtt_us: int
    dial: Dial
    greeting: int  # the incarnation in the dialler's hello
    answer: int = 0  # and in the listener's
    broken: bool = False
    watched: bool = False  # TCP packet by packet from its beginning: its path loses packets, or will be cut
    refused: str = ""  # the dialler's hello: the reason, and what it means
    pipes: tuple[Pipe, ...] = ()

    def said_by(self, end: str) -> int:
        """The incarnation in this end's hello."""
        return self.greeting if end == self.dialler else self.answer


@dataclass(slots=True, eq=False)
class Pipe:
    """One direction of a stream, as its sending end holds it."""

    stream: Stream
    sender: str
    receiver: str
    other: Pipe | None = None  # the opposite direction
    inbox: Inbox | None = None  # of the receiver, while it is up and has not hung up
    deaf: bool = False  # the receiver has hung up
    finished: bool = False  # the sender has said that nothing more will come
    unheard: list[Envelope] | None = None  # came before the receiver was up
    tcp: End | None = None  # the sender's, where the stream is simulated packet by packet
    last_us: int = 0  # arrival of the last message that took `fixed_us`
    written: int = 0  # turns, where size or chance matter
    arrived: int = 0
    early: dict[int, Turn] | None = None  # by number: there before one in front of them
    fixed_us: int = -1  # what every message takes, where size and chance do not matter; -1 = unknown


def make_pipes(stream: Stream) -> tuple[Pipe, Pipe]:
    """The dialler's and the listener's."""
    there = Pipe(stream, stream.dialler, stream.listener)
    back = Pipe(stream, stream.listener, stream.dialler, there)
    there.other = back
    stream.pipes = there, back
    return there, back


def break_stream(stream: Stream) -> None:
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
