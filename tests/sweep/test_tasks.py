"""Points in processes of their own: retries, time-outs, resume; and whole sweeps on Spark."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pandas
import pytest

from protos.records import Fidelity, Manifest
from testbed.run.deploy import Outcome
from testbed.run.folder import RunFolder
from testbed.sweep.lock import only_sweep, wait_free
from testbed.sweep.point import Done, Task, failed_by_itself, plan_of
from testbed.sweep.run import Effort, run_plans, run_sweep
from testbed.sweep.tasks import attempt, ended, finished
from testbed.sweep.view import PlainSweep, look
from testbed.sweep.wanted import Wanted
from testbed.topology.plan import Plan
from tests.standalone import standalone_cluster

TOPOLOGY = """
name: small
network: {generator: chain, nodes: 2, link: {latency: 5ms}}
brokers: {B: {count: 2}}
duration: 5s
clients:
  p: {broker: B1, publish: {source: topic, rate: 2/s, parameters: {topic: news}}}
  s: {broker: B2, subscribe: ["[class,eq,'news']"]}
"""
# Fails where the link takes longer to come up than the phase waits: a slow network, a good file.
IMPATIENT = (
    TOPOLOGY.replace("duration: 5s\n", "")
    + """
phases:
  - {name: overlay, start: [brokers], ready: {links_up: true, timeout: 2s}}
  - {name: subscribers, start: [s], ready: {subscriptions_settled: true}}
  - {name: publishers, start: [p], run_for: 14s}
"""
)
SLOW = "network.link.latency"


def plan(tmp_path: Path, text: str = TOPOLOGY, **settings: Any) -> tuple[Task, Plan]:
    topology = tmp_path / "t.yaml"
    topology.write_text(text)
    task = Task("point", str(topology), "simulate", "simulated", 1, settings)
    return task, plan_of(task)


def task_folder(tmp_path: Path, text: str = TOPOLOGY, **settings: Any) -> Path:
    folder = tmp_path / "point"
    Wanted(*plan(tmp_path, text, **settings)).prepare(folder)
    return folder


def test_a_point_runs_in_its_own_process_and_folder(tmp_path: Path) -> None:
    folder = task_folder(tmp_path)
    done = attempt(folder, retries=0, timeout_s=600)
    assert done.code == 0
    assert (folder / done.run / "manifest.json").exists()
    assert finished(folder) == done
    assert "ready" in (folder / "log.txt").read_text()  # what it did, not only what went wrong


def test_the_run_of_another_plan_is_not_taken_for_this_one(tmp_path: Path) -> None:
    folder = task_folder(tmp_path)
    done = attempt(folder, retries=0, timeout_s=600)
    task, same = plan(tmp_path)
    assert Wanted(task, same).finished(folder) == done
    assert Wanted(*plan(tmp_path, **{SLOW: "6ms"})).finished(folder) is None
    assert Wanted(msgspec.structs.replace(task, engine="guest"), same).finished(folder) is None
    assert Wanted(msgspec.structs.replace(task, clock="virtual"), same).finished(folder) is None


@pytest.mark.parametrize("lost", ["events", "manifest.json"])
def test_a_run_that_lost_a_part_is_not_taken_for_done(tmp_path: Path, lost: str) -> None:
    folder = task_folder(tmp_path)
    done = attempt(folder, retries=0, timeout_s=600)
    wanted = Wanted(*plan(tmp_path))
    assert wanted.finished(folder) == done
    (folder / done.run / lost).rename(tmp_path / "lost")
    assert wanted.finished(folder) is None


def test_progress_counts_points_that_run_are_done_and_have_failed(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "abcd"]
    for folder, code in zip(folders, (0, 1, None, None), strict=True):
        folder.mkdir()
        if code is not None:
            (folder / "done.json").write_bytes(msgspec.json.encode(Done(folder.name, code, "", "", 1.0)))
    (tmp_path / "c" / "running").touch()
    (tmp_path / "c" / "log.txt").write_text("--- try 1\noverlay: ready\n")
    now = look(folders)
    assert (now.total, now.done, now.failed, list(now.running)) == (4, 1, ["b"], ["c"])
    assert now.running["c"][1] == "overlay: ready"
    assert now.line(60) == "2 of 4 points run, 1 failed, 1 running, about 1:00 left"
    said: list[str] = []
    view = PlainSweep("trial", folders, said.append)
    view()
    view()
    assert len(said) == 1  # a line per change


def test_a_simulation_that_fails_by_itself_is_tried_once_and_told_with_its_run(tmp_path: Path) -> None:
    folder = task_folder(tmp_path, IMPATIENT, **{SLOW: "900ms"})
    done = attempt(folder, retries=1, timeout_s=600)
    assert done.code != 0
    assert "links" in done.reason
    assert tries(folder) == 1  # the second would be the same, event by event
    assert (folder / done.run / "manifest.json").exists()
    assert finished(folder) is None
    assert ended(folder) == done  # the progress counts it


def test_a_point_that_takes_too_long_is_stopped_and_tried_again(tmp_path: Path) -> None:
    folder = task_folder(tmp_path)
    assert "not done after" in attempt(folder, retries=1, timeout_s=0.05).reason
    assert tries(folder) == 2


def test_only_a_simulation_that_came_to_its_end_failed_by_itself(tmp_path: Path) -> None:
    def outcome(engine: str, status: str, whole: bool = True) -> Outcome:
        fidelity = Fidelity("unknown", "") if whole else None
        return Outcome(RunFolder(tmp_path), Manifest(engine=engine, status=status), fidelity, 1, False)

    assert failed_by_itself(outcome("simulate", "failed"))
    assert not failed_by_itself(outcome("guest", "failed"))
    assert not failed_by_itself(outcome("simulate", "aborted"))
    assert not failed_by_itself(outcome("simulate", "failed", whole=False))  # a full disk


def test_a_point_ends_when_nobody_waits_for_it_any_more(tmp_path: Path) -> None:
    folder = task_folder(tmp_path, duration="100h")
    command = [sys.executable, "-m", "testbed.sweep.point", str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdin is not None
    try:
        wait_until(lambda: any(folder.glob("small/*/events/simulation.jsonl")), 300)
        process.stdin.close()
        assert process.wait(120) == 1
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


CLUSTER = "local-cluster[2,1,1024]"  # executors in processes of their own
SPREAD = """
name: trial
topology: t.yaml
seeds: [3]
points:
  - {network.link.latency: 5ms, network.link.bandwidth: 0}
  - {network.link.latency: 30ms, network.link.bandwidth: 10 Mbit/s}
  - {network.link.latency: 900ms}
