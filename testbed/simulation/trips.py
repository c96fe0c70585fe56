"""Round trips that brokers measure: a packet that asks for a connection, and the other kernel's answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from broker_grpc.core.limits import TRIP_PATIENCE_US
from testbed.simulation.agenda import Agenda
from testbed.simulation.carrier import Carrier
from testbed.simulation.pipes import Processes

SYN_BYTES = 8
Measured = Callable[[str, int], None]  # peer, round trip


class Trip(NamedTuple):
    asker: str
    peer: str
    begun_us: int


class Trips:
    def __init__(self, agenda: Agenda, carrier: Carrier, processes: Processes) -> None:
        self._agenda = agenda
        self._carrier = carrier
        self._processes = processes

    def measure(self, asker: str, peer: str, measured: Measured) -> None:
        """`measured` is called when the answer is there; never for a broker that does not listen."""
        self._cross(asker, peer, self._there, Trip(asker, peer, self._agenda.now_us), measured)

    def _cross(
        self, a: str, b: str, call: Callable[[Trip, Measured], None], trip: Trip, measured: Measured
    ) -> None:
        hosts = self._processes.host_of(a), self._processes.host_of(b)
        self._carrier.carry(hosts, SYN_BYTES, call, trip, measured)

    def _there(self, trip: Trip, measured: Measured) -> None:
        if self._processes.accepts(trip.peer):
            self._cross(trip.peer, trip.asker, self._back, trip, measured)

    def _back(self, trip: Trip, measured: Measured) -> None:
        rtt_us = self._agenda.now_us - trip.begun_us
        if rtt_us < TRIP_PATIENCE_US:
            measured(trip.peer, rtt_us)
