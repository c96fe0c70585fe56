"""5.2, clustered: load1 is "virtually identical" to delay100, delay1 "virtually equivalent" to load100.

A weight of 1 leaves (nearly) all candidates, of which the best by the other metric is taken.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.pop_grape.measures import MOVES
from experiments.pop_grape.points import SMOKE, settings
from experiments.pop_grape.systems import WEIGHTED
from testbed.reproduction.evidence.logs import evidence
from testbed.run.deploy import deploy, prepare
from testbed.run.engine import Options, choose
from testbed.sweep.point import Task, plan_of

TOPOLOGY = Path(__file__).parents[2] / "experiments" / "pop_grape" / "planetlab.yaml"


def placements(folder: Path, system: str) -> dict[str, list[str]]:
    """Where each publisher goes, in order."""
    chosen = settings(SMOKE, "planetlab", WEIGHTED[system], "clustered", 8)
    plan = plan_of(Task("t", str(TOPOLOGY), "simulate", "", 1, chosen))
    engine, clock, _ = choose("simulate", None)
    run = prepare(plan, TOPOLOGY, folder / system, engine.name, clock, "test")
    assert deploy(run, engine, Options(clock), lambda event: None).code == 0
    found: dict[str, list[str]] = {}
    for move in evidence(run, MOVES).marks:
        if move.kind == "MIGRATED":
            found.setdefault(move.node, []).append(move.peer)
    return found


@pytest.mark.slow
def test_the_least_weight_of_one_metric_is_the_full_weight_of_the_other(tmp_path: Path) -> None:
    load100, delay100 = placements(tmp_path, "load100"), placements(tmp_path, "delay100")
    assert placements(tmp_path, "load1") == delay100
    assert placements(tmp_path, "delay1") == load100
    assert load100 != delay100  # else the two sentences would say nothing
