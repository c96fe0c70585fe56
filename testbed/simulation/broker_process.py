"""A broker that is simulated."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from broker_grpc.machine import Machine, MeasureTrip, OverlayChanged, Status, TripMeasured
from testbed.run.stimuli import BrokerLook, LinkLook, Look
from testbed.simulation.agenda import Agenda
from testbed.simulation.eventlog import SimulatedLog
from testbed.simulation.process import Process
from testbed.simulation.streams import Streams


class BrokerProcess(Process):
    __slots__ = ("_overlay_changed",)

    kind = "broker"
    machine: Machine

    def __init__(
        self, id_: str, machine: Machine, agenda: Agenda, streams: Streams, log: SimulatedLog,
        overlay_changed: Callable[[OverlayChanged], None],
    ) -> None:  # fmt: skip
        super().__init__(id_, machine, machine.timeless, agenda, streams, log)
        self._overlay_changed = overlay_changed

    def told(self, effect: OverlayChanged | MeasureTrip) -> None:
        if isinstance(effect, OverlayChanged):
            self._overlay_changed(effect)
        else:
            self._streams.measure_trip(self.id, effect.peer, self._measured)

    def _measured(self, peer: str, rtt_us: int) -> None:
        if self.alive:
            self.feed(TripMeasured(peer, rtt_us))

    def stop(self) -> None:
        """As the real process does: it says good-bye, and what it dialled ends now."""
        self.apply(self.machine.farewell(self._agenda.now_us))
        self._streams.hang_up(self.id, "stopped")

    def show(self, look: Look) -> None:
        look.brokers[self.id] = broker_look(self.machine.status())


def broker_look(status: Status) -> BrokerLook:
    """As a real process reports it; a link that is down is not known here."""
    links = [LinkLook(peer, True, synced) for peer, synced in status.links.items()]
    return BrokerLook(**msgspec.structs.asdict(status) | {"links": links})
