"""Packets on their way: link by link, so that whoever is at a link first goes first.

Only links that do more than take their latency cost an event. What is on a link when that goes down is lost,
and so is what reaches a link that is down; a partition drops what arrives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from testbed.simulation.agenda import Agenda, Call
from testbed.simulation.wires import PACKET_HEADERS, Route, Wires

Hosts = tuple[str, str]  # from, to
Lost = Callable[[], None]


class Packet:
    __slots__ = ("a", "b", "call", "entered_us", "hosts", "lost", "out_us", "route", "size")

    def __init__(
        self,
        hosts: Hosts,
        route: Route,
        size: int,
        call: Call,
        a: Any,
        b: Any,
        lost: Lost | None,
    ) -> None:
        self.hosts = hosts
        self.route = route
        self.size = size
        self.call = call
        self.a = a
        self.b = b
        self.lost = lost
        self.entered_us = self.out_us = 0  # of the leg it is on


class Carrier:
    def __init__(self, agenda: Agenda, wires: Wires) -> None:
        self._agenda = agenda
        self._wires = wires

    def carry(
        self,
        hosts: Hosts,
        payload_bytes: int,
        call: Call,
        a: Any = None,
        b: Any = None,
        lost: Lost | None = None,
    ) -> None:
        """The call is made when the packet is there, `lost` when and where it is lost: no sender knows."""
        route = self._wires.path(*hosts)
        loses = self._wires.loses
        if route is None or (route.lossy and loses is not None and loses(self._agenda.now_us, *hosts)):
            if lost is not None:
                lost()
            return
        packet = Packet(hosts, route, payload_bytes + PACKET_HEADERS, call, a, b, lost)
        ahead_us = route.legs[0][0] if route.legs else route.rest_us
        if route.legs and not ahead_us:
            self._step(packet, 0)
        else:
            self._agenda.at(self._agenda.now_us + ahead_us, self._step, packet, 0)

    def _step(self, packet: Packet, number: int) -> None:
        """It leaves the leg before this one, and enters this one, or is there."""
        legs = packet.route.legs
        if number and legs[number - 1][1].lost(packet.entered_us, packet.out_us):
            self._lose(packet)
        elif number < len(legs):
            self._enter(packet, number)
        elif self._wires.parted(*packet.hosts):
            self._lose(packet)
        else:
            packet.call(packet.a, packet.b)

    def _enter(self, packet: Packet, number: int) -> None:
        route, now_us = packet.route, self._agenda.now_us
        out_us = route.legs[number][1].enter(now_us, packet.size, self._wires.loses is None)
        if out_us is None:
            return self._lose(packet)
        packet.entered_us, packet.out_us = now_us, out_us
        ahead_us = route.legs[number + 1][0] if number + 1 < len(route.legs) else route.rest_us
        self._agenda.at(out_us + ahead_us, self._step, packet, number + 1)

    def _lose(self, packet: Packet) -> None:
        if packet.lost is not None:
            packet.lost()
