"""The timeline of a run as a machine without IO: phases, gates, events, crashes; in goes what happened,
out comes what to do.

    effects  = timeline.handle(now_us, stimulus)
    deadline = timeline.next_deadline_us()

A phase starts its processes, waits until all are ready and its gate is met (PHASE_READY), lets its events
happen at their offsets from that instant, and gives way to the next after `run_for_us`. After the last one
the publishers fall silent, and when the traffic has ceased the run is done.
"""

from __future__ import annotations

import heapq

import msgspec

from protos.records import Kind, LogEvent
from testbed.run import gates, publishing, stimuli
from testbed.run.configs import addresses
from testbed.run.faults import OPENING, RESTART_DELAY_US, FaultWindows, at_once, record
from testbed.run.overlay import Overlay
from testbed.run.silence import Silence
from testbed.run.states import Roster, State, how_it_ended
from testbed.run.stimuli import Effects, Finish, Record, Tell, Warn
from testbed.topology.plan import Event, Phase, Plan

RESTARTS_ALLOWED = 5  # per process; a process that dies at every start would keep the run busy for ever
RECOVERY_LOOK_US = 500_000  # between two looks while a fault window waits to close
QUIET_LOOK_US = 1_000_000  # longer than any message is between two brokers
QUIET_LOOK_LOSSY_US = 5_000_000  # unless TCP has to send it again
QUIET_LIMIT_US = 60_000_000  # what has not arrived by then is lost


