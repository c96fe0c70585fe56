"""The timeline without any kernel: phases, gates, events and crash policies as pure logic."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import pytest

from testbed.run import stimuli as s
from testbed.run.faults import RESTART_DELAY_US
from testbed.run.timeline import RESTARTS_ALLOWED, Timeline
from testbed.topology.plan import Broker, Client, Event, Gate, Network, OverlayLink, Phase, Plan, Program

SECOND = 1_000_000


def plan(
    phases: list[Phase] | None = None,
    events: list[Event] | None = None,
    on_crash: str = "abort",
    brokers: int = 2,
    programs: list[Program] | None = None,
) -> Plan:
    names = [f"B{number}" for number in range(1, brokers + 1)]
    return Plan(
        name="t",
        seed=1,
        network=Network(),
        brokers=[Broker(name, name, "10.0.0.1", 5000, on_crash=on_crash) for name in names],  # type: ignore[arg-type]
        overlay=[OverlayLink(a, b) for a, b in pairwise(names)],
        clients=[Client("c1", "B1", "B1", on_crash=on_crash)],  # type: ignore[arg-type]
        programs=programs or [],
        phases=phases
        or [
            Phase("brokers", names, Gate(links_up=True)),
            Phase("clients", ["c1"], Gate(subscriptions_settled=True), run_for_us=10 * SECOND),
        ],
        events=events or [],
    )


class Play:
    """Feeds a timeline and keeps the clock; processes obey at once unless told otherwise."""

    def __init__(self, the_plan: Plan) -> None:
        self.line = Timeline(the_plan)
        self.now = 0
        self.effects: list[s.Effect] = []
        self.look = s.Look()
        self.check_met = True
        self.lazy: set[str] = set()  # processes that never report ready
        self.deaf: set[str] = set()  # processes that do not end when asked
        self.busy = 0  # looks during which routing messages still flow

    def tell(self, stimulus: s.Stimulus) -> list[s.Effect]:
        done = self.line.handle(self.now, stimulus)
        self.effects += done
        for effect in done:
            self.obey(effect)
        return done

    def obey(self, effect: s.Effect) -> None:
        match effect:
            case s.Start(ids=ids):
                for process in ids:
                    if process not in self.lazy:
                        self.tell(s.ProcessReady(process))
            case s.Stop(ids=ids) | s.Kill(ids=ids):
                for process in set(ids) - self.deaf:
                    self.tell(s.ProcessEnded(process, -9 if isinstance(effect, s.Kill) else 0))
            case s.TakeLook():
                self.busy -= 1
                if self.busy >= 0:
                    self.look.brokers["B1"].control_sent += 1
                    self.look.brokers["B2"].control_received += 1
                copy = msgspec.json.decode(msgspec.json.encode(self.look), type=s.Look)
                self.tell(s.Looked(copy))
            case s.RunCheck():
                self.tell(s.Checked(self.check_met, "no"))

    def until(self, now: int) -> None:
        """Let time pass to `now`, stopping at every deadline."""
        while (deadline := self.line.next_deadline_us()) is not None and deadline <= now:
            self.now = max(self.now, deadline)
            self.tell(s.DeadlineReached())
        self.now = now

    def whole(self) -> None:
        """Every overlay link up, every client subscribed, from now on."""
        for link in self.line.plan.overlay:
            for end, peer in ((link.a, link.b), (link.b, link.a)):
                broker = self.look.brokers.setdefault(end, s.BrokerLook(end, settled=True))
                broker.links = [*broker.links, s.LinkLook(peer, up=True, synced=True)]
        self.look.clients["c1"] = s.ClientLook(connected=True)

    def kinds(self) -> list[tuple[int, str, str, str]]:
        records = [effect.event for effect in self.effects if isinstance(effect, s.Record)]
        return [(event.t_us, event.kind, event.type, event.detail) for event in records]

    def count(self, kind: type) -> int:
        return sum(isinstance(effect, kind) for effect in self.effects)

    @property
    def end(self) -> s.Finish | None:
        return next((effect for effect in self.effects if isinstance(effect, s.Finish)), None)


def began(the_plan: Plan, whole: bool = True, **attributes: Any) -> Play:
    play = Play(the_plan)
    for name, value in attributes.items():
        setattr(play, name, value)
    if whole:
        play.whole()
    play.tell(s.Begin())
    return play


# ---------------------------------------------------------------- phases and gates


def test_a_quiet_run_goes_through_its_phases_and_ends_done() -> None:
    play = began(plan())
    play.until(60 * SECOND)
    assert play.kinds() == [
        (0, "PHASE_STARTED", "", "brokers"),
        (0, "PHASE_READY", "", "brokers"),
        (0, "PHASE_STARTED", "", "clients"),
        (500_000, "PHASE_READY", "", "clients"),  # two equal looks, half a second apart
        (11_500_000, "RUN_ENDED", "", "done"),  # ten seconds, then two equal looks a second apart
    ]
    assert play.end == s.Finish("done")
    assert [e.ids for e in play.effects if isinstance(e, s.Start)] == [["B1", "B2"], ["c1"]]


def test_links_are_verified_in_both_directions() -> None:
    play = began(plan(), whole=False)
    play.look.brokers = {"B1": s.BrokerLook(links=[s.LinkLook("B2", up=True)]), "B2": s.BrokerLook()}
    play.until(5 * SECOND)
    assert play.line.stage == "gate"
    assert play.line.gate_reason == "overlay links not up: B1-B2 (B2 has no B1)"
    play.look.brokers["B2"].links = [s.LinkLook("B1", up=True)]
    play.until(6 * SECOND)
    assert (5_500_000, "PHASE_READY", "", "brokers") in play.kinds()


def test_links_to_brokers_that_start_later_do_not_hold_a_gate() -> None:
    phases = [Phase("first", ["B1"], Gate(links_up=True), run_for_us=SECOND)]
    play = began(plan(phases), whole=False)
    play.until(0)
    assert (0, "PHASE_READY", "", "first") in play.kinds()


def test_no_look_is_taken_before_all_processes_are_ready() -> None:
    play = began(plan(), lazy={"B2"})
    play.until(30 * SECOND)
    assert play.count(s.TakeLook) == 0
    play.tell(s.ProcessReady("B2"))
    play.until(31 * SECOND)
    assert (30 * SECOND, "PHASE_READY", "", "brokers") in play.kinds()


def test_settled_waits_while_routing_messages_flow() -> None:
    play = began(plan(), busy=5)
    play.until(3 * SECOND)
    ready = [record for record in play.kinds() if record[1] == "PHASE_READY"]
    assert (
        ready[1][0] == 2_000_000
    )  # looks 2 to 5 (each 0.5 s) see new counters, the sixth is the first quiet


def test_settled_needs_sent_and_received_to_agree() -> None:
    play = began(plan())
    play.look.brokers["B1"].control_sent = 7
    play.look.brokers["B2"].control_received = 5
    play.until(10 * SECOND)
    assert play.line.gate_reason == "2 routing messages sent and not received"
    play.look.brokers["B2"].control_received = 7
    play.until(12 * SECOND)
    assert play.line.stage == "running"


def test_settled_names_the_links_that_still_synchronise() -> None:
    play = began(plan())
    play.look.brokers["B1"].settled = False
    play.look.brokers["B1"].links[0].synced = False
    play.until(3 * SECOND)
    assert play.line.gate_reason == "links still synchronising: B1-B2"
    play.look.brokers["B1"].links[0].synced = True
    play.until(4 * SECOND)
    assert play.line.gate_reason == "not settled: B1", "a broker may have reasons beyond its links"
    play.look.brokers["B1"].settled = True
    play.until(5 * SECOND)
    assert play.line.stage == "running"


def test_settled_names_the_clients_it_waits_for() -> None:
    play = began(plan())
    play.look.clients["c1"] = s.ClientLook(connected=True, subscribed=1, wanted=3)
    play.until(SECOND)
    assert "c1 (1 of 3 subscriptions)" in play.line.gate_reason


@pytest.mark.parametrize(("policy", "status"), [("abort", "failed"), ("continue", None), ("wait", None)])
def test_a_gate_that_times_out(policy: str, status: str | None) -> None:
    gate = Gate(links_up=True, timeout_us=5 * SECOND, on_timeout=policy)  # type: ignore[arg-type]
    play = began(plan([Phase("brokers", ["B1", "B2"], gate, run_for_us=100 * SECOND)]), whole=False)
    play.until(20 * SECOND)
    ended = play.end
    assert (ended.status if ended else None) == status
    stage = {"abort": "finished", "continue": "running", "wait": "gate"}[policy]
    assert play.line.stage == stage
    if policy == "abort":
        assert ended is not None
        assert "overlay links not up: B1-B2" in ended.reason
    else:
        assert play.count(s.Warn) == 1
    if policy == "continue":
        assert (5 * SECOND, "PHASE_READY", "timeout", "brokers") in play.kinds()


def test_a_process_that_never_gets_ready_is_named() -> None:
    play = began(plan(), lazy={"B2"})
    play.until(61 * SECOND)
    assert play.end is not None
    assert play.end.reason == "phase 'brokers' not ready after 60 s: not started: B2"


def test_after_holds_a_phase_that_is_ready_early() -> None:
    gate = Gate(links_up=True, after_us=7 * SECOND)
    play = began(plan([Phase("brokers", ["B1", "B2"], gate), Phase("rest", [], Gate(after_us=SECOND))]))
    play.until(20 * SECOND)
    ready = [record[0] for record in play.kinds() if record[1] == "PHASE_READY"]
    assert ready == [7 * SECOND, 8 * SECOND]


def test_a_custom_check_is_repeated_until_it_is_met() -> None:
    gate = Gate(check=["true"], check_node="B1")
    play = began(plan([Phase("brokers", ["B1", "B2"], gate, run_for_us=SECOND)]), check_met=False)
    play.until(2 * SECOND)
    assert play.count(s.RunCheck) == 5
    play.check_met = True
    play.until(3 * SECOND)
    assert (2_500_000, "PHASE_READY", "", "brokers") in play.kinds()


# ---------------------------------------------------------------- events


def with_events(*events: Event, **options: Any) -> Play:
    return began(plan(events=list(events), **options))


def test_events_happen_at_their_offset_from_the_ready_instant() -> None:
    play = with_events(
        Event("clients", 3 * SECOND, "link_up", "l1"), Event("clients", 1 * SECOND, "link_down", "l1")
    )
    play.until(60 * SECOND)
    changes = [effect for effect in play.effects if isinstance(effect, s.ChangeNetwork)]
    assert [change.action for change in changes] == ["link_down", "link_up"]
    assert (1_500_000, "FAULT_STARTED", "link_down", "l1") in play.kinds()
    assert (4_000_000, "FAULT_ENDED", "link_down", "l1") in play.kinds()  # the first look after the repair


def test_a_killed_broker_is_no_crash_and_its_window_lasts_until_it_is_back() -> None:
    play = with_events(Event("clients", SECOND, "kill", "B2"), Event("clients", 4 * SECOND, "start", "B2"))
    play.until(60 * SECOND)
    assert "CRASHED" not in [record[1] for record in play.kinds()]
    assert (1_500_000, "FAULT_STARTED", "kill", "B2") in play.kinds()
    assert (5_000_000, "FAULT_ENDED", "kill", "B2") in play.kinds()
    assert play.end == s.Finish("done")


def test_a_broker_that_is_started_disturbs_until_the_overlay_has_it() -> None:
    play = with_events(Event("clients", SECOND, "kill", "B2"), Event("clients", 4 * SECOND, "start", "B2"))
    play.until(60 * SECOND)
    windows = [record for record in play.kinds() if record[1].startswith("FAULT_") and record[2] == "start"]
    assert windows == [
        (4_500_000, "FAULT_STARTED", "start", "B2"),
        (5_000_000, "FAULT_ENDED", "start", "B2"),
    ]


def test_what_nobody_repairs_lasts_to_the_end_of_the_run() -> None:
    play = with_events(
        Event("clients", SECOND, "kill", "B2"), Event("clients", 2 * SECOND, "link_down", "l1")
    )
    play.until(60 * SECOND)
    kinds = [record[1:] for record in play.kinds()]
    assert kinds[-3:] == [
        ("FAULT_ENDED", "kill", "B2"),
        ("FAULT_ENDED", "link_down", "l1"),
        ("RUN_ENDED", "", "done"),
    ]
    assert len({record[0] for record in play.kinds()[-3:]}) == 1


def test_a_window_stays_open_while_the_overlay_is_not_whole() -> None:
    play = with_events(Event("clients", SECOND, "restart", "B2"))
    play.until(SECOND)
    play.look.brokers["B1"].links[0].up = False
    play.until(6 * SECOND)
    assert [record for record in play.kinds() if record[1] == "FAULT_ENDED"] == []
    play.look.brokers["B1"].links[0].up = True
    play.until(7 * SECOND)
    assert [record[2:] for record in play.kinds() if record[1] == "FAULT_ENDED"] == [("restart", "B2")]


def test_a_window_stays_open_until_the_clients_are_back() -> None:
    """A broker that is back before its clients have redialled serves nobody yet."""
    play = with_events(Event("clients", SECOND, "restart", "B1"))
    play.until(SECOND)
    play.look.clients["c1"] = s.ClientLook(connected=False)
    play.until(4 * SECOND)
    play.look.clients["c1"] = s.ClientLook(connected=True, subscribed=0, wanted=1)
    play.until(6 * SECOND)
    assert [record for record in play.kinds() if record[1] == "FAULT_ENDED"] == []
    play.look.clients["c1"] = s.ClientLook(connected=True, subscribed=1, wanted=1)
    play.until(7 * SECOND)
    assert [record[2:] for record in play.kinds() if record[1] == "FAULT_ENDED"] == [("restart", "B1")]


def test_clients_of_a_dead_broker_hold_no_other_window_open() -> None:
    play = with_events(Event("clients", SECOND, "kill", "B1"), Event("clients", 2 * SECOND, "restart", "B2"))
    play.until(SECOND)
    play.look.clients["c1"] = s.ClientLook(connected=False)
    play.until(6 * SECOND)
    assert [record[2:] for record in play.kinds() if record[1] == "FAULT_ENDED"] == [("restart", "B2")]


def test_restart_starts_again_only_after_the_end() -> None:
    play = began(plan(events=[Event("clients", SECOND, "restart", "B2")]), deaf={"B2"})
    play.until(5 * SECOND)
    orders = [effect for effect in play.effects if isinstance(effect, s.Start | s.Stop)]
    assert orders[-1] == s.Stop(["B2"])
    assert play.tell(s.ProcessEnded("B2", 0)) == [s.Start(["B2"])]


def test_a_client_that_leaves_disturbs_nobody_else() -> None:
    play = with_events(Event("clients", SECOND, "leave", "c1"))
    play.until(60 * SECOND)
    at = [record[0] for record in play.kinds() if record[1].startswith("FAULT_")]
    assert at == [1_500_000, 1_500_000]


def test_heal_ends_every_partition() -> None:
    play = with_events(
        Event("clients", SECOND, "partition", "west", {"nodes": ["B1"]}),
        Event("clients", 2 * SECOND, "heal"),
    )
    play.until(60 * SECOND)
    assert [record[2:] for record in play.kinds() if record[1] == "FAULT_ENDED"] == [("partition", "west")]


# ---------------------------------------------------------------- crashes


def test_abort_ends_the_run_with_the_last_log_lines() -> None:
    play = began(plan())
    play.until(2 * SECOND)
    play.tell(s.ProcessEnded("B2", -11, "it hurts"))
    assert play.end == s.Finish("failed", "B2 was killed by signal 11\nit hurts")
    assert "CRASHED" in [record[1] for record in play.kinds()]
    assert play.line.next_deadline_us() is None


def test_continue_goes_on_without_the_process() -> None:
    play = began(plan(on_crash="continue"))
    play.until(2 * SECOND)
    play.tell(s.ProcessEnded("B2", 1))
    play.until(60 * SECOND)
    assert play.end == s.Finish("done")
    assert play.count(s.Warn) == 1
    assert [e.ids for e in play.effects if isinstance(e, s.Start)] == [["B1", "B2"], ["c1"]]


def test_continue_during_a_gate_lets_the_others_pass() -> None:
    play = began(plan(on_crash="continue"), lazy={"B2"})
    play.tell(s.ProcessEnded("B2", 1))
    play.until(SECOND)
    assert (0, "PHASE_READY", "", "brokers") in play.kinds()


def test_restart_waits_a_moment_and_closes_the_window() -> None:
    play = began(plan(on_crash="restart"))
    play.until(2 * SECOND)
    play.tell(s.ProcessEnded("B2", 1))
    play.until(60 * SECOND)
    assert (2 * SECOND, "FAULT_STARTED", "crash", "B2") in play.kinds()
    ended = [record for record in play.kinds() if record[1] == "FAULT_ENDED"]
    assert ended == [(2 * SECOND + RESTART_DELAY_US + 500_000, "FAULT_ENDED", "crash", "B2")]
    assert play.end == s.Finish("done")


def test_restart_gives_up_on_a_process_that_always_dies() -> None:
    play = began(plan(on_crash="restart"))
    for _ in range(RESTARTS_ALLOWED + 1):
        play.until(play.now + RESTART_DELAY_US)
        assert play.end is None
        play.tell(s.ProcessEnded("B2", 1))
    assert play.end == s.Finish("failed", f"B2 ended with exit code 1 ({RESTARTS_ALLOWED + 1} times)")


def test_a_program_may_end_by_itself_but_not_in_error() -> None:
    programs = [Program("p", "B1", ["x"], on_crash="abort")]
    phases = [Phase("all", ["B1", "B2", "p"], Gate(links_up=True), run_for_us=10 * SECOND)]
    play = began(plan(phases, programs=programs))
    play.until(SECOND)
    play.tell(s.ProcessEnded("p", 0))
    assert play.end is None
    play = began(plan(phases, programs=programs))
    play.until(SECOND)
    play.tell(s.ProcessEnded("p", 3))
    assert play.end == s.Finish("failed", "p ended with exit code 3")


def test_after_a_broker_died_its_counters_are_not_missed() -> None:
    phases = [
        Phase("brokers", ["B1", "B2"], Gate(links_up=True), run_for_us=2 * SECOND),
        Phase("clients", ["c1"], Gate(subscriptions_settled=True), run_for_us=SECOND),
    ]
    events = [Event("brokers", 0, "kill", "B2"), Event("brokers", SECOND, "start", "B2")]
    play = began(plan(phases, events))
    play.look.brokers["B1"].control_sent = 5
    play.until(60 * SECOND)
    assert play.end == s.Finish("done")


# ---------------------------------------------------------------- the end


def test_stop_is_honoured_at_any_time() -> None:
    for moment in range(0, 11 * SECOND, 500_000):
        play = began(plan())
        play.until(moment)
        play.tell(s.StopRequested("interrupted"))
        assert play.end == s.Finish("aborted", "interrupted")
        assert play.kinds()[-1][1] == "RUN_ENDED"
        assert play.line.next_deadline_us() is None


def test_the_end_waits_for_what_is_under_way() -> None:
    play = began(plan())
    play.until(10 * SECOND)
    for _ in range(5):
        play.until(play.now + SECOND)
        play.look.brokers["B1"].deliveries += 1
    assert play.end is None
    play.until(play.now + 3 * SECOND)
    assert play.end == s.Finish("done")
    assert play.count(s.Quiet) == 1


@pytest.mark.parametrize(
    ("cut", "repair"),
    [(("link_down", "l1"), ("link_up", "l1")), (("partition", "west"), ("heal", ""))],
)
def test_the_end_waits_until_tcp_has_tried_again(cut: tuple[str, str], repair: tuple[str, str]) -> None:
    """After a cut of four seconds a stream may be silent for four more, and has not lost anything."""
    nodes = {"nodes": ["B1"]} if cut[0] == "partition" else {}
    play = with_events(
        Event("clients", 5_900_000, *cut, nodes),  # type: ignore[arg-type]
        Event("clients", 9_900_000, *repair),  # type: ignore[arg-type]
    )
    play.until(60 * SECOND)
    repaired = next(t for t, kind, action, _ in play.kinds() if (kind, action) == ("FAULT_ENDED", cut[0]))
    ended = play.kinds()[-1]
    assert ended[1] == "RUN_ENDED"
    assert ended[0] - repaired >= 4 * SECOND
    assert play.end == s.Finish("done")


def test_a_cut_long_ago_holds_nobody_up() -> None:
    play = with_events(
        Event("clients", SECOND, "link_down", "l1"), Event("clients", 2 * SECOND, "link_up", "l1")
    )
    play.until(60 * SECOND)
    calm = with_events()
    calm.until(60 * SECOND)
    assert play.kinds()[-1] == calm.kinds()[-1]


def test_endless_traffic_does_not_keep_a_run_for_ever() -> None:
    play = began(plan())
    while play.end is None and play.now < 200 * SECOND:
        play.until(play.now + SECOND)
        play.look.brokers["B1"].deliveries += 1
    assert play.end == s.Finish("done")
    assert any("not ceased" in effect.text for effect in play.effects if isinstance(effect, s.Warn))


def test_nothing_happens_after_the_end() -> None:
    play = began(plan())
    play.until(60 * SECOND)
    for stimulus in (
        s.ProcessEnded("B1", 1),
        s.StopRequested("late"),
        s.DeadlineReached(),
        s.Looked(s.Look()),
    ):
        assert play.tell(stimulus) == []