"""


@pytest.fixture
def master(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """As given, or of a standalone cluster that lasts for the test."""
    if request.param != "spark://":
        yield request.param
        return
    with pytest.MonkeyPatch.context() as patch, standalone_cluster(tmp_path) as address:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        yield address


NIGHTLY = pytest.mark.nightly


@pytest.mark.spark
@pytest.mark.parametrize(
    "master",
    ["local[2]", pytest.param(CLUSTER, marks=NIGHTLY), pytest.param("spark://", marks=NIGHTLY)],
    indirect=True,
)
def test_a_sweep_collects_one_table_tells_what_failed_and_resumes(tmp_path: Path, master: str) -> None:
    (tmp_path / "t.yaml").write_text(IMPATIENT)
    file = tmp_path / "sweep.yaml"
    file.write_text(SPREAD)
    said: list[str] = []
    first = run_sweep(file, tmp_path / "results", master, said.append)
    assert len(first.done) == 2  # the one that fails does not stop the others
    assert len(first.failed) == 1
    for name, failure in first.failed.items():
        assert "latency=900ms" in name
        assert "links" in failure.reason
        assert tries(first.folder / "points" / name) == 1
    assert "trial: 3 of 3 points run, 1 failed" in said
    delay = pandas.read_parquet(first.folder / "tables" / "delay.parquet")
    everything = delay[delay.group_by == "all"].set_index(["set.network.link.latency", "seed"])
    assert set(everything.index) == {("5ms", 3), ("30ms", 3)}
    assert everything.loc["30ms"].p50_us.min() > everything.loc["5ms"].p50_us.max()
    assert set(everything["set.network.link.bandwidth"]) == {"0", "10 Mbit/s"}  # of one type
    told = pandas.read_csv(first.folder / "tables" / "points.csv")
    assert list(told.status) == ["done", "done", "failed"]
    again = run_sweep(file, tmp_path / "results", master, said.append, tables=False)
    assert again.resumed == 2
    assert {tries(again.folder / "points" / name) for name in again.failed} == {2}
    assert {tries(again.folder / "points" / name) for name in again.done} == {1}


def tries(point: Path) -> int:
    return (point / "log.txt").read_text().count("--- try")


ENDLESS_LOGS = "results/endless/points/*/small/*/events/simulation.jsonl"


def start_endless(folder: Path) -> subprocess.Popen[bytes]:
    """The command, with two points that take hours; what it says is in `said`."""
    (folder / "t.yaml").write_text(TOPOLOGY.replace("5s", "100h"))
    (folder / "sweep.yaml").write_text("name: endless\ntopology: t.yaml\nseeds: [1, 2]\n")
    return start_command(folder)


# As on a busy machine: what the sweep starts (points, Spark's Python) takes its time over the last steps.
UNHURRIED = """
import atexit, sys, time
if "-m" in sys.orig_argv:
    atexit.register(time.sleep, 2)
