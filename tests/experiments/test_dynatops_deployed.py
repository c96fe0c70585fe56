"""What is measured of the running system, from a few records, and from a small simulated run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.dynatops.deployed import STEPS, Record, measure, observed
from testbed.run.deploy import deploy, prepare
from testbed.run.engine import Options
from testbed.simulation.engine import SimulateEngine
from testbed.topology.load import load_plan_file


def record(kind: str, t_us: int, node: str = "", message: str = "p:1", **more: Any) -> Record:
    return Record(t_us, kind, node, message=message, **more)


def test_relays_pass_on_below_the_rendezvous_point_and_notify_nobody() -> None:
    seen = observed([
        record("PUBLISHED", 0, "p"),
        record("PROCESSED", 1, "B1", hops=0, leg=1),
        record("PROCESSED", 2, "B2", hops=1, leg=1),  # the rendezvous point
        record("PROCESSED", 3, "B3", hops=2),
        record("PROCESSED", 4, "B4", hops=3),
        record("NOTIFIED", 4, "B4", hops=3),
        record("DELIVERED", 9, "c", hops=3),
    ])  # fmt: skip
    (journey,) = seen.journeys.values()
    assert journey.passed == {"B3", "B4"}
    assert (journey.relays, journey.hops, journey.delays_us) == (1, [3], [9])


def test_windows_lie_around_the_reconfiguration(tmp_path: Path, repository: Path) -> None:
    """On eight simulated brokers with a manager that moves some of them."""
    text = (repository / "topologies" / "dynatops-8.yaml").read_text()
    text = text.replace("cluster_size: 4,", "manager: M, cluster_size: 4,").replace(
        "brokers:\n",
        "brokers:\n  M: {algorithm: {name: reconfiguration, free_period_us: 15000000, demand: 0.0}}\n",
    )
    text = text.replace("broker: random", 'broker: "B{i}"').replace("count: 32", "count: 8")
    text = text[: text.index("events:")]
    file = tmp_path / "small.yaml"
    file.write_text(text)
    plan = load_plan_file(file)
    outcome = deploy(
        prepare(plan, None, tmp_path, "simulate", "simulated"),
        SimulateEngine(),
        Options("simulated"),
        lambda _: None,
    )
    rows = measure(outcome.folder)
    assert [one["outcome"] for one in rows["deployed"]][:1] == ["done"]
    first = rows["deployed"][0]
    assert first["benefit"] > first["price"] > 0
    steps = sum(first[f"{step}_ms"] for step in STEPS)
    assert first["duration_ms"] == pytest.approx(steps, abs=1)
    before, during, after = rows["around"][:3]
    assert [one["window"] for one in rows["around"][:3]] == ["before", "during", "after"]
    assert before["publications"] > during["publications"]
    assert before["doubled"] == during["doubled"] == after["doubled"] == 0
    json.dumps(rows)
