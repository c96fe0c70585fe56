"""A deployment that is interrupted or killed at every one of its steps: nothing is lost, nothing is left.

A boot per case, so only at night; `test_deploy_guest.py` has one of each in every run.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from protos.records import LogEvent
from testbed.run.folder import RunFolder
from tests.emulation.deployments import ROOT, command_line, latest, run, wait_until_gone, write

pytestmark = [pytest.mark.guest, pytest.mark.nightly]

PATIENCE_S = 300.0
# What the event stream says when the step has begun: the fields that must be there.
STEPS: dict[str, dict[str, Any]] = {
    "booting": {"state": "booting"},
    "network": {"state": "network"},
    "links": {"step": "links"},
    "flows": {"step": "flows"},
    "overlay": {"state": "phase", "phase": "overlay"},
    "subscribers": {"state": "phase", "phase": "subscribers"},
    "publishers": {"state": "ready", "phase": "publishers"},
    "quieting": {"state": "quieting"},
}


def start(topology: Path, results: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command_line("deploy", topology, "--engine", "guest", "--results", results, "--json"),
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def until(process: subprocess.Popen[bytes], step: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        said: dict[str, Any] = msgspec.json.decode(line)
        if STEPS[step].items() <= said.items():
            return
    raise AssertionError(f"the deployment ended before {step}")


def torn_lines(folder: RunFolder) -> list[str]:
    """Files of which more than the last line cannot be read."""
    bad = []
    for path in [*folder.events.glob("*.jsonl"), *folder.probes.glob("*.jsonl")]:
        for line in path.read_bytes().split(b"\n")[:-1]:
            try:
                msgspec.json.decode(line)
            except msgspec.DecodeError:
                bad.append(path.name)
    return bad


def check_folder(results: Path, name: str, statuses: set[str]) -> RunFolder:
    """Readable, and said to be over; after `clean` at the latest."""
    wait_until_gone(results)
    run("clean", "--results", results)
    folder = latest(results, name)
    manifest = folder.read_manifest()
    assert manifest.status in statuses, manifest
    assert manifest.reason or manifest.status == "done"
    assert torn_lines(folder) == []
    assert not [
        path.name for path in folder.path.glob("*.json") if path.name in ("guest.json", "created.json")
    ]
    assert not (folder.path / ".reserve").exists()
    return folder


def published(folder: RunFolder) -> int:
    logs = folder.events.glob("clients-*.jsonl")
    lines = [line for path in logs for line in path.read_bytes().splitlines()]
    return sum(msgspec.json.decode(line, type=LogEvent).kind == "PUBLISHED" for line in lines)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "kill-9"])
def test_at_every_step(tmp_path: Path, step: str, number: signal.Signals) -> None:
    duration = "30s" if step == "quieting" else "100000s"
    process = start(write(tmp_path, "cut", duration), tmp_path)
    try:
        until(process, step)
        process.send_signal(number)
        process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.wait()
    complete = step == "quieting"  # the run may be over before the signal is seen
    codes = {1, 0} if complete else {1}
    assert process.returncode in (codes if number == signal.SIGINT else {-signal.SIGKILL})
    folder = check_folder(tmp_path, "cut", {"aborted", "done"} if complete else {"aborted"})
    if complete:
        assert published(folder) >= 150


@pytest.mark.parametrize("seconds", [0.2, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5])
def test_at_every_instant_of_the_boot(tmp_path: Path, seconds: float) -> None:
    process = start(write(tmp_path, "cut", "100000s"), tmp_path)
    try:
        until(process, "booting")
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 1
    check_folder(tmp_path, "cut", {"aborted"})


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, int]]]:
    """A deployment with publications under way, and the processes outside of it."""
    process = start(write(tmp_path, "cut", "100000s"), tmp_path)
    try:
        until(process, "publishers")
        time.sleep(3)
        control = json.loads((latest(tmp_path, "cut").path / "guest.json").read_bytes())["control"]
        state = json.loads((Path(control) / "state.json").read_bytes())
        yield process, {"keeper": state["keeper"], "kernel": state["guest"]}
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("victim", ["keeper", "kernel"])
def test_what_carries_the_guest_is_killed(
    running: tuple[subprocess.Popen[bytes], dict[str, int]], tmp_path: Path, victim: str
) -> None:
    """What was written stays; what was not is at most the last moments of virtual time."""
    process, processes = running
    os.kill(processes[victim], signal.SIGKILL)
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    last = msgspec.json.decode(out.splitlines()[-1])
    assert last["t"] == "outcome"
    assert "guest" in last["manifest"]["reason"]
    folder = check_folder(tmp_path, "cut", {"failed"})
    assert published(folder) > 0


def test_a_second_ctrl_c_ends_it_at_once(
    running: tuple[subprocess.Popen[bytes], dict[str, int]], tmp_path: Path
) -> None:
    process, _ = running
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    folder = check_folder(tmp_path, "cut", {"aborted"})
    assert published(folder) > 0


@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk can be mounted by root only")
def test_the_disk_fills_up(tmp_path: Path) -> None:
    """Only the harness outside can see it; the run ends in order and says why."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", disk], check=True)
    process = start(write(tmp_path, "cut", "100000s"), disk)
    try:
        until(process, "publishers")
        (disk / "filler").write_bytes(bytes(34 << 20))
        out, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 1
        reason = msgspec.json.decode(out.splitlines()[-1])["manifest"]["reason"]
        assert reason.startswith("the disk is full")
        folder = check_folder(disk, "cut", {"failed"})
        assert published(folder) > 0
        refused = run("deploy", tmp_path / "cut.yaml", "--engine", "guest", "--results", disk)
        assert refused.returncode == 1
        assert "less than 16 MB are free" in refused.stderr
    finally:
        process.kill()
        process.wait()
        subprocess.run(["umount", "--lazy", disk], check=True)