"""


def start_command(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", "from testbed.cli import main; main()", "sweep", "sweep.yaml"]
    (folder / "sitecustomize.py").write_text(UNHURRIED)
    with (folder / "said").open("w") as said:
        return subprocess.Popen(
            [*command, "--master", "local[2]"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder)},
            stdout=said,
            stderr=said,
            start_new_session=True,
        )


@pytest.mark.spark
def test_nothing_outlives_a_sweep_that_was_killed(tmp_path: Path) -> None:
    sweep = start_endless(tmp_path)
    try:
        wait_until(lambda: len(list(tmp_path.glob(ENDLESS_LOGS))) >= 2, 300)
        assert len(processes_of(tmp_path)) >= 3
    finally:
        os.kill(sweep.pid, signal.SIGKILL)
        sweep.wait()
    wait_until(lambda: not processes_of(tmp_path), 120)
    points = list((tmp_path / "results" / "endless" / "points").iterdir())
    assert [finished(point) for point in points] == [None, None]  # the next sweep runs them
    assert wait_free(points, 0)
    with only_sweep(tmp_path / "results" / "endless"):  # no lock is left
        pass


@pytest.mark.spark
@pytest.mark.parametrize(
    ("moment", "to"),
    [
        ("start", "process"),
        ("points", "group"),
        pytest.param("start", "group", marks=NIGHTLY),
        pytest.param("points", "process", marks=NIGHTLY),
        pytest.param("tables", "group", marks=NIGHTLY),
        pytest.param("tables", "process", marks=NIGHTLY),
    ],
)
def test_ctrl_c_ends_a_sweep_with_one_word_and_leaves_nothing(tmp_path: Path, moment: str, to: str) -> None:
    """To the whole group, as a terminal does, and to the process alone."""
    if moment == "tables":
        (tmp_path / "t.yaml").write_text(TOPOLOGY)
        (tmp_path / "sweep.yaml").write_text("name: short\ntopology: t.yaml\n")
        sweep = start_command(tmp_path)
    else:
        sweep = start_endless(tmp_path)
    begun = {
        "start": lambda: len(processes_of(tmp_path)) >= 2,
        "points": lambda: len(list(tmp_path.glob(ENDLESS_LOGS))) >= 2,
        "tables": lambda: "reading events" in (tmp_path / "said").read_text(),
    }
    try:
        wait_until(begun[moment], 300)
        (os.killpg if to == "group" else os.kill)(sweep.pid, signal.SIGINT)
        assert sweep.wait(300) == 130
    finally:
        sweep.kill()
        sweep.wait()
    assert processes_of(tmp_path) == []
    text = (tmp_path / "said").read_text()
    assert text.endswith("\ninterrupted\n")
    assert "Traceback" not in text
    assert "rror" not in text


def processes_of(folder: Path) -> list[int]:
    """Those that work in the folder, or have its name on their command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            works = os.readlink(entry / "cwd").startswith(str(folder))
            named = str(folder).encode() in (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if works or named:
            found.append(int(entry.name))
    return found


@pytest.mark.spark
@pytest.mark.guest
@pytest.mark.slow
@pytest.mark.nightly
def test_points_boot_guests_of_their_own(tmp_path: Path) -> None:
    """Two plans made by a program, in the guest, on Spark; the second time nothing is run."""
    plans = {name: plan(tmp_path, **{SLOW: name})[1] for name in ("5ms", "30ms")}
    said: list[str] = []
    first = run_plans("guests", plans, "guest", tmp_path, "local[2]", said.append, Effort(retries=0))
    assert first.failed == {}
    for name in plans:
        run = first.folder / "points" / name / first.done[name].run
        assert msgspec.json.decode((run / "manifest.json").read_bytes())["engine"] == "guest"
        assert msgspec.json.decode((run / "fidelity.json").read_bytes())["verdict"] == "pass"
    assert run_plans("guests", plans, "guest", tmp_path, "local[2]", said.append).resumed == 2
