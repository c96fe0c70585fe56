"""The `simulate` engine: no kernel, no processes, no probes; the same run folder."""

from __future__ import annotations

import time
from collections.abc import Callable

from protos.records import Fidelity
from testbed.run import stimuli
from testbed.run.configs import counting_of
from testbed.run.engine import Ability, Clock, Event, Options
from testbed.run.folder import RunFolder
from testbed.run.inputs import runnable
from testbed.simulation.eventlog import SimulatedLog
from testbed.simulation.garbage import collected_rarely
from testbed.simulation.simulator import START_US, Simulator
from testbed.simulation.wires import Loses

CALLS_PER_TURN = 20_000
PROGRESS_S = 0.5


class SimulateEngine:
    name = "simulate"

    def __init__(self, start_us: int = START_US, loses: Loses | None = None) -> None:
        """To be like another run: `start_us` says how this one lies to the ticks of the kernel's timers,
        `loses` which packets are lost."""
        self._start_us = start_us
        self._loses = loses
        self._folder: RunFolder | None = None
        self._simulator: Simulator | None = None
        self._log: SimulatedLog | None = None
        self._reason = ""

    def clocks(self) -> tuple[Clock, ...]:
        return ("simulated",)

    def probe(self) -> Ability:
        return Ability(True, "needs nothing of the machine")

    def start(self, run: RunFolder, options: Options) -> None:
        self._folder = run
        plan = runnable(run)
        self._log = SimulatedLog(run.events / "simulation.jsonl", counting_of(plan))
        self._simulator = Simulator(plan, self._log, self._told, self._start_us, self._loses)
        self._told_events: list[Event] = []

    def _told(self, tell: stimuli.Tell) -> None:
        assert self._simulator is not None
        told = {"t": "state", "state": tell.state, "phase": tell.phase, "detail": tell.detail}
        self._told_events.append({**told, "clock_us": self._simulator.agenda.now_us})

    def execute(self, on_event: Callable[[Event], None]) -> int:
        with collected_rarely():
            return self._execute(on_event)

    def _execute(self, on_event: Callable[[Event], None]) -> int:
        simulator = self._simulator
        assert simulator is not None
        simulator.begin()
        shown, started = 0.0, time.monotonic()
        going = True
        while going:
            going = simulator.step(CALLS_PER_TURN)
            if self._reason and simulator.outcome is None:
                simulator.stop(self._reason)
            for event in self._told_events:
                on_event(event)
            self._told_events.clear()
            if time.monotonic() - shown > PROGRESS_S:
                shown = time.monotonic()
                on_event(self._progress(simulator, shown - started))
        return 0 if self._finish(simulator) == "done" else 1

    def _progress(self, simulator: Simulator, wall_s: float) -> Event:
        timeline, plan = simulator.timeline, simulator.plan
        roster, is_live, overlay = timeline.roster, simulator.streams.is_live, timeline.overlay.links
        linked = sum(is_live(link.a, link.b) and is_live(link.b, link.a) for link in overlay)
        return {
            "t": "progress",
            "clock_us": simulator.agenda.now_us,
            "phase": timeline.phase_name,
            "stage": timeline.stage,
            "waiting": timeline.gate_reason if timeline.stage == "gate" else "",
            "brokers": [len(roster.up(roster.brokers)), len(plan.brokers)],
            "links": [linked, len(overlay)],
            "clients": [len(roster.up(roster.clients)), len(plan.clients)],
            "delivered": simulator.delivered(),
            "events_per_s": round(simulator.agenda.made / wall_s) if wall_s else 0,
        }

    def _finish(self, simulator: Simulator) -> str:
        folder, log, outcome = self._folder, self._log, simulator.outcome
        assert folder is not None
        assert log is not None
        assert outcome is not None
        simulator.end()
        log.close()
        manifest = folder.read_manifest()
        manifest.status, manifest.reason = outcome.status, outcome.reason
        manifest.first_us, manifest.last_us = self._start_us, simulator.agenda.now_us
        manifest.warnings = (*manifest.warnings, *simulator.warnings)
        folder.write_manifest(manifest)
        folder.write_fidelity(Fidelity("unknown", "simulated: there is no network to probe"))
        return outcome.status

    def collect(self) -> None:
        if self._log is not None and self._simulator is not None and self._simulator.outcome is None:
            self._log.flush()

    def stop(self, hard: bool = False) -> None:
        self._reason = "interrupted"
