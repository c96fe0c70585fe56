"""Points in processes of their own: retries, time-outs, resume; and a whole sweep on Spark."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pandas
import pytest

from testbed.sweep.point import Done, Task
from testbed.sweep.run import run_sweep
from testbed.sweep.tasks import attempt, finished

TOPOLOGY = """
name: small
network: {generator: chain, nodes: 2}
brokers: {B: {count: 2}}
duration: 5s
clients:
  p: {broker: B1, publish: {source: topic, rate: 2/s, parameters: {topic: news}}}
  s: {broker: B2, subscribe: ["[class,eq,'news']"]}
"""


def task_folder(tmp_path: Path, **settings: Any) -> Path:
    topology = tmp_path / "t.yaml"
    topology.write_text(TOPOLOGY)
    folder = tmp_path / "point"
    folder.mkdir()
    task = Task("point", str(topology), "simulate", "", 1, settings)
    (folder / "point.json").write_bytes(msgspec.json.encode(task))
    return folder


def test_a_point_runs_in_its_own_process_and_folder(tmp_path: Path) -> None:
    folder = task_folder(tmp_path)
    done = attempt(folder, retries=0, timeout_s=120)
    assert done.code == 0
    assert (folder / done.run / "manifest.json").exists()
    assert finished(folder) == done


def test_a_failing_point_is_tried_again_and_told_with_its_log(tmp_path: Path) -> None:
    folder = task_folder(tmp_path, **{"network.nodes": -1})
    done = attempt(folder, retries=1, timeout_s=120)
    assert done.code != 0
    assert "nodes" in done.reason
    assert (folder / "log.txt").read_text().count("--- try") == 2
    assert finished(folder) is None


def test_a_point_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    folder = task_folder(tmp_path)
    assert "not done after" in attempt(folder, retries=0, timeout_s=0.05).reason


def test_a_point_ends_when_nobody_waits_for_it_any_more(tmp_path: Path) -> None:
    folder = task_folder(tmp_path, duration="100h")
    command = [sys.executable, "-m", "testbed.sweep.point", str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdin is not None
    try:
        wait_until(lambda: any(folder.glob("small/*/events/simulation.jsonl")), 60)
        process.stdin.close()
        assert process.wait(30) == 1
    finally:
        process.kill()
    (manifest,) = folder.glob("small/2*/manifest.json")
    assert msgspec.json.decode(manifest.read_bytes())["status"] == "aborted"
    assert finished(folder) is None


def wait_until(met: Callable[[], bool], seconds: float) -> None:
    limit = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_a_torn_answer_counts_as_not_done(tmp_path: Path) -> None:
    (tmp_path / "done.json").write_bytes(b'{"id": "x", "co')
    assert finished(tmp_path) is None


def test_an_untrusted_run_counts_as_not_done(tmp_path: Path) -> None:
    (tmp_path / "done.json").write_bytes(msgspec.json.encode(Done("x", 1, "run", "fidelity", 1.0)))
    assert finished(tmp_path) is None


@pytest.mark.spark
@pytest.mark.parametrize(
    "master", ["local[2]", pytest.param("local-cluster[2,1,1024]", marks=pytest.mark.nightly)]
)
def test_a_sweep_collects_one_table_and_resumes(tmp_path: Path, master: str) -> None:
    (tmp_path / "t.yaml").write_text(TOPOLOGY)
    file = tmp_path / "sweep.yaml"
    file.write_text('name: trial\ntopology: t.yaml\nseeds: [1, 2]\ngrid: {duration: ["4s", "8s"]}\n')
    said: list[str] = []
    first = run_sweep(file, tmp_path / "results", master, said.append)
    assert len(first.done) == 4
    assert first.failed == {}
    delay = pandas.read_parquet(first.folder / "tables" / "delay.parquet")
    everything = delay[delay.group_by == "all"].set_index(["set.duration", "seed"])["count"]
    assert everything["8s"].min() > everything["4s"].max()
    again = run_sweep(file, tmp_path / "results", master, said.append, tables=False)
    assert again.resumed == 4