class Timeline:
    """See the module. `finished` is set once Finish was returned; later stimuli are ignored."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.roster = Roster(plan)
        self.finished = False
        self.stage = "new"  # new, gate, running, quieting, finished
        self.index = -1
        self.phase_started_us = 0
        self.phase_ready_us = 0
        self.gate_reason = ""
        self._faults = FaultWindows()
        self._agenda: list[tuple[int, int, Event]] = []
        self._restarts: list[tuple[int, str]] = []
        self._crashes: dict[str, int] = {}
        self._members: frozenset[str] = frozenset()  # of the phase: what it starts
        self._unstarted: list[str] = []  # all members that have not started, and perhaps some that have
        self._again: set[str] = set()  # to be started once their wanted end is reported
        self._counters_lost = False
        self._before: stimuli.Look | None = None
        self._look_at: int | None = None
        self._looking = False
        self._checking = False
        self._timed_out = False
        self._quiet_since = 0
        self._silence = Silence()
        self._orders: list[LogEvent] = []  # what clients were told when, for the count of their publications
        self.overlay = Overlay(plan.overlay)
        lossy = any(link.loss for link in plan.network.links) or any(pair.loss for pair in plan.network.pairs)
        self._quiet_look_us = QUIET_LOOK_LOSSY_US if lossy else QUIET_LOOK_US

    # ------------------------------------------------------------ the two entry points

    def handle(self, now_us: int, stimulus: stimuli.Stimulus) -> Effects:
        if self.finished:
            return []
        effects = self._handle(now_us, stimulus)
        records = [effect.event for effect in effects if isinstance(effect, Record)]
        self._orders += [event for event in records if event.kind in publishing.KINDS]
        return effects

    def _handle(self, now_us: int, stimulus: stimuli.Stimulus) -> Effects:
        match stimulus:
            case stimuli.Begin():
                return self._next_phase(now_us)
            case stimuli.ProcessReady(id=process):
                return self._process_ready(now_us, process)
            case stimuli.ProcessEnded():
                return self._process_ended(now_us, stimulus)
            case stimuli.Looked(look=look):
                return self._looked(now_us, look)
            case stimuli.Checked():
                return self._checked(now_us, stimulus)
            case stimuli.StopRequested(reason=reason, failed=failed):
                return self._finish(now_us, "failed" if failed else "aborted", reason)
            case stimuli.OverlayChanged():
                self.overlay.change(stimulus.change, stimulus.added, stimulus.removed)
                return []
            case stimuli.DeadlineReached():
                return self._deadline(now_us)

    def next_deadline_us(self) -> int | None:
        if self.finished or self.stage == "new":
            return None
        due = [self._agenda[0][0]] if self._agenda else []
        due += [at for at, _ in self._restarts]
        if self._look_at is not None and not self._looking:
            due.append(self._look_at)
        due += self._stage_deadlines()
        return min(due, default=None)

    def _stage_deadlines(self) -> list[int]:
        if self.stage == "gate":
            gate = self.phase.gate
            due = [] if self._timed_out else [self.phase_started_us + gate.timeout_us]
            if gate.after_us and self._all_started() and not self._needs_look():
                due.append(self.phase_started_us + gate.after_us)
            return due
        if self.stage == "running":
            return [self.phase_ready_us + self.phase.run_for_us]
        return [self._quiet_limit_us]

    @property
    def _quiet_limit_us(self) -> int:
        return max(self._quiet_since, self._silence.until_us) + QUIET_LIMIT_US

    @property
    def phase(self) -> Phase:
        return self.plan.phases[self.index]

    @property
    def phase_name(self) -> str:
        """Empty before the first phase and after the last."""
        return self.phase.name if 0 <= self.index < len(self.plan.phases) else ""

    # ------------------------------------------------------------ phases and gates

    def _next_phase(self, now_us: int) -> Effects:
        self.index += 1
        if self.index >= len(self.plan.phases):
            return self._begin_quiet(now_us)
        self.stage = "gate"
        self.phase_started_us = now_us
        self.gate_reason = "processes are starting"
        self._before, self._timed_out = None, False
        self._members, self._unstarted = frozenset(self.phase.start), list(self.phase.start)
        effects: Effects = [self._record(now_us, "PHASE_STARTED", self.phase.name)]
        effects.append(Tell("phase", self.phase.name))
        effects += self._start(self.phase.start)
        return effects + self._advance_gate(now_us)

    def _start(self, wanted: list[str]) -> Effects:
        ids = [process for process in wanted if not self.roster.running(process)]
        for process in ids:
            self._not_started(process, State.STARTING)
        return [stimuli.Start(ids)] if ids else []

    def _not_started(self, process: str, state: State) -> None:
        self.roster.change(process, state)
        if process in self._members:
            self._unstarted.append(process)

    def _all_started(self) -> bool:
        """Asked at every start, so it looks at each process about once, not at all of them every time."""
        unstarted, state = self._unstarted, self.roster.state
        while unstarted and state(unstarted[-1]) not in (State.PLANNED, State.STARTING, State.WAITING):
            unstarted.pop()
        return not unstarted

    def _needs_look(self) -> bool:
        gate = self.phase.gate
        return gate.links_up or gate.subscriptions_settled or bool(gate.check)

    def _advance_gate(self, now_us: int) -> Effects:
        """Something happened during a gate: is the phase ready, or is it time to look again?"""
        if self.stage != "gate" or not self._all_started():
            return []
        if self._needs_look():
            if self._look_at is None and not self._looking and not self._checking:
                self._look_at = now_us
            return []
        return self._ready_if_late_enough(now_us)

    def _ready_if_late_enough(self, now_us: int) -> Effects:
        if now_us >= self.phase_started_us + self.phase.gate.after_us:
            return self._phase_ready(now_us)
        self.gate_reason = f"waiting {self.phase.gate.after_us / 1e6:g} s"
        return []

    def _look_at_gate(self, now_us: int, look: stimuli.Look) -> Effects:
        gate = self.phase.gate
        self.gate_reason = self._gate_reason(look)
        self._before = look
        if self.gate_reason:
            return self._look_again(now_us)
        if gate.check:
            self._checking = True
            return [stimuli.RunCheck(gate.check, gate.check_node)]
        if now_us < self.phase_started_us + gate.after_us:
            self._look_at = self.phase_started_us + gate.after_us
            return []
        return self._phase_ready(now_us)

    def _gate_reason(self, look: stimuli.Look) -> str:
        gate = self.phase.gate
        if gate.links_up:
            alive = frozenset(self.roster.up(self.roster.brokers))
            missing = gates.links_missing(self.overlay.links, alive, look)
            if missing:
                return "overlay links not up: " + gates.shorten(missing)
        if gate.subscriptions_settled:
            clients = self.roster.up(self.roster.clients)
            return gates.unsettled(clients, look, self._before, self._counters_lost)
        return ""

    def _look_again(self, now_us: int) -> Effects:
        self._look_at = now_us + self.phase.gate.every_us
        return []

    def _checked(self, now_us: int, checked: stimuli.Checked) -> Effects:
        self._checking = False
        if self.stage != "gate":
            return []
        if not checked.met:
            self.gate_reason = f"the check is not met: {checked.detail}"
            return self._look_again(now_us)
        if now_us < self.phase_started_us + self.phase.gate.after_us:
            self._look_at = self.phase_started_us + self.phase.gate.after_us
            return []
        return self._phase_ready(now_us)

    def _phase_ready(self, now_us: int, type: str = "") -> Effects:
        self.stage = "running"
        self.phase_ready_us = now_us
        self._look_at = None
        if self._faults.recovering:
            self._watch_recovery(now_us)
        for position, event in enumerate(self.plan.events):
            if event.phase == self.phase.name:
                heapq.heappush(self._agenda, (now_us + event.at_us, position, event))
        effects: Effects = [
            self._record(now_us, "PHASE_READY", self.phase.name, type, now_us - self.phase_started_us),
            Tell("ready", self.phase.name),
        ]
        return effects + self._due(now_us)

    def _gate_timed_out(self, now_us: int) -> Effects:
        self._timed_out = True
        gate = self.phase.gate
        limit = f"{gate.timeout_us / 1e6:g} s"
        waited = f"phase {self.phase.name!r} not ready after {limit}: {self._why_not_ready()}"
        if gate.on_timeout == "abort":
            return self._finish(now_us, "failed", waited)
        effects: Effects = [Warn(waited), Tell("late", self.phase.name, waited)]
        return effects + (self._phase_ready(now_us, "timeout") if gate.on_timeout == "continue" else [])

    def _why_not_ready(self) -> str:
        starting = [process for process in self.phase.start if self.roster.state(process) is State.STARTING]
        return "not started: " + gates.shorten(starting) if starting else self.gate_reason

    # ------------------------------------------------------------ time

    def _deadline(self, now_us: int) -> Effects:
        effects = self._due(now_us)
        while self._restarts and self._restarts[0][0] <= now_us and not self.finished:
            effects += self._start([self._restarts.pop(0)[1]])
        if self._look_at is not None and self._look_at <= now_us and not self._looking and not self.finished:
            self._looking, self._look_at = True, None
            effects.append(stimuli.TakeLook())
        if self.finished:
            return effects
        return effects + self._stage_deadline(now_us)

    def _stage_deadline(self, now_us: int) -> Effects:
        if self.stage == "gate":
            if not self._timed_out and now_us >= self.phase_started_us + self.phase.gate.timeout_us:
                return self._gate_timed_out(now_us)
            return self._advance_gate(now_us)
        if self.stage == "running" and now_us >= self.phase_ready_us + self.phase.run_for_us:
            return self._next_phase(now_us)
        if self.stage == "quieting" and now_us >= self._quiet_limit_us:
            text = f"traffic had not ceased {(now_us - self._quiet_since) / 1e6:g} s after the last phase"
            return [Warn(text), *self._finish(now_us, "done", "")]
        return []

    def _due(self, now_us: int) -> Effects:
        """The events of the plan whose time has come."""
        effects: Effects = []
        while self._agenda and self._agenda[0][0] <= now_us and not self.finished:
            effects += self._act(now_us, heapq.heappop(self._agenda)[2])
        return effects

    # ------------------------------------------------------------ events of the plan

    def _act(self, now_us: int, event: Event) -> Effects:
        effects: Effects = [Tell("event", self.phase_name, f"{event.action} {event.target}".strip())]
        if event.action in ("link_down", "link_up", "reshape", "partition", "heal"):
            return effects + self._change_network(now_us, event)
        if event.action in ("exchange", "set"):
            return effects + self.instruct(now_us, event)
        return effects + self._change_process(now_us, event)

    def _change_network(self, now_us: int, event: Event) -> Effects:
        change = stimuli.ChangeNetwork(event.action, event.target, event.arguments)  # type: ignore[arg-type]
        told = {name: value for name, value in event.arguments.items() if name != "pairs"}
        arguments = msgspec.json.encode(told).decode() if told else ""
        self._silence.changed(now_us, event.action, event.target)
        if event.arguments.get("loss"):
            self._quiet_look_us = QUIET_LOOK_LOSSY_US
        if event.action in OPENING:
            return [self._faults.begin(now_us, event.action, event.target, arguments), change]
        self._faults.repair(event.action, event.target)
        if event.action == "reshape":
            return [*at_once(now_us, "reshape", event.target, arguments), change]
        self._watch_recovery(now_us)
        return [change]

    def instruct(self, now_us: int, event: Event) -> Effects:
        """An event of the plan, or of an operator at any time: a broker is told to do something."""
        arguments = msgspec.json.encode(event.arguments).decode()
        said: Effects = [record(now_us, "INSTRUCTED", event.action, event.target, arguments)]
        if not self.roster.running(event.target):
            return [*said, Warn(f"{event.action} {event.target}: this broker was not running")]
        if event.action == "set":
            return [*said, stimuli.Instruct(event.target, "set", event.arguments)]
        to = event.arguments["to"]
        where = {"address": addresses(self.plan)[to]}
        return [
            *said,
            stimuli.Instruct(event.target, "exchange", event.arguments | where, [event.target, to]),
        ]

    def _change_process(self, now_us: int, event: Event) -> Effects:
        process, action = event.target, event.action
        if not self.roster.is_broker(process):
            return [*at_once(now_us, action, process), *self._apply(action, process)]
        effects: Effects = []
        if action in OPENING:
            effects.append(self._faults.begin(now_us, action, process))
        self._faults.repair(action, process)
        self._watch_recovery(now_us)
        return effects + self._apply(action, process)

    def _apply(self, action: str, process: str) -> Effects:
        """The effects on the process itself; an action that asks for what is already so has none."""
        if action in ("start", "join"):
            if self.roster.state(process) is State.STOPPING:
                self._again.add(process)
                return []
            return self._start([process])
        if not self.roster.running(process):
            return self._start([process]) if action == "restart" else []
        self.roster.change(process, State.STOPPING)
        if action == "restart":
            self._again.add(process)
        return [stimuli.Kill([process]) if action == "kill" else stimuli.Stop([process])]

    # ------------------------------------------------------------ life and death of processes

    def _process_ready(self, now_us: int, process: str) -> Effects:
        if self.roster.state(process) is not State.STARTING:
            return []
        self.roster.change(process, State.UP)
        return self._advance_gate(now_us)

    def _process_ended(self, now_us: int, ended: stimuli.ProcessEnded) -> Effects:
        process, state = ended.id, self.roster.state(ended.id)
        if state not in (State.STARTING, State.UP, State.STOPPING):
            return []
        if self.roster.is_broker(process):
            self._counters_lost = True
        if state is State.STOPPING or (self.roster.is_program(process) and ended.code == 0):
            return self._wanted_end(process) + self._advance_gate(now_us)
        return self._crashed(now_us, ended)

    def _wanted_end(self, process: str) -> Effects:
        self.roster.change(process, State.DOWN)
        if process not in self._again:
            return []
        self._again.discard(process)
        return self._start([process])

    def _crashed(self, now_us: int, ended: stimuli.ProcessEnded) -> Effects:
        process, policy = ended.id, self.roster.on_crash[ended.id]
        times = self._crashes[process] = self._crashes.get(process, 0) + 1
        what = f"{process} {how_it_ended(ended.code)}"
        event = LogEvent(t_us=now_us, kind="CRASHED", detail=process, content=what, queue=times)
        effects: Effects = [Record(event), Warn(what), Tell("crashed", self.phase_name, what)]
        if self.roster.is_broker(process):
            effects.append(self._faults.begin(now_us, "crash", process))
        if policy == "restart" and times <= RESTARTS_ALLOWED:
            self._not_started(process, State.WAITING)
            self._restarts.append((now_us + RESTART_DELAY_US, process))
            self._faults.repair("start", process)
            self._watch_recovery(now_us + RESTART_DELAY_US)
            return effects
        self.roster.change(process, State.DOWN)
        if policy == "continue":
            return effects + self._advance_gate(now_us)
        again = f" ({times} times)" if policy == "restart" else ""
        return effects + self._finish(now_us, "failed", f"{what}{again}\n{ended.detail}".rstrip())

    # ------------------------------------------------------------ looks

    def _looked(self, now_us: int, look: stimuli.Look) -> Effects:
        self._looking = False
        effects = self._look_at_recovery(now_us, look)
        if self.stage == "gate":
            if not self._all_started() or not self._needs_look():
                return effects + self._advance_gate(now_us)
            return effects + self._look_at_gate(now_us, look)
        if self.stage == "quieting":
            return effects + self._look_at_quiet(now_us, look)
        return effects

    def _watch_recovery(self, now_us: int) -> None:
        at = now_us + RECOVERY_LOOK_US
        if self._look_at is None or self._look_at > at:
            self._look_at = at

    def _look_at_recovery(self, now_us: int, look: stimuli.Look) -> Effects:
        if not self._faults.recovering:
            return []
        states = [self.roster.state(broker) for broker in self.roster.brokers]
        settled = not any(state in (State.STARTING, State.WAITING, State.STOPPING) for state in states)
        alive = frozenset(self.roster.up(self.roster.brokers))
        whole = not gates.links_missing(self.overlay.links, alive, look) and not gates.links_unsynced(look)
        if settled and whole and not gates.clients_missing(self._served(), look):
            return self._faults.recovered(now_us)
        self._watch_recovery(now_us)
        return []

    def _served(self) -> list[str]:
        """Live clients whose broker is there: nothing keeps them from being connected."""
        up = set(self.roster.up(self.roster.clients))
        alive = set(self.roster.up(self.roster.brokers))
        return [client.id for client in self.plan.clients if client.id in up and client.broker in alive]

    # ------------------------------------------------------------ the end

    def _begin_quiet(self, now_us: int) -> Effects:
        self.stage = "quieting"
        self._quiet_since = self._look_at = now_us
        self._before = None
        return [stimuli.Quiet(), Tell("quieting")]

    def _look_at_quiet(self, now_us: int, look: stimuli.Look) -> Effects:
        before, self._before = self._before, look
        still = before is not None and gates.traffic_counters(before) == gates.traffic_counters(look)
        if still and now_us >= self._silence.until_us:
            return self._finish(now_us, "done", "")
        self._look_at = now_us + self._quiet_look_us
        return []

    def _finish(self, now_us: int, status: str, reason: str) -> Effects:
        self.finished = True
        self.stage = "finished"
        ended = LogEvent(t_us=now_us, kind="RUN_ENDED", detail=status, content=reason)
        warned = self._publications_missing() if status == "done" else []
        return [*warned, *self._faults.end(now_us), Record(ended), Finish(status, reason)]  # type: ignore[arg-type]

    def _publications_missing(self) -> Effects:
        """Of clients that were started once and are still there: of others a look does not tell all."""
        wanted = publishing.planned(self.plan, self._orders)
        changed = {event.detail for event in self._orders if event.kind in ("FAULT_STARTED", "CRASHED")}
        seen = {} if self._before is None else self._before.clients
        made = {client: look.published for client, look in seen.items() if client not in changed}
        told = publishing.differences({client: wanted[client] for client in made if client in wanted}, made)
        return [Warn(f"publications: {gates.shorten(told)}")] if told else []

    def _record(self, now_us: int, kind: Kind, detail: str, type: str = "", duration_us: int = 0) -> Record:
        return Record(LogEvent(t_us=now_us, kind=kind, detail=detail, type=type, duration_us=duration_us))
