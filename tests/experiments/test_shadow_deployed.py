"""The deployed experiment: its plan, its measures, and the smoke scale on the simulator."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pandas
import pytest

from experiments.shadow_tco.claims.deployed import LARGER, Deployed
from experiments.shadow_tco.deployment import MEASURED, plan_of
from experiments.shadow_tco.larger import OF_500
from experiments.shadow_tco.measures import REPAIR, Observed
from experiments.shadow_tco.paper import STUDY, as_deployed
from experiments.shadow_tco.points import DEPLOYED_SCALES, deployed_points
from experiments.shadow_tco.systems import DEPLOYED
from protos.catalogue import builtin, types_for
from testbed.reproduction.claim import judge
from testbed.reproduction.collect import Found
from testbed.reproduction.evidence.events import Event
from testbed.reproduction.reproduce import reproduce
from testbed.reproduction.request import Request
from testbed.reproduction.rows import Measured
from testbed.reproduction.study import Ask

S = 1_000_000
ROOT = Path(__file__).parents[2]
FULL, SMOKE = (DEPLOYED_SCALES[scale].size for scale in ("full", "smoke"))


def test_all_systems_see_the_same_churn() -> None:
    plans = [plan_of(FULL, system, 1) for system in DEPLOYED]
    assert plans[0].events == plans[1].events == plans[2].events
    assert plans[0].brokers[1:] == plans[2].brokers[1:]
    assert len(plans[0].phases[0].start) == 33


def test_publishers_brokers_stay() -> None:
    plan = plan_of(FULL, "shadow", 1)
    homes = {client.broker for client in plan.clients if client.publications}
    assert len(homes) == FULL.publishers
    assert not homes & {event.target for event in plan.events}


def event(t_s: float, kind: str, node: str = "", **fields: Any) -> Event:
    return Event(round(t_s * S), kind, node=node, **fields)


def observed(*more: Event) -> Observed:
    """B1 and B2 with a subscriber each; B2's misses what is published at 6 s."""
    events = [event(1, "SUBSCRIBED", "s-B1"), event(1, "SUBSCRIBED", "s-B2"), event(20, "RUN_ENDED")]
    for t in range(3, 9):
        events.append(event(t, "PUBLISHED", "p", message=f"p:{t}", content="[class,'news'],[number,1]"))
        events.append(event(t + 0.1, "DELIVERED", "s-B1", message=f"p:{t}"))
        if t != 6:
            events.append(event(t + 0.1, "DELIVERED", "s-B2", message=f"p:{t}"))
    interests = {"B1": ["news"], "B2": ["news"], "B3": ["news"]}
    return Observed([*events, *more], interests, types_for(builtin(), REPAIR))


def churned(up_s: float) -> list[Event]:
    content = '{"round":2,"nodes":2,"links":1,"added":1,"removed":2,"max_degree":1,"average_degree":1.0}'
    return [
        event(5.5, "FAULT_STARTED", "harness", type="kill", detail="B3"),
        event(6.5, "LEFT", "C", peer="B3", detail="no heartbeat"),
        event(6.5, "REPAIRED", "C", peer="B3", content=content),
        event(up_s, "OVERLAY_UP", "C"),
    ]


