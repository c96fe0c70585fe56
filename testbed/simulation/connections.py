"""How what is written on a pipe crosses the network.

A stream over a path that loses packets, now or later, is TCP packet by packet from its beginning. Any other
sends packet after packet, until one finds a full queue: TCP has to repair that, and all that is written until
it has done so goes through it as well. The receiver gets everything in the order of writing.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from testbed.simulation.agenda import Agenda, Call
from testbed.simulation.carrier import Carrier
from testbed.simulation.pipes import Pipe, Processes, Turn
from testbed.simulation.tcp import End, Transmit, connect
from testbed.simulation.wires import Route, Wires, packets


class Connections:
    def __init__(self, agenda: Agenda, wires: Wires, carrier: Carrier, processes: Processes) -> None:
        self._agenda = agenda
        self._wires = wires
        self._carrier = carrier
        self._processes = processes

    def hosts(self, pipe: Pipe) -> tuple[str, str]:
        return self._processes.host_of(pipe.sender), self._processes.host_of(pipe.receiver)

    def fix(self, pipe: Pipe) -> bool:
        """Whether from now on every message takes the same time: the pipe knows it then (`fixed_us`)."""
        if pipe.stream.watched or pipe.written != pipe.arrived or self._is_busy(pipe):
            return False
        route = self._wires.route(*self.hosts(pipe))
        if route is None or not route.plain:
            return False
        pipe.fixed_us = route.latency_us
        return True

    def _is_busy(self, pipe: Pipe) -> bool:
        return pipe.tcp is not None and not pipe.tcp.idle

    def write(self, pipe: Pipe, payload_bytes: int, call: Call, a: Any, b: Any) -> None:
        """The call is made when this, and all that was written before, has arrived."""
        if pipe.stream.watched:
            return self.end_of(pipe).write(payload_bytes, call, a, b)
        turn = Turn(pipe.written, call, a, b)
        pipe.written += 1
        route = self._wires.route(*self.hosts(pipe))
        if route is None or route.lossy or self._is_busy(pipe):
            self.end_of(pipe).write(max(1, payload_bytes), self._arrived, pipe, turn)
        else:
            self._send(pipe, route, payload_bytes, turn)

    def _send(self, pipe: Pipe, route: Route, payload_bytes: int, turn: Turn) -> None:
        if route.plain:
            self._agenda.at(self._agenda.now_us + route.latency_us, self._arrived, pipe, turn)
            return
        sizes = packets(payload_bytes)
        turn.packets = len(sizes)
        for size in sizes:
            lost = partial(self._repair, pipe, max(1, size), turn)
            self._carrier.carry(self.hosts(pipe), size, self._arrived, pipe, turn, lost)

    def _repair(self, pipe: Pipe, payload_bytes: int, turn: Turn) -> None:
        self.end_of(pipe).write_again(payload_bytes, self._arrived, pipe, turn)

    def _arrived(self, pipe: Pipe, turn: Turn) -> None:
        turn.packets -= 1
        if turn.packets > 0:
            return
        if pipe.early is None:
            pipe.early = {}
        pipe.early[turn.number] = turn
        if self._agenda.now_us < pipe.last_us:  # what was sent while the path was plain is still on its way
            self._agenda.at(pipe.last_us, self._in_turn, pipe)
        else:
            self._in_turn(pipe, None)

    def _in_turn(self, pipe: Pipe, _: None) -> None:
        while pipe.early and (turn := pipe.early.pop(pipe.arrived, None)) is not None:
            pipe.arrived += 1
            turn.call(turn.a, turn.b)

    def end_of(self, pipe: Pipe) -> End:
        """The sender's end of the connection; made when it is needed."""
        if pipe.tcp is None:
            there, back = pipe.stream.pipes
            there.tcp, back.tcp = connect(
                self._agenda, self._transmitter(there), self._transmitter(back), pipe.stream.rtt_us
            )
        assert pipe.tcp is not None
        return pipe.tcp

    def _transmitter(self, pipe: Pipe) -> Transmit:
        return partial(self._carrier.carry, self.hosts(pipe))
