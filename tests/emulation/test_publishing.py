"""Publications planned and made: counted by hand, against simulated runs, and told when they differ."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import pytest

from protos.records import LogEvent
from testbed.run import stimuli as s
from testbed.run.deploy import deploy, prepare
from testbed.run.engine import Options
from testbed.run.fidelity import read_events
from testbed.run.publishing import SLACK_US, Planned, differences, planned, summary
from testbed.simulation.engine import SimulateEngine
from testbed.topology.load import load_plan_text
from testbed.topology.plan import Client, Gate, Network, Phase, Plan, PublicationPlan
from testbed.workload.schedule import offsets_us
from tests.emulation.test_runner_timeline import SECOND, began
from tests.emulation.test_runner_timeline import plan as two_brokers

FIRST = SECOND // 2


def source(count: int = 0, arrival: str = "periodic") -> PublicationPlan:
    return PublicationPlan("topic", {"topic": "A"}, SECOND, arrival, FIRST, count)  # type: ignore[arg-type]


def a_plan(publications: PublicationPlan, on_crash: str = "abort") -> Plan:
    client = Client("p", "B1", "B1", publications=publications, seed=7, on_crash=on_crash)  # type: ignore[arg-type]
    return Plan("t", 1, Network(), clients=[client], phases=[Phase("all", ["p"], Gate(), 10 * SECOND)])


def log(*rest: LogEvent, ready: float = 0) -> list[LogEvent]:
    begun = LogEvent(t_us=SECOND, kind="PHASE_STARTED", detail="all")
    return [begun, LogEvent(t_us=int((1 + ready) * SECOND), kind="PHASE_READY", detail="all"), *rest]


def fault(at_s: float, action: str) -> LogEvent:
    return LogEvent(t_us=int((1 + at_s) * SECOND), kind="FAULT_STARTED", type=action, detail="p")


def crash(at_s: float) -> LogEvent:
    return LogEvent(t_us=int((1 + at_s) * SECOND), kind="CRASHED", detail="p")


@pytest.mark.parametrize(
    ("publications", "events", "expected"),
    [
        (source(), log(), 10),  # due at 0.5 s, 1.5 s, ... 9.5 s
        (source(), log(ready=5), 15),  # the gate took 5 s, and publications went on
        (source(count=4), log(), 4),
        (source(), log(fault(4, "kill")), 4),
        (source(), log(fault(4, "leave"), fault(6, "join")), 8),  # each start counts from its own instant
        (source(), log(fault(4, "restart")), 10),
        (source(count=3), log(fault(4, "stop"), fault(6, "start")), 6),
        (source(), log(crash(4)), 4),
    ],
)
def test_what_is_due_between_order_and_end(
    publications: PublicationPlan, events: list[LogEvent], expected: int
) -> None:
    found = planned(a_plan(publications), events)["p"]
    assert (found.least, found.most) == (expected, expected)


def test_a_client_that_crashed_is_started_again_after_a_second() -> None:
    found = planned(a_plan(source(), on_crash="restart"), log(crash(4)))["p"]
    assert (found.least, found.most) == (9, 9)


def test_what_is_due_in_the_instant_of_the_end_may_be_made_or_not() -> None:
    found = planned(a_plan(source()), log(ready=0.5))["p"]
    assert (found.least, found.most) == (10, 11)
    assert found.holds(10)
    assert found.holds(11)
    assert not found.holds(9)


def test_poisson_arrivals_are_those_of_the_seed() -> None:
    publications = source(arrival="poisson")
    found = planned(a_plan(publications), log())["p"]
    due = list(itertools.takewhile(lambda at: at <= 10 * SECOND - SLACK_US, offsets_us(publications, 7)))
    assert found.least == len(due) > 0


def test_of_a_run_that_did_not_come_so_far_nothing_is_said() -> None:
    assert planned(a_plan(source()), log()[:1]) == {}


def test_differences_in_words() -> None:
    wanted = {"p": Planned(30, 30), "q": Planned(29, 30), "r": Planned(30, 30)}
    made = {"p": 29, "q": 29}
    assert differences(wanted, made) == ["p made 29 of 30", "r made 0 of 30"]
    assert summary(wanted, made) == "58 publications made, 89 or 90 planned"


# ---------------------------------------------------------------- against runs

CHURN = """
name: publishers-come-and-go
seed: {seed}
duration: 30s
network: {{generator: chain, nodes: 3, link: {{latency: 5ms}}}}
defaults: {{client: {{on_crash: continue}}, broker: {{on_crash: continue}}}}
brokers: {{B: {{count: 3}}}}
overlay: {{generator: chain}}
clients:
  pub:
    {{kind: publisher, count: 6, broker: B1, publish: {{source: stock, rate: 90/min, arrival: {arrival}, parameters: {{symbol: IBM}}}}}}
  sub: {{kind: subscriber, broker: B3, subscribe: ["[class,eq,'STOCK']"]}}
events:
  - {{at: 3s, churn: {{of: [pub], rate: 40/min, lasts: 20s, away: 2s, keep: 2, crash: {crash}}}}}
  - {{at: 10s, kill: B3}}
  - {{at: 14s, start: B3}}
"""  # noqa: E501


@pytest.mark.parametrize(("seed", "arrival", "crash"), [(1, "periodic", "true"), (2, "poisson", "false")])
def test_a_simulated_run_makes_what_is_planned(tmp_path: Path, seed: int, arrival: str, crash: str) -> None:
    plan = load_plan_text(CHURN.format(seed=seed, arrival=arrival, crash=crash))
    folder = prepare(plan, None, tmp_path, "simulate", "simulated")
    outcome = deploy(folder, SimulateEngine(), Options("simulated"), lambda event: None)
    assert outcome.manifest.status == "done"
    assert not any("publications" in warning for warning in outcome.manifest.warnings)
    events = read_events(folder.events / "simulation.jsonl")
    made = Counter(event.node for event in events if event.kind == "PUBLISHED")
    wanted = planned(plan, events)
    assert differences(wanted, made) == []
    assert sum(due.least for due in wanted.values()) > 60
    one = next(iter(made))
    assert differences(wanted, made | {one: made[one] - 2}) != []


# ---------------------------------------------------------------- the run's own warning


def warnings_of(published: int, *changed: LogEvent) -> list[str]:
    plan = two_brokers()
    plan.clients[0].publications = source()
    play = began(plan)
    play.look.clients["c1"] = s.ClientLook(connected=True, published=published)
    play.until(200 * SECOND)
    assert play.end == s.Finish("done", "")
    return [effect.text for effect in play.effects if isinstance(effect, s.Warn)]


def test_a_run_whose_publisher_made_fewer_has_a_warning() -> None:
    assert warnings_of(10) == warnings_of(11) == []
    assert warnings_of(8) == ["publications: c1 made 8 of 10 or 11"]
