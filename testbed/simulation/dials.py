"""From the wish for a stream to the hellos on it.

What gRPC does, in round trips: TCP is connected after one, the dialler has the listener's HTTP/2 settings
after two and then sends its hello, the listener answers. So the listener is up after two and a half, the
dialler after three, and later where these bytes take time. A dial of a process that is not there is refused
after one; without a path the kernel tries again. Redials back off like those of the real processes. While a
stream is up that the other end dialled, the wish for one rests (`broker_grpc.core.crossing`).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from broker_grpc.core.crossing import Crossing
from broker_grpc.core.limits import Limits
from testbed.simulation.agenda import Agenda
from testbed.simulation.carrier import Carrier
from testbed.simulation.connections import Connections
from testbed.simulation.kerneltimer import fires_us
from testbed.simulation.pipes import Pipe, Processes, Stream, break_stream, make_pipes
from testbed.simulation.wires import Wires


class Leg(NamedTuple):
    """Bytes of the packets that one end sends together: those that the other waits for, and others."""

    awaited: tuple[int, ...]
    behind: tuple[int, ...] = ()


# With these gRPC begins a connection, as captured; without bytes: an acknowledgement.
SYN_BYTES, SYN_TICKS = 8, 100
PREFACE = Leg((0,), (76,))
SETTINGS = Leg((40,), (9,))
GREETING = Leg((0, 9, 232, 30))
ANSWER = Leg((143,))


class Knock(NamedTuple):
    """The packet that asks for a connection, or its answer."""

    sender: str
    receiver: str
    begun_us: int  # the dial
    sent_us: int  # the packet that asked


def _heard(_pipe: Pipe, _: None) -> None:
    """Of no interest to the processes."""


class Dial:
    """A wish for a stream, kept until it is withdrawn."""

    __slots__ = (
        "_name",
        "_rng",
        "begun_us",
        "dialler",
        "failures",
        "greeting",
        "knocking",
        "knocks",
        "listener",
        "rests",
        "said",
    )

    def __init__(self, dialler: str, listener: str, seed: int) -> None:
        self.dialler = dialler
        self.listener = listener
        self.begun_us = 0
        self.greeting = 0  # the incarnation in the hello of the last dial
        self.rests = False  # until the other end's stream is lost
        self.knocking = False  # not connected, and not given up
        self.knocks = 0  # of this dial
        self.failures = 0
        self.said = ""  # the last refusal: the same one, dial after dial, is one event
        self._name = f"{seed}/{dialler}/{listener}"
        self._rng: random.Random | None = None  # made when needed: it is large, and most dials succeed

    def backoff_us(self, limits: Limits) -> int:
        self._rng = self._rng or random.Random(self._name)
        ceiling = min(limits.redial_max_us, limits.redial_min_us << min(self.failures, 20))
        self.failures += 1
        return round(ceiling * self._rng.uniform(0.5, 1.0))


class Dials:
    """All wishes for streams."""

    def __init__(
        self,
        agenda: Agenda,
        wires: Wires,
        carrier: Carrier,
        processes: Processes,
        connections: Connections,
        limits: Callable[[str], Limits],
        on_hello: Callable[[Pipe, None], None],
        on_failure: Callable[[Pipe], None],
        was_dialled: Callable[[str, str], bool],
    ) -> None:
        """`on_hello`: the receiver of this direction has it; `on_failure`: of the dialler's direction;
        `was_dialled`: whether this end has a stream up that this peer dialled."""
        self._agenda = agenda
        self._wires = wires
        self._carrier = carrier
        self._processes = processes
        self._connections = connections
        self._limits = limits
        self._dials: dict[str, dict[str, Dial]] = {}  # by dialler and listener
        self._on_hello = on_hello
        self._on_failure = on_failure
        self._was_dialled = was_dialled
        self._crossings: dict[str, Crossing] = {}  # of the processes that run

    def crossing_of(self, process: str) -> Crossing:
        found = self._crossings.get(process)
        if found is None:
            found = self._crossings[process] = Crossing(process, self._processes.incarnation_of(process))
        return found

    def open(self, dialler: str, listener: str) -> None:
        dials = self._dials.setdefault(dialler, {})
        if listener not in dials:
            dials[listener] = Dial(dialler, listener, self._processes.seed_of(dialler))
            self._dial(dials[listener], None)

    def wanted(self, dial: Dial) -> bool:
        return self._dials.get(dial.dialler, {}).get(dial.listener) is dial

    def _dial(self, dial: Dial, _: None) -> None:
        if not self.wanted(dial):
            return
        if self._was_dialled(dial.dialler, dial.listener):
            dial.rests = True
            return
        dial.greeting = self.crossing_of(dial.dialler).begin(dial.listener)
        dial.begun_us, dial.knocks, dial.knocking = self._agenda.now_us, 0, True
        self._knock(dial)

    def rise(self, dialler: str, listener: str) -> None:
        """A stream that the listener had dialled is lost: a wish that rested is dialled for again."""
        dial = self._dials.get(dialler, {}).get(listener)
        if dial is not None and dial.rests:
            dial.rests, dial.failures, dial.said = False, 0, ""
            self.dial_later(dial)

    def answered(self, dial: Dial) -> None:
        dial.failures, dial.said = 0, ""
        self._ended(dial)

    def _ended(self, dial: Dial) -> None:
        self.crossing_of(dial.dialler).end(dial.listener, dial.greeting)

    def _knock(self, dial: Dial) -> None:
        """The first packet of a connection; the answer to it makes the connection.

        The kernel tries every second (tcp_syn_linear_timeouts), the process waits for so long.
        """
        now = self._agenda.now_us
        dial.knocks += 1
        given_up = dial.begun_us + self._limits(dial.dialler).hello_timeout_us
        self._agenda.at(min(fires_us(now, SYN_TICKS), given_up), self._unanswered, dial, dial.begun_us)
        self._cross(dial, Knock(dial.dialler, dial.listener, dial.begun_us, now))

    def _cross(self, dial: Dial, knock: Knock) -> None:
        hosts = self._processes.host_of(knock.sender), self._processes.host_of(knock.receiver)
        self._carrier.carry(hosts, SYN_BYTES, self._crossed, dial, knock)

    def _crossed(self, dial: Dial, knock: Knock) -> None:
        if knock.receiver == dial.listener:
            self._cross(dial, knock._replace(sender=knock.receiver, receiver=knock.sender))
        elif dial.knocking and dial.begun_us == knock.begun_us:
            self._connected(dial, self._agenda.now_us - knock.sent_us)

    def _unanswered(self, dial: Dial, begun_us: int) -> None:
        if not dial.knocking or dial.begun_us != begun_us or not self.wanted(dial):
            return
        if self._agenda.now_us < begun_us + self._limits(dial.dialler).hello_timeout_us:
            self._knock(dial)
        else:
            self.dial_later(dial)

    def withdraw(self, dialler: str, listener: str) -> None:
        dial = self._dials.get(dialler, {}).pop(listener, None)
        if dial is not None:
            self._ended(dial)

    def withdraw_all(self, dialler: str) -> list[str]:
        """Whom it wanted, in the order of dialling."""
        dials = self._dials.pop(dialler, {})
        for dial in dials.values():
            self._ended(dial)
        return list(dials)

    def crash(self, process: str) -> None:
        self._dials.pop(process, None)
        self._crossings.pop(process, None)

    def dial_later(self, dial: Dial) -> None:
        self._ended(dial)
        dial.knocking = False
        wait = dial.backoff_us(self._limits(dial.dialler))
        self._agenda.at(self._agenda.now_us + wait, self._dial, dial)

    def _connected(self, dial: Dial, rtt_us: int) -> None:
        dial.knocking = False
        if not self.wanted(dial):
            return
        if not self._processes.accepts(dial.listener):
            self.dial_later(dial)
            return
        there, back = make_pipes(Stream(dial.dialler, dial.listener, rtt_us, dial, dial.greeting))
        there.stream.watched = self._wires.needs_tcp(*self._connections.hosts(back))
        if there.stream.watched and dial.knocks > 2:
            self._connections.end_of(there).narrow()
        self._leg(there, PREFACE, self._settle)

    def _settle(self, pipe: Pipe, _: None) -> None:
        """The listener has the preface, the dialler its settings: HTTP/2 may begin."""
        there, back = pipe.stream.pipes
        if pipe is there:
            self._leg(back, SETTINGS, self._settle)
        else:
            self._leg(there, GREETING, self._on_hello)

    def answer(self, pipe: Pipe) -> None:
        """The listener's: a hello, a refusal, or that nobody is there."""
        self._leg(pipe, ANSWER, self._on_hello)

    def _leg(self, pipe: Pipe, leg: Leg, call: Callable[[Pipe, None], None]) -> None:
        """Packets before the first message; both kernels measure their round trips by them."""
        if pipe.stream.watched:
            end = self._connections.end_of(pipe)
            awaited = max(0, sum(size > 0 for size in leg.awaited) - 1)  # TCP acknowledges by itself
            for number, size in enumerate(size for size in (*leg.awaited, *leg.behind) if size):
                end.write(size, call if number == awaited else _heard, pipe, None)
            return
        route = self._wires.route(*self._connections.hosts(pipe))
        if route is None:
            break_stream(pipe.stream)
            self._on_failure(pipe.stream.pipes[0])
        elif route.plain:
            self._connections.write(pipe, sum(leg.awaited), call, pipe, None)
        else:
            for number, size in enumerate((*leg.awaited, *leg.behind), 1):
                self._connections.write(
                    pipe, size, call if number == len(leg.awaited) else _heard, pipe, None
                )
