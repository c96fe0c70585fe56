"""The memory of real brokers, as a part of the study: its points, and the last sample of every broker."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from experiments.pop_grape.memory import PART, rows_of
from experiments.pop_grape.systems import SYSTEMS
from testbed.reproduction.collect import points_of
from testbed.reproduction.reproduce import ask_of
from testbed.reproduction.request import Request
from testbed.run.folder import RunFolder

REAL = Path(__file__).parents[1] / "analysis" / "data" / "small-run"


def test_a_run_of_each_system_on_127_brokers_in_the_guest() -> None:
    request = Request("pop-grape", "full", Path("nowhere"), ("memory",), only_done=True)
    points = points_of(PART.points(ask_of(PART, request)))
    assert [point.labels for point in points] == [{"system": system, "seed": 1} for system in SYSTEMS]
    assert {point.engine for point in points} == {"guest"}


def test_the_last_sample_of_every_broker(tmp_path: Path) -> None:
    shutil.copytree(REAL, tmp_path / "run")
    run = RunFolder(tmp_path / "run")
    names = sorted(b.id for b in run.read_plan().brokers)
    with (run.events / f"{names[0]}.jsonl").open("a") as log:
        for t_us, memory in ((1, 7), (2, 42)):
            event = {"t_us": t_us, "kind": "SAMPLED", "node": names[0], "memory_bytes": memory}
            log.write(json.dumps(event) + "\n")
    rows = list(rows_of(run)["memory"])
    assert [row["broker"] for row in rows] == names
    assert rows[0]["memory_bytes"] == 42
