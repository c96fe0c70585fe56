"""The fidelity verdict over probes."""

from __future__ import annotations

from pathlib import Path

import pytest

from protos.records import LogEvent, ProbeResult
from testbed.run import fidelity
from testbed.run.display import Situation
from testbed.topology.plan import Event, Link, Network, Node, PairLatency, Plan, Probes


def probe(error_us: float = 0.0, planned_us: int = 10_000, t_us: int = 0) -> ProbeResult:
    return ProbeResult(
        t_us=t_us, source="a", target="b", planned_us=planned_us, measured_us=planned_us + error_us
    )


LIMITS = fidelity.Limits(0.01, 200.0)


def plan(**changes: object) -> Plan:
    return Plan(name="t", seed=1, network=Network(), **changes)  # type: ignore[arg-type]


def test_exact_probes_pass() -> None:
    verdict = fidelity.judge([probe(10)] * 99 + [probe(20)], LIMITS)
    assert (verdict.verdict, verdict.probes, verdict.lost) == ("pass", 100, 0)
    assert (verdict.error_p50_us, verdict.error_p99_us, verdict.error_max_us) == (10, 10, 20)


@pytest.mark.parametrize("sign", [1, -1])
def test_too_early_is_as_wrong_as_too_late(sign: int) -> None:
    assert fidelity.judge([probe(sign * 201)] * 10, LIMITS).verdict == "fail"
    assert fidelity.judge([probe(sign * 200)] * 10, LIMITS).verdict == "pass"


def test_the_larger_of_the_two_limits_counts() -> None:
    assert fidelity.judge([probe(900, planned_us=100_000)] * 10, LIMITS).verdict == "pass"
    assert fidelity.judge([probe(1100, planned_us=100_000)] * 10, LIMITS).verdict == "fail"


def test_one_in_a_hundred_may_be_off_and_is_told() -> None:
    verdict = fidelity.judge([probe(0)] * 99 + [probe(5000)], LIMITS)
    assert verdict.verdict == "pass"
    assert verdict.reason == "1 of 100 probes are off by more than the limit"
    assert fidelity.judge([probe(0)] * 98 + [probe(5000)] * 2, LIMITS).verdict == "fail"


def test_nothing_measured_is_unknown_never_pass() -> None:
    assert fidelity.judge([], LIMITS).verdict == "unknown"
    lost = ProbeResult(source="a", target="b", planned_us=10, measured_us=-1)
    assert fidelity.judge([lost], LIMITS).verdict == "unknown"


def test_lost_probes_fail_only_where_the_plan_loses_none() -> None:
    lost = ProbeResult(source="a", target="b", planned_us=10_000, measured_us=-1)
    probes = [probe(0)] * 90 + [lost] * 10
    assert fidelity.judge(probes, LIMITS).verdict == "fail"
    assert fidelity.judge(probes, LIMITS, lossy=True).verdict == "pass"


def test_limits_come_from_the_clock_unless_the_plan_says() -> None:
    assert fidelity.limits(plan(), "virtual") == fidelity.Limits(0.01, 200.0)
    assert fidelity.limits(plan(), "real") == fidelity.Limits(0.05, 1000.0)
    strict = plan(probes=Probes(limit_relative=0.001, limit_us=50))
    assert fidelity.limits(strict, "virtual") == fidelity.Limits(0.001, 50)


def test_jitter_of_the_plan_is_no_error() -> None:
    network = Network(
        nodes=[Node("a", "host"), Node("s", "switch"), Node("b", "host")],
        links=[
            Link("1", "a", "s", latency_us=1000, jitter_us=100),
            Link("2", "s", "b", latency_us=1000, jitter_us=50),
        ],
        pairs=[PairLatency("a", "b", 0, jitter_us=7)],
    )
    the_plan = Plan(name="t", seed=1, network=network, probes=Probes(pairs=[("a", "b")]))
    tolerated = fidelity.tolerances(the_plan)
    assert tolerated == {("a", "b"): 307}
    assert fidelity.judge([probe(500)] * 10, LIMITS, tolerated).error_max_us == 193


def test_probes_during_network_faults_are_left_out() -> None:
    events = [
        LogEvent(t_us=100_000, kind="FAULT_STARTED", type="link_down", detail="l"),
        LogEvent(t_us=110_000, kind="FAULT_STARTED", type="kill", detail="B1"),
        LogEvent(t_us=200_000, kind="FAULT_ENDED", type="link_down", detail="l"),
        LogEvent(t_us=900_000, kind="FAULT_STARTED", type="partition", detail="p"),
    ]
    events.append(LogEvent(t_us=600_000, kind="FAULT_STARTED", type="reshape", detail="l"))
    events.append(LogEvent(t_us=600_000, kind="FAULT_ENDED", type="reshape", detail="l"))
    times = [595_000, 0, 95_000, 150_000, 205_000, 300_000, 500_000, 895_000, 5_000_000]
    kept = fidelity.outside_faults([probe(t_us=t) for t in times], events)
    assert [each.t_us for each in kept] == [0, 300_000, 500_000]


def test_a_torn_last_line_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"t_us":1,"source":"a"}\n{"t_us":2}\n{"t_us":3,"sour')
    assert [each.t_us for each in fidelity.read(tmp_path)] == [1, 2]


def test_loss_from_a_reshape_is_planned_loss() -> None:
    reshaped = plan(events=[Event("run", 0, "reshape", "l1", {"loss": 0.2})])
    assert fidelity.loses(reshaped)
    assert not fidelity.loses(plan(events=[Event("run", 0, "reshape", "l1", {"latency_us": 5})]))
    lost = [ProbeResult(source="a", target="b", planned_us=10_000, measured_us=-1)] * 20
    assert fidelity.judge([probe()] * 80 + lost, LIMITS, lossy=fidelity.loses(reshaped)).verdict == "pass"


def test_a_broken_line_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "h1.jsonl").write_bytes(b'{"source":"a"}\n{"source"\n{"source":"b"}\n{"sour')
    assert [found.source for found in fidelity.read(tmp_path)] == ["a", "b"]
    assert fidelity.broken_lines(tmp_path) == ["h1.jsonl:2"]


def test_a_failed_verdict_says_first_why_and_then_how_good_the_rest_was() -> None:
    lost = [ProbeResult(source="a", target="b", planned_us=10_000, measured_us=-1)] * 20
    said = fidelity.told(fidelity.judge([probe(1)] * 80 + lost, LIMITS))
    why = "20 of 100 probes were lost on links without loss"
    assert said.startswith(f"fidelity fail: {why}; 100 probes, 20 lost, error p50 0.001 ms")


def test_progress_counts_the_links_of_a_dead_broker_as_down() -> None:
    seen = Situation()
    for up in (3, 1):
        blank = {"phase": "", "stage": "running", "waiting": "", "delivered": 0}
        pairs = {"brokers": [4, 4], "clients": [0, 0], "links": [up, 3]}
        seen.take({"t": "progress", "clock_us": 1, **blank, **pairs})
    assert seen.links == (1, 3)
