"""A client of the plan that is simulated: it plays its script."""

from __future__ import annotations

from collections.abc import Callable

from protos.client_messages import Publication
from testbed.run.stimuli import ClientLook, Look
from testbed.simulation.agenda import Agenda
from testbed.simulation.eventlog import SimulatedLog
from testbed.simulation.process import Process
from testbed.simulation.streams import Streams
from testbed.workload.script import ClientScript

# A delivery moves none of its deadlines.
TIMELESS = frozenset({Publication})


class ClientProcess(Process):
    """`acted` is called after anything that it did, until nobody watches it any more."""

    __slots__ = ("_acted",)

    kind = "client"
    machine: ClientScript

    def __init__(
        self, id_: str, script: ClientScript, agenda: Agenda, streams: Streams, log: SimulatedLog,
        acted: Callable[[ClientProcess], None],
    ) -> None:  # fmt: skip
        super().__init__(id_, script, TIMELESS, agenda, streams, log)
        self._acted = acted

    def watch(self, wanted: bool) -> None:
        self.on_acted = self._tell if wanted else None

    def _tell(self) -> None:
        self._acted(self)

    def start(self) -> None:
        self.watch(True)
        self.apply(self.machine.start(self._agenda.now_us))
        self.arm()

    def stop(self) -> None:
        """It withdraws what it asked for and disconnects; `gone` says when that is done."""
        self.watch(True)
        self.apply(self.machine.close(self._agenda.now_us))

    def quiet(self) -> None:
        self.machine.quiet()

    def show(self, look: Look) -> None:
        look.clients[self.id] = ClientLook(**self.machine.status())

    # ------------------------------------------------------------ how far it is

    @property
    def failed(self) -> str:
        """Why it could not start."""
        return self.machine.failed

    @property
    def started(self) -> bool:
        return self.machine.started

    @property
    def gone(self) -> bool:
        return self.machine.machine.closed

    @property
    def delivered(self) -> int:
        return self.machine.machine.delivered
