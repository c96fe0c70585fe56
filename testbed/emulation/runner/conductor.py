"""Drives a timeline: applies its effects to processes and network, and tells it what happened."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from broker_grpc.process.clock import RunClock
from testbed.emulation.runner.journal import Journal
from testbed.emulation.runner.loop import Loop
from testbed.emulation.runner.processes import Processes
from testbed.emulation.runner.progress import Reporter
from testbed.run import gates, stimuli
from testbed.run.stimuli import Effects, Look
from testbed.run.timeline import Timeline
from testbed.topology.plan import Plan


class ShapedNetwork(Protocol):
    """What the timeline can do to a network (the rest of `EmulatedNetwork` is the runner's business)."""

    def link_down(self, link: str, /) -> None: ...
    def link_up(self, link: str, /) -> None: ...
    def reshape(self, link: str, /, **changes: int | float) -> None: ...
    def reshape_pairs(self, latencies: list[tuple[str, str, int]], /) -> None: ...
    def partition(self, nodes: list[str], /) -> None: ...
    def heal(self) -> None: ...


class Conductor:
    def __init__(
        self,
        plan: Plan,
        clock: RunClock,
        loop: Loop,
        network: ShapedNetwork,
        journal: Journal,
        reporter: Reporter,
        tick_us: int,
        obstacle: Callable[[], str],
    ) -> None:
        """`obstacle` is asked at every tick for a reason why the run cannot go on; empty = none."""
        self.plan, self.clock, self.loop, self.network = plan, clock, loop, network
        self.journal, self.reporter = journal, reporter
        self.timeline = Timeline(plan)
        self.warnings: list[str] = []
        self.outcome: stimuli.Finish | None = None
        self.processes: Processes | None = None
        self._happened: deque[stimuli.Stimulus] = deque()
        self._tick_us, self._next_tick_us = tick_us, 0
        self._obstacle = obstacle

    def notify(self, stimulus: stimuli.Stimulus) -> None:
        """Something happened; it is handled in order by the next turn of `run`."""
        self._happened.append(stimulus)

    def run(self, processes: Processes) -> stimuli.Finish:
        """From the first phase to the end of the timeline; processes are left as they are."""
        self.processes = processes
        self._next_tick_us = self.clock.now_us() + self._tick_us
        self.notify(stimuli.Begin())
        while self.outcome is None:
            self._turn(processes)
        return self.outcome

    def _turn(self, processes: Processes) -> None:
        while self._happened and self.outcome is None:
            self._apply(self.timeline.handle(self.clock.now_us(), self._happened.popleft()))
        now_us = self.clock.now_us()
        deadline = self.timeline.next_deadline_us()
        if self.outcome is not None:
            return
        if deadline is not None and deadline <= now_us:
            self._apply(self.timeline.handle(now_us, stimuli.DeadlineReached()))
        elif not self._happened:
            overdue = processes.next_deadline_us()
            self.loop.turn(min(at for at in (deadline, overdue, self._next_tick_us) if at is not None))
            self._after_wait(processes)

    def _after_wait(self, processes: Processes) -> None:
        now_us = self.clock.now_us()
        processes.deadline(now_us)
        if now_us >= self._next_tick_us:
            self._next_tick_us = now_us + self._tick_us
            if reason := self._obstacle():
                self.notify(stimuli.StopRequested(reason, failed=True))
            if not processes.looking:
                processes.take_look(self._ticked, kinds=("driver",))

    # ------------------------------------------------------------ effects

    def carry_out(self, effects: Effects) -> None:
        """What somebody else than the timeline's own time asks for."""
        self._apply(effects)

    def _apply(self, effects: Effects) -> None:
        for effect in effects:
            self._apply_one(effect)

    def _apply_one(self, effect: stimuli.Effect) -> None:
        processes = self.processes
        assert processes is not None
        match effect:
            case stimuli.Record(event=event):
                self.journal.write(event)
            case stimuli.Start(ids=ids):
                processes.start(ids)
            case stimuli.Stop(ids=ids):
                processes.stop(ids)
            case stimuli.Kill(ids=ids):
                processes.stop(ids, "kill")
            case stimuli.Quiet():
                processes.quiet()
            case stimuli.TakeLook():
                processes.take_look(self._looked)
            case stimuli.RunCheck(argv=argv, node=node):
                processes.run_check(argv, node, self._checked)
            case stimuli.ChangeNetwork():
                self._change(effect)
            case stimuli.Instruct(id=broker, name=name, arguments=arguments, acquaint=known):
                processes.instruct(broker, name, arguments, known)
            case stimuli.Warn(text=text):
                self.warnings.append(text)
                self.reporter.say("warning", text=text)
            case stimuli.Tell(state=state, phase=phase, detail=detail):
                self.reporter.say("state", state=state, phase=phase, detail=detail)
            case stimuli.Finish():
                self.outcome = effect

    def _change(self, change: stimuli.ChangeNetwork) -> None:
        match change.action:
            case "link_down":
                self.network.link_down(change.target)
            case "link_up":
                self.network.link_up(change.target)
            case "reshape" if "pairs" in change.arguments:
                self.network.reshape_pairs(change.arguments["pairs"])
            case "reshape":
                self.network.reshape(change.target, **change.arguments)
            case "partition":
                self.network.partition(list(change.arguments["nodes"]))
            case "heal":
                self.network.heal()

    # ------------------------------------------------------------ answers

    def _looked(self, look: Look) -> None:
        self._show(look)
        self.notify(stimuli.Looked(look))

    def _checked(self, code: int, output: str) -> None:
        self.notify(stimuli.Checked(code == 0, f"exit code {code}; {output}".rstrip("; ")))

    def _ticked(self, look: Look) -> None:
        self._show(look)

    def _show(self, look: Look) -> None:
        roster, overlay = self.timeline.roster, self.timeline.overlay.links
        ready = len(roster.up(roster.brokers))
        delivered = sum(client.delivered for client in look.clients.values())
        self.reporter.say(
            "progress",
            phase=self.timeline.phase_name,
            stage=self.timeline.stage,
            waiting=self.timeline.gate_reason if self.timeline.stage == "gate" else "",
            brokers=[ready, len(self.plan.brokers)],
            links=[gates.links_verified(overlay, look), len(overlay)],
            clients=[len(roster.up(roster.clients)), len(self.plan.clients)],
            published=sum(client.published for client in look.clients.values()),
            delivered=delivered,
        )
