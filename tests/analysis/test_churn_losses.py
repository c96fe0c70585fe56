"""Brokers come and go, and every delivery that is lost has its cause: pair by pair, without Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from protos.records import LogEvent
from testbed.analysis.evidence import journeys
from testbed.analysis.evidence.flight import MIN_FLIGHT_US, Motion
from testbed.analysis.evidence.runs import load_runs
from testbed.analysis.evidence.times import RARE, timeline
from testbed.run.deploy import deploy, prepare
from testbed.run.engine import Options
from testbed.simulation.engine import SimulateEngine
from testbed.topology.load import load_plan_text

# The publisher's broker comes back; its advertisement then takes 160 ms to the subscriber, and what the
# subscriber wants as long again. Publications are handed over all the while.
FILE = """
name: churn
seed: 5
duration: 60s
network: {generator: chain, nodes: 5, link: {latency: 40ms}}
defaults: {broker: {on_crash: continue}, client: {on_crash: continue}}
brokers: {B: {count: 5, place: one_per_node}}
overlay: {generator: chain}
clients:
  pub: {kind: publisher, broker: B1, publish: {source: topic, rate: 10/s, parameters: {topic: A}}}
  far: {kind: subscriber, broker: B5, subscribe: ["[class,eq,'A']"]}
events:
  - {at: 5s, kill: B1}
  - {at: 8s, start: B1}
  - {at: 20s, kill: B3}
  - {at: 24s, start: B3}
"""
COUNTS = ("t_us", "n", "hops", "published_us", "queueing_us", "matching_us", "sending_us", "leg")


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    folder = prepare(load_plan_text(FILE), None, tmp_path_factory.mktemp("churn"), "simulate", "simulated")
    deploy(folder, SimulateEngine(), Options("simulated"), lambda event: None)
    blank = {name: getattr(LogEvent(), name) for name in LogEvent.__struct_fields__}
    lines = (folder.events / "simulation.jsonl").read_bytes().splitlines()
    return folder.path, [blank | json.loads(line) for line in lines]


def lost(path: Path, events: list[dict[str, Any]]) -> tuple[pd.DataFrame, journeys.World]:
    """Expected pairs that never came, with cause and fault."""
    (run,) = load_runs([path])
    rare = [event for event in events if event["kind"] in RARE]
    routes, motion = run.routes, Motion(last_us=max(e["t_us"] for e in events if e["kind"] == "DELIVERED"))
    world = journeys.World(
        {process: routes.index[node] for process, node in run.hosts.items()}, routes.latency_us, routes.links,
        timeline(run, rare, motion),
    )  # fmt: skip
    frame = pd.DataFrame([e for e in events if e["kind"] in journeys.KINDS])
    pairs = journeys.run_journeys(frame.assign(run=run.key)[list(journeys.INPUT)], world)
    return pairs[(pairs["expected"] == True) & (pairs["copies"] == 0)], world  # noqa: E712


def test_every_loss_has_a_cause(logged: tuple[Path, list[dict[str, Any]]]) -> None:
    found, _ = lost(*logged)
    causes = found["cause"].value_counts().to_dict()
    assert set(causes) >= {"broker down", "re-advertising"}
    assert "unexplained" not in causes


def test_after_the_publisher_is_back_others_do_not_know_yet_what_it_has(
    logged: tuple[Path, list[dict[str, Any]]],
) -> None:
    """What is handed over in that round trip is lost, in or after the window; later nothing is."""
    path, events = logged
    found, world = lost(path, events)
    linked = [e["t_us"] for e in events if e["kind"] == "LINK_UP" and {e["node"], e["peer"]} == {"B1", "B2"}]
    back = max(*linked, *(gone.end_us for gone in world.timeline.course.absences["pub"]))
    told = found[(found["cause"] == "re-advertising") & (found["published_us"] >= back)]
    late = (told["published_us"] - back)[told["published_us"] < back + 5_000_000]  # B3 is killed later
    assert len(late) > 0
    assert late.max() < 2 * 4 * 40_000 + 100_000 < MIN_FLIGHT_US


def test_a_loss_in_quiet_times_stays_unexplained(logged: tuple[Path, list[dict[str, Any]]]) -> None:
    path, events = logged
    start = next(e["t_us"] for e in events if e["kind"] == "PHASE_READY" and e["detail"] == "publishers")
    quiet = next(e for e in events if e["kind"] == "DELIVERED" and e["published_us"] > start + 40_000_000)
    found, _ = lost(path, [event for event in events if event is not quiet])
    assert found[found["publication"] == quiet["message"]]["cause"].tolist() == ["unexplained"]
    assert found[found["publication"] == quiet["message"]]["fault"].tolist() == [-1]