def test_a_loss_while_the_overlay_is_broken_is_the_gap() -> None:
    seen = observed(*churned(6.6))
    (row,) = seen.rounds()
    assert (row["lost"], row["gap_us"], row["noticed_us"], row["repaired_us"]) == (1, S // 2, S, 1_100_000)
    assert seen.unexplained() == []


def test_a_repair_costs_the_messages_of_its_purposes_until_the_next_fault() -> None:
    types = ("overlay_order", "overlay_report", "topic_interest", "farewell", "heartbeat", "publication")
    sent = [event(6.5, "SENT", "C", peer="B2", type=name, bytes=10) for name in types]
    (row,) = observed(*churned(6.6), event(5, "SENT", "C", type="farewell", bytes=10), *sent).rounds()
    assert (row["repair_messages"], row["repair_bytes"]) == (4, 40)


def test_a_loss_without_a_cause_is_unexplained() -> None:
    assert [one.publication for one in observed().unexplained()] == ["p:6"]


def test_who_was_away_is_owed_nothing() -> None:
    gone = [event(5.5, "DISCONNECTED", "s-B2"), event(6.5, "SUBSCRIBED", "s-B2")]
    assert observed(*gone).lost() == []


def test_duplicates_and_relays_are_counted() -> None:
    seen = observed(
        event(3, "PROCESSED", "B1", message="p:3", peer="p"),
        event(3, "PROCESSED", "B2", message="p:3", peer="B1"),
        event(3, "DROPPED", "B2", message="p:3", peer="B3", detail="duplicate"),
        event(9, "DELIVERED", "s-B1", message="p:3"),
    )
    assert seen.duplicate_factor() == 2.0
    assert seen.relays() == 0
    assert seen.duplicates_delivered() == 1


def test_without_one_of_the_runs_no_claim_is_judged(tmp_path: Path) -> None:
    request = Request("shadow-tco", "full", tmp_path, report=lambda line: None)
    ask = Ask(request, DEPLOYED_SCALES["full"], ("simulate", "guest"))
    [points] = deployed_points(ask).values()
    runs = [
        Measured(p, {"runs": [{**p.labels}], "churn": []}, "", "") for p in points if p.title != "guest naive"
    ]
    [case] = as_deployed(ask, Found(tuple(points), tuple(runs)))
    assert len(case.claims) == 10
    assert case.rests_on == ("guest naive",)


# ---------------------------------------------------------------- larger, with computing charged


def test_the_coordinator_is_charged_what_its_algorithm_takes() -> None:
    """And nothing else of the plan differs by it: brokers, clients and churn are those of the others."""
    plans = {
        (charged, system): plan_of(replace(OF_500, charged=charged), system, 1)
        for charged in ("none", "stated")
        for system in DEPLOYED
    }
    told = {key: plan.brokers[0].algorithm for key, plan in plans.items()}
    assert not any("leave_takes_us" in told["none", system] for system in DEPLOYED)
    assert told["stated", "shadow"]["leave_takes_us"] == 333_000
    assert told["stated", "low-oda"]["join_takes_us"] == 18_760_000
    assert len({msgspec.json.encode((p.events, p.brokers[1:], p.clients)) for p in plans.values()}) == 1
    assert len({(b.node, b.port) for b in plans["none", "naive"].brokers}) == 1 + 550


def test_what_is_charged_as_measured_is_what_was_measured() -> None:
    """By a factor: CPU seconds of a busy machine are not those of an idle one."""
    table = pandas.read_csv(ROOT / "results" / "shadow_tco" / "full-larger" / "tables" / "computing.csv")
    assert set(table.brokers) == {100, 500}
    for row in table.itertuples():
        charged = MEASURED[row.brokers][row.system][row.kind == "leave"]
        assert charged / 2.5 < row.mean_us < charged * 2.5, row


@pytest.mark.parametrize(("gap_us", "outcome"), [(18_427_000, "pass"), (1_000_000, "fail"), (30 * S, "fail")])
def test_a_gap_that_is_not_the_computing_time_fails(gap_us: int, outcome: str) -> None:
    gaps = {"shadow": 0, "naive": 2_242_000, "low-oda": gap_us}
    rows = [{"engine": "simulate", "system": s, "kind": "kill", "gap_us": S + g} for s, g in gaps.items()]
    data = Deployed(pandas.DataFrame(rows), pandas.DataFrame(), replace(OF_500, charged="stated"))
    found = {v.claim: v.outcome for v in judge(LARGER, data, "")}
    assert found["E11"] == outcome


@pytest.mark.slow
@pytest.mark.spark
def test_smoke_scale_on_the_simulator(tmp_path: Path) -> None:
    request = Request("shadow-tco", "smoke", tmp_path, ("emulated",), report=lambda line: None)
    verdicts = {v.claim: v.outcome for v in reproduce(STUDY, request)}
    assert {verdicts[claim] for claim in ("E1", "E2", "E3", "E4", "E5", "E6")} == {"pass"}
    assert verdicts["E10"] == "unknown"
    rounds = pandas.read_csv(tmp_path / "shadow_tco" / "smoke-emulated" / "tables" / "churn.csv")
    assert len(rounds) == len(DEPLOYED) * SMOKE.rounds
