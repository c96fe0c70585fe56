"""One simulated run: brokers, clients and the timeline of a plan on one agenda."""

from __future__ import annotations

from collections.abc import Callable

from broker_grpc.core.limits import SERVER_GRACE_US, Limits, limits_from
from broker_grpc.errors import BrokerError
from broker_grpc.machine import Instructed, OverlayChanged, PeerKind, Stimulus
from broker_grpc.registry import machine_of
from protos.records import LogEvent
from testbed.errors import TestbedError
from testbed.run import stimuli
from testbed.run.configs import BrokerConfigs, addresses
from testbed.run.stimuli import Look
from testbed.run.timeline import Timeline
from testbed.simulation.agenda import Agenda
from testbed.simulation.broker_process import BrokerProcess
from testbed.simulation.client_process import ClientProcess
from testbed.simulation.eventlog import SimulatedLog
from testbed.simulation.pipes import Inbox
from testbed.simulation.process import Process
from testbed.simulation.streams import Streams
from testbed.simulation.wires import Loses, Wires
from testbed.topology.plan import Plan
from testbed.workload.script import ClientScript

START_US = 946_684_800_000_000  # 2000-01-01: any fixed instant on a tick of the kernel, so that runs repeat
HARNESS = "harness"
STOP_LIMIT_US = 10_000_000  # what has not ended by then is cut off


