"""How what is written on a pipe crosses the network: by one sum, or packet by packet through TCP."""

from __future__ import annotations

from protos.envelope import encoded_size
from protos.messages import Envelope
from testbed.simulation.agenda import Agenda
from testbed.simulation.pipes import Pipe, Processes
from testbed.simulation.tcp import Arrives, End, Transmit, connect
from testbed.simulation.wires import Wires


class Connections:
    def __init__(self, agenda: Agenda, wires: Wires, processes: Processes) -> None:
        self._agenda = agenda
        self._wires = wires
        self._processes = processes

    def hosts(self, pipe: Pipe) -> tuple[str, str]:
        return self._processes.host_of(pipe.sender), self._processes.host_of(pipe.receiver)

    def travel(self, pipe: Pipe, envelope: Envelope | None) -> int | None:
        """When the message is there; None where that is for TCP to find out."""
        if pipe.stream.watched:
            return None
        route = self._wires.route(*self.hosts(pipe))
        if route is None or route.lossy or (pipe.tcp is not None and not pipe.tcp.idle):
            return None
        if route.plain:
            pipe.fixed_us = route.latency_us
        size = encoded_size(envelope) if envelope is not None else 0
        return self._wires.arrival_us(self._agenda.now_us, route, size)

    def end_of(self, pipe: Pipe) -> End:
        """The sender's end of the connection; made when it is needed."""
        if pipe.tcp is None:
            there, back = pipe.stream.pipes
            there.tcp, back.tcp = connect(
                self._agenda,
                self._transmitter(there),
                self._transmitter(back),
                pipe.stream.rtt_us,
                self._survivor(there),
                self._survivor(back),
            )
        assert pipe.tcp is not None
        return pipe.tcp

    def _survivor(self, pipe: Pipe) -> Arrives:
        hosts = self.hosts(pipe)
        return lambda sent_us: self._wires.survives(self._agenda.now_us, *hosts, sent_us)

    def _transmitter(self, pipe: Pipe) -> Transmit:
        hosts = self.hosts(pipe)

        def transmit(payload_bytes: int) -> int | None:
            arrival = self._wires.packet_us(self._agenda.now_us, *hosts, payload_bytes)
            if arrival is not None:
                arrival = pipe.last_us = max(arrival, pipe.last_us)
            return arrival

        return transmit
