"""One simulated run: brokers, clients and the timeline of a plan on one agenda."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from broker_grpc.core.limits import SERVER_GRACE_US, Limits, limits_from
from broker_grpc.core.options import BrokerProcessConfig
from broker_grpc.errors import BrokerError
from broker_grpc.machine import PeerKind, Stimulus
from broker_grpc.protocols.topicconnected.broker import TopicBroker
from broker_grpc.registry import machine_of
from protos.records import LogEvent
from testbed.errors import TestbedError
from testbed.run import stimuli
from testbed.run.configs import addresses
from testbed.run.stimuli import BrokerLook, ClientLook, Look
from testbed.run.timeline import Timeline
from testbed.simulation.agenda import Agenda
from testbed.simulation.eventlog import SimulatedLog
from testbed.simulation.pipes import Inbox
from testbed.simulation.process import Process
from testbed.simulation.streams import Streams
from testbed.simulation.wires import Loses, Wires
from testbed.topology.plan import Plan
from testbed.workload.script import ClientScript

if TYPE_CHECKING:
    from broker_grpc.registry import BrokerMachine

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
        self._dials: dict[str, list[str]] = {broker.id: [] for broker in plan.brokers}
        for link in plan.overlay:
            self._dials[link.a].append(link.b)  # the first end of a link dials
            if link.dial == "both":
                self._dials[link.b].append(link.a)
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
                    if isinstance(running.machine, ClientScript):
                        running.machine.quiet()
            case stimuli.TakeLook():
                # After everything of this instant: a look must not see half of it.
                self.agenda.at(self.agenda.now_us, self._looked)
            case stimuli.RunCheck():
                self.agenda.at(self.agenda.now_us, self._checked)
            case stimuli.ChangeNetwork():
                self._change(effect)
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
            case "reshape":
                self.wires.reshape(change.target, **change.arguments)
            case "partition":
                self.wires.partition(change.arguments["nodes"])
            case "heal":
                self.wires.heal()
        self.streams.paths_changed()

    def delivered(self) -> int:
        """By all clients there have been."""
        return self._delivered + sum(_delivered(running) for running in self._running.values())

    def look(self) -> Look:
        brokers: dict[str, BrokerLook] = {}
        clients: dict[str, ClientLook] = {}
        for running in self._running.values():
            if isinstance(running.machine, ClientScript):
                clients[running.id] = _client_look(running.machine)
            else:
                brokers[running.id] = _broker_look(running.machine.status())
        return Look(brokers, clients)

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
        plan = self._brokers[id_]
        config = BrokerProcessConfig(
            id_,
            self._addresses[id_],
            options=plan.options,
            algorithm=plan.algorithm,
            seed=plan.seed,
            incarnation=self._incarnations[id_],
            sample_every_us=self.plan.sample_every_us,
        )
        process = self._run(id_, "broker", machine_of(config))
        self.log(id_, LogEvent(kind="STARTED", detail=f"incarnation {config.incarnation}"))
        for neighbour in self._dials[id_]:
            self.streams.open(id_, neighbour)
        process.arm()
        self._later(stimuli.ProcessReady(id_))

    def _start_client(self, id_: str) -> None:
        plan = self._clients[id_]
        script = ClientScript(plan, self._addresses, self._incarnations[id_])
        process = self._run(id_, "client", script)
        self._starting.add(id_)
        process.on_acted = self._settle
        process.apply(script.start(self.agenda.now_us))
        process.arm()

    def _run(self, id_: str, kind: PeerKind, machine: BrokerMachine | ClientScript) -> Process:
        process = self._running[id_] = Process(id_, kind, machine, self.agenda, self.streams, self._log)
        return process

    def _later(self, stimulus: stimuli.Stimulus) -> None:
        self.agenda.at(self.agenda.now_us, self._conduct_later, stimulus)

    def _conduct_later(self, stimulus: stimuli.Stimulus, _: None) -> None:
        self._conduct(stimulus)

    def _stop(self, id_: str) -> None:
        process = self._running.get(id_)
        if process is None:
            return
        if not isinstance(process.machine, ClientScript):
            self._stop_broker(process)
        else:
            self._closing.add(id_)
            process.on_acted = self._settle
            process.apply(process.machine.close(self.agenda.now_us))

    def _stop_broker(self, process: Process) -> None:
        """As the real process does: what it dialled ends now, what others dialled has its time of grace."""
        if process.id in self._stopping:
            return
        self._stopping.add(process.id)
        if isinstance(process.machine, TopicBroker):
            process.apply(process.machine.farewell(self.agenda.now_us))
        self.streams.hang_up(process.id, "stopped")
        self.agenda.at(self.agenda.now_us + SERVER_GRACE_US, self._stopped, process)

    def _stopped(self, process: Process, _: None) -> None:
        if self._running.get(process.id) is process:
            self.log(process.id, LogEvent(kind="STOPPED"))
            self._crash(process.id, "stopped")

    def _crash(self, id_: str, reason: str) -> None:
        process = self._running.pop(id_, None)
        if process is not None:
            process.alive = False
            self._delivered += _delivered(process)
            self.streams.crash(id_, reason)
            self._starting.discard(id_)
            self._stopping.discard(id_)
            self._later(stimuli.ProcessEnded(id_, 0 if reason == "stopped" else -9))

    def _settle(self, process: Process) -> None:
        """After anything happened to a client: has it started, failed, or gone?"""
        script = process.machine
        if not isinstance(script, ClientScript):
            return
        if process.id in self._starting:
            if script.failed:
                self._crash(process.id, f"failed: {script.failed}")
            elif script.started:
                self._starting.discard(process.id)
                self._later(stimuli.ProcessReady(process.id))
        if process.id in self._closing and script.machine.closed:
            self._closing.discard(process.id)
            self._crash(process.id, "stopped")
        if process.id not in self._starting and process.id not in self._closing:
            process.on_acted = None  # nobody waits for it any more

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


def _delivered(process: Process) -> int:
    return process.machine.machine.delivered if isinstance(process.machine, ClientScript) else 0


def _broker_look(status: Mapping[str, object]) -> BrokerLook:
    links = status["links"]
    assert isinstance(links, dict)
    rows = [stimuli.LinkLook(peer, True, bool(synced)) for peer, synced in links.items()]
    known = {
        name: status[name] for name in BrokerLook.__struct_fields__ if name in status and name != "links"
    }
    return BrokerLook(**known, links=rows)  # type: ignore[arg-type]


def _client_look(script: ClientScript) -> ClientLook:
    return ClientLook(**script.status())