class Simulator:
    """Runs a plan to its end; `warnings` and `outcome` say how it went."""

    def __init__(
        self,
        plan: Plan,
        log: SimulatedLog,
        tell: Callable[[stimuli.Tell], None],
        start_us: int = START_US,
        loses: Loses | None = None,
    ) -> None:
        self.plan = plan
        self.agenda = Agenda(start_us)
        self.outcome: stimuli.Finish | None = None
        self.warnings: list[str] = []
        self.timeline = Timeline(plan)
        self._log = log
        self._tell = tell
        self._brokers = {broker.id: broker for broker in plan.brokers}
        self._clients = {client.id: client for client in plan.clients}
        self._hosts: dict[str, str] = {broker.id: broker.node for broker in plan.brokers}
        self._hosts |= {client.id: client.node for client in plan.clients}
        self._addresses = addresses(plan)
        self._configs = BrokerConfigs(plan)
        self._limits = {broker.id: limits_from(broker.options) for broker in plan.brokers}
        self._running: dict[str, Process] = {}
        self._starting: set[str] = set()  # clients that have not said that they are ready
        self._closing: set[str] = set()  # clients that say good-bye
        self._stopping: set[str] = set()  # brokers
        self._incarnations: dict[str, int] = {}
        self._timeline_wake = -1
        self._delivered = 0  # by clients that are gone
        self.wires = Wires(plan, loses)
        self.streams = Streams(self.agenda, self.wires, self, self._limits_of)

    def _limits_of(self, process: str) -> Limits:
        return self._limits.get(process, Limits())

    # ------------------------------------------------------------ running

    def begin(self) -> None:
        if self.plan.programs:
            self.warnings.append("programs of the plan are not run by the simulator")
        for phase in self.plan.phases:
            if phase.gate.check:
                self.warnings.append(f"the check of phase {phase.name!r} is taken as met: nothing can run it")
        self._conduct(stimuli.Begin())

    def step(self, calls: int) -> bool:
        """Go on for some calls; False when the timeline has ended."""
        if not self.agenda.run(calls) and self.outcome is None:
            self.outcome = stimuli.Finish(
                "failed", "nothing is left to happen, and the timeline has not ended"
            )
        return self.outcome is None

    def end(self) -> None:
        """As a real run ends: clients withdraw and disconnect, then the brokers stop."""
        self.agenda.halted = False
        for client in [p.id for p in self._running.values() if p.kind == "client"]:
            self._stop(client)
        limit = self.agenda.now_us + STOP_LIMIT_US
        while self._closing and (self.agenda.next_us() or limit) < limit:
            self.agenda.run(1)
        for broker in [p for p in self._running.values() if p.kind == "broker"]:
            self._stopped(broker, None)

    def stop(self, reason: str) -> None:
        self._conduct(stimuli.StopRequested(reason))

    # ------------------------------------------------------------ the timeline

    def _conduct(self, stimulus: stimuli.Stimulus) -> None:
        for effect in self.timeline.handle(self.agenda.now_us, stimulus):
            self._apply_timeline(effect)
        self._arm_timeline()

    def _arm_timeline(self) -> None:
        deadline = self.timeline.next_deadline_us()
        if deadline is not None and deadline != self._timeline_wake:
            self._timeline_wake = deadline
            self.agenda.at(deadline, self._timeline_due, deadline)

    def _timeline_due(self, deadline: int, _: None) -> None:
        if deadline == self._timeline_wake:
            self._timeline_wake = -1
            self._conduct(stimuli.DeadlineReached())

    def _apply_timeline(self, effect: stimuli.Effect) -> None:
        match effect:
            case stimuli.Record(event=event):
                self._log.write(event, self.agenda.now_us, HARNESS)
            case stimuli.Start(ids=ids):
                for process in ids:
                    self._start(process)
            case stimuli.Stop(ids=ids):
                for process in ids:
                    self._stop(process)
            case stimuli.Kill(ids=ids):
                for process in ids:
                    self._crash(process, "killed")
            case stimuli.Quiet():
                for running in self._running.values():
                    running.quiet()
            case stimuli.TakeLook():
                # After everything of this instant: a look must not see half of it.
                self.agenda.at(self.agenda.now_us, self._looked)
            case stimuli.RunCheck():
                self.agenda.at(self.agenda.now_us, self._checked)
            case stimuli.ChangeNetwork():
                self._change(effect)
            case stimuli.Instruct(id=id_, name=name, arguments=arguments):
                self.feed(id_, Instructed(name, arguments))
            case stimuli.Warn(text=text):
                self.warnings.append(text)
            case stimuli.Tell():
                self._tell(effect)
            case stimuli.Finish():
                self.outcome = effect
                self.agenda.halted = True

    def _looked(self, _a: None, _b: None) -> None:
        self._conduct(stimuli.Looked(self.look()))

    def _checked(self, _a: None, _b: None) -> None:
        self._conduct(stimuli.Checked(True, "custom checks are not run by the simulator"))

    def _change(self, change: stimuli.ChangeNetwork) -> None:
        match change.action:
            case "link_down":
                self.wires.link_down(change.target, self.agenda.now_us)
            case "link_up":
                self.wires.link_up(change.target)
            case "reshape" if "pairs" in change.arguments:
                self.wires.reshape_pairs(change.arguments["pairs"])
            case "reshape":
                self.wires.reshape(change.target, **change.arguments)
            case "partition":
                self.wires.partition(change.arguments["nodes"])
            case "heal":
                self.wires.heal()
        self.streams.paths_changed()

    def delivered(self) -> int:
        """By all clients there have been."""
        return self._delivered + sum(running.delivered for running in self._running.values())

    def look(self) -> Look:
        look = Look({}, {})
        for running in self._running.values():
            running.show(look)
        return look

    # ------------------------------------------------------------ life of processes

    def _start(self, id_: str) -> None:
        self._incarnations[id_] = self._incarnations.get(id_, 0) + 1
        try:
            if id_ in self._brokers:
                self._start_broker(id_)
            elif id_ in self._clients:
                self._start_client(id_)
            else:
                self._later(stimuli.ProcessReady(id_))
        except (BrokerError, TestbedError) as error:
            self._later(stimuli.ProcessEnded(id_, 1, str(error)))

    def _start_broker(self, id_: str) -> None:
        config = self._configs.broker_config(id_, self._incarnations[id_])
        process = BrokerProcess(
            id_, machine_of(config), self.agenda, self.streams, self._log, self._overlay_changed
        )
        self._running[id_] = process
        self.log(id_, LogEvent(kind="STARTED", detail=f"incarnation {config.incarnation}"))
        for neighbour in config.neighbours:
            if neighbour.dial:
                self.streams.open(id_, neighbour.id)
        process.arm()
        self._later(stimuli.ProcessReady(id_))

    def _start_client(self, id_: str) -> None:
        script = ClientScript(self._clients[id_], self._addresses, self._incarnations[id_])
        process = ClientProcess(id_, script, self.agenda, self.streams, self._log, self._client_acted)
        self._running[id_] = process
        self._starting.add(id_)
        process.start()

    def _overlay_changed(self, said: OverlayChanged) -> None:
        self._configs.overlay_changed(said.change, said.added, said.removed)
        self._later(stimuli.OverlayChanged(said.change, said.added, said.removed))

    def _later(self, stimulus: stimuli.Stimulus) -> None:
        self.agenda.at(self.agenda.now_us, self._conduct_later, stimulus)

    def _conduct_later(self, stimulus: stimuli.Stimulus, _: None) -> None:
        self._conduct(stimulus)

    def _stop(self, id_: str) -> None:
        process = self._running.get(id_)
        if process is None:
            return
        if process.kind == "client":
            self._closing.add(id_)
            process.stop()
        elif id_ not in self._stopping:
            self._stopping.add(id_)
            process.stop()
            # What others dialled has its time of grace.
            self.agenda.at(self.agenda.now_us + SERVER_GRACE_US, self._stopped, process)

    def _stopped(self, process: Process, _: None) -> None:
        if self._running.get(process.id) is process:
            self.log(process.id, LogEvent(kind="STOPPED"))
            self._crash(process.id, "stopped")

    def _crash(self, id_: str, reason: str) -> None:
        process = self._running.pop(id_, None)
        if process is not None:
            process.alive = False
            self._delivered += process.delivered
            self.streams.crash(id_, reason)
            self._starting.discard(id_)
            self._stopping.discard(id_)
            self._later(stimuli.ProcessEnded(id_, 0 if reason == "stopped" else -9))

    def _client_acted(self, client: ClientProcess) -> None:
        """Has it started, failed, or gone?"""
        if client.id in self._starting:
            if client.failed:
                self._crash(client.id, f"failed: {client.failed}")
            elif client.started:
                self._starting.discard(client.id)
                self._later(stimuli.ProcessReady(client.id))
        if client.id in self._closing and client.gone:
            self._closing.discard(client.id)
            self._crash(client.id, "stopped")
        client.watch(client.id in self._starting or client.id in self._closing)

    # ------------------------------------------------------------ what streams ask (pipes.Processes)

    def host_of(self, process: str) -> str:
        return self._hosts[process]

    def kind_of(self, process: str) -> PeerKind:
        return "broker" if process in self._brokers else "client"

    def is_running(self, process: str) -> bool:
        return process in self._running

    def accepts(self, process: str) -> bool:
        return process in self._running and process not in self._stopping

    def incarnation_of(self, process: str) -> int:
        return self._incarnations.get(process, 1)

    def seed_of(self, process: str) -> int:
        return (self._brokers.get(process) or self._clients[process]).seed

    def log(self, process: str, event: LogEvent) -> None:
        self._log.write(event, self.agenda.now_us, process)

    def inbox_of(self, process: str) -> Inbox:
        return self._running[process].inbox

    def feed(self, process: str, stimulus: Stimulus) -> None:
        running = self._running.get(process)
        if running is not None:
            running.feed(stimulus)
