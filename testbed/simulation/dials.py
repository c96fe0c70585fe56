"""From the wish for a stream to the hellos on it.

What gRPC does, in round trips: TCP is connected after one, the dialler has the listener's HTTP/2 settings
after two and then sends its hello, the listener answers. So the listener is up after two and a half, the
dialler after three, and later where these bytes take time. A dial of a process that is not there is refused
after one; without a path the kernel tries again. Redials back off like those of the real processes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from broker_grpc.limits import Limits
from testbed.simulation.agenda import Agenda
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


def _heard(_pipe: Pipe, _: None) -> None:
    """Of no interest to the processes."""


class Dial:
    """A wish for a stream, kept until it is withdrawn."""

    __slots__ = (
        "_name",
        "_rng",
        "begun_us",
        "dialler",
        "dials",
        "failures",
        "knocked_us",
        "knocks",
        "listener",
        "said",
    )

    def __init__(self, dialler: str, listener: str, seed: int) -> None:
        self.dialler = dialler
        self.listener = listener
        self.begun_us = 0
        self.knocked_us = 0  # by the packet that was sent last
        self.knocks = 0  # of this dial
        self.failures = 0
        self.dials = 0
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
        processes: Processes,
        connections: Connections,
        limits: Callable[[str], Limits],
        on_hello: Callable[[Pipe, None], None],
        on_failure: Callable[[Pipe], None],
    ) -> None:
        """`on_hello`: the receiver of this direction has it; `on_failure`: of the dialler's direction."""
        self._agenda = agenda
        self._wires = wires
        self._processes = processes
        self._connections = connections
        self._limits = limits
        self._dials: dict[str, dict[str, Dial]] = {}  # by dialler and listener
        self._on_hello = on_hello
        self._on_failure = on_failure

    def open(self, dialler: str, listener: str) -> None:
        dials = self._dials.setdefault(dialler, {})
        if listener not in dials:
            dials[listener] = Dial(dialler, listener, self._processes.seed_of(dialler))
            self._dial(dials[listener], None)

    def wanted(self, dial: Dial) -> bool:
        return self._dials.get(dial.dialler, {}).get(dial.listener) is dial

    def wish(self, dialler: str, listener: str) -> Dial | None:
        return self._dials.get(dialler, {}).get(listener)

    def _dial(self, dial: Dial, _: None) -> None:
        if self.wanted(dial):
            dial.begun_us, dial.knocks = self._agenda.now_us, 0
            self._knock(dial, None)

    def _knock(self, dial: Dial, _: None) -> None:
        """The first packet of a connection; the answer to it makes the connection."""
        if self.wanted(dial):
            dial.knocked_us, dial.knocks = self._agenda.now_us, dial.knocks + 1
            self._cross(dial, (dial.dialler, dial.listener))

    def _cross(self, dial: Dial, ends: tuple[str, str]) -> None:
        a, b = (self._processes.host_of(end) for end in ends)
        arrival = self._wires.packet_us(self._agenda.now_us, a, b, SYN_BYTES)
        if arrival is None:
            self._knock_again(dial)
        else:
            self._agenda.at(arrival, self._crossed, dial, (ends, self._agenda.now_us))

    def _crossed(self, dial: Dial, packet: tuple[tuple[str, str], int]) -> None:
        (sender, receiver), sent_us = packet
        hosts = self._processes.host_of(sender), self._processes.host_of(receiver)
        if not self._wires.survives(self._agenda.now_us, *hosts, sent_us):
            self._knock_again(dial)
        elif receiver == dial.listener:
            self._cross(dial, (receiver, sender))
        else:
            self._connected(dial)

    def _knock_again(self, dial: Dial) -> None:
        """The kernel tries every second (tcp_syn_linear_timeouts), the process waits for so long."""
        again = fires_us(dial.knocked_us, SYN_TICKS)
        given_up = dial.begun_us + self._limits(dial.dialler).hello_timeout_us
        if again < given_up:
            self._agenda.at(again, self._knock, dial)
        else:
            self._agenda.at(given_up, self._no_connection, dial)

    def _no_connection(self, dial: Dial, _: None) -> None:
        if self.wanted(dial):
            self.dial_later(dial)

    def withdraw(self, dialler: str, listener: str) -> None:
        self._dials.get(dialler, {}).pop(listener, None)

    def withdraw_all(self, dialler: str) -> list[str]:
        """Whom it wanted, in the order of dialling."""
        return list(self._dials.pop(dialler, {}))

    def dial_later(self, dial: Dial) -> None:
        wait = dial.backoff_us(self._limits(dial.dialler))
        self._agenda.at(self._agenda.now_us + wait, self._dial, dial)

    def _connected(self, dial: Dial) -> None:
        if not self.wanted(dial):
            return
        if not self._processes.accepts(dial.listener):
            self.dial_later(dial)
            return
        dial.dials += 1
        rtt = self._agenda.now_us - dial.knocked_us
        there, back = make_pipes(Stream(dial.dialler, dial.listener, rtt, dial))
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
        now, hosts = self._agenda.now_us, self._connections.hosts(pipe)
        arrival = self._wires.crossing_us(now, *hosts, leg.awaited)
        if arrival is None:
            break_stream(pipe.stream)
            return self._on_failure(pipe.stream.pipes[0])
        self._wires.crossing_us(now, *hosts, leg.behind)
        pipe.last_us = max(pipe.last_us, arrival)
        self._agenda.at(pipe.last_us, call, pipe)
