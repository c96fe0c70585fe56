"""`testbed deploy` for real: a kernel of our own, Mininet, brokers and clients in it. Few boots."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from protos.records import LogEvent
from testbed.run.fidelity import read_events
from testbed.run.folder import RunFolder
from testbed.topology.paths import Routing
from testbed.topology.plan import load
from tests.emulation.deployments import (
    PATIENCE_S,
    ROOT,
    command_line,
    events,
    latest,
    of_kind,
    run,
    wait_until_gone,
    write,
)

pytestmark = [pytest.mark.guest, pytest.mark.slow]

# ---------------------------------------------------------------- quickstart, twice


@pytest.fixture(scope="module")
def quickstarts(tmp_path_factory: pytest.TempPathFactory) -> list[RunFolder]:
    """The same file and seed under two hash seeds, side by side."""
    results = tmp_path_factory.mktemp("quickstart")
    topology = ROOT / "topologies" / "quickstart.yaml"
    both = []
    for seed in ("1", "2"):
        arguments = ("deploy", topology, "--engine", "guest", "--results", results / seed)
        both.append(
            subprocess.Popen(
                command_line(*arguments),
                cwd=ROOT,
                env={**os.environ, "PYTHONHASHSEED": seed},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    for process in both:
        output, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, output
    wait_until_gone(results)
    return [latest(results / seed, "quickstart") for seed in ("1", "2")]


def test_quickstart_ends_done_and_faithful(quickstarts: list[RunFolder]) -> None:
    folder = quickstarts[0]
    manifest, fidelity = folder.read_manifest(), folder.read_fidelity()
    assert (manifest.status, manifest.engine, manifest.clock) == ("done", "guest", "virtual")
    assert manifest.warnings == ()
    assert {"grpcio", "mininet", "ryu", "openvswitch", "guest kernel"} <= set(manifest.versions)
    assert fidelity is not None
    assert fidelity.verdict == "pass"
    assert fidelity.probes > 100
    assert fidelity.error_p99_us < 100
    assert manifest.captures
    for capture in manifest.captures:
        assert capture.dropped == 0
        assert (folder.path / capture.file).stat().st_size > 24
    assert not (folder.path / "deployment.json").exists()
    assert not (folder.path / "created.json").exists()


def test_quickstart_loses_nothing(quickstarts: list[RunFolder]) -> None:
    published = {event.message: event.content for event in of_kind(quickstarts[0], "PUBLISHED")}
    delivered = {(event.node, event.message) for event in of_kind(quickstarts[0], "DELIVERED")}
    assert len(published) == 90  # three publishers, one a second, half a minute
    expected = {
        (f"all-{symbol}", message)
        for symbol in ("YHOO", "IBM", "AMZN")
        for message, content in published.items()
        if f"[symbol,'{symbol}']" in content
    }
    assert len(expected) == 90
    assert expected <= delivered


def test_links_come_up_in_their_round_trips(quickstarts: list[RunFolder]) -> None:
    """A dial takes three of them. Measuring the processor first takes 255 ms more."""
    plan = load((quickstarts[0].path / "plan.json").read_bytes())
    hosts = {broker.id: broker.node for broker in plan.brokers}
    routing = Routing(plan.network)
    started = {event.node: event.t_us for event in of_kind(quickstarts[0], "STARTED")}
    seen = 0
    for event in of_kind(quickstarts[0], "LINK_UP"):
        rtt_us = routing.rtt_us(hosts[event.node], hosts[event.peer])
        begun = max(started[event.node], started[event.peer])
        assert event.t_us - begun <= 3 * rtt_us + 20_000, event
        seen += 1
    assert seen == 2 * len(plan.overlay)


def by_message(folder: RunFolder, kind: str) -> dict[tuple[str, str, str], LogEvent]:
    return {(event.node, event.peer, event.message): event for event in of_kind(folder, kind)}


def test_two_runs_of_a_seed_are_the_same(quickstarts: list[RunFolder]) -> None:
    first, second = (by_message(folder, "DELIVERED") for folder in quickstarts)
    assert first.keys() == second.keys()
    for key, event in first.items():
        other = second[key]
        assert event.hops == other.hops
        delays = [each.t_us - each.published_us for each in (event, other)]
        assert abs(delays[0] - delays[1]) <= 100


def overhead(folder: RunFolder) -> dict[tuple[str, str, str, str], int]:
    counts: dict[tuple[str, str, str, str], int] = {}
    for event in events(folder):
        if event.kind in ("FORWARDED", "NOTIFIED", "SENT"):
            key = (event.kind, event.type, event.node, event.peer)
            counts[key] = counts.get(key, 0) + 1
    return counts


def test_two_runs_of_a_seed_send_the_same_messages(quickstarts: list[RunFolder]) -> None:
    assert overhead(quickstarts[0]) == overhead(quickstarts[1])


def table(folder: RunFolder, name: str) -> list[dict[str, str]]:
    """Its rows, without the column that names the run."""
    with (folder.path / "tables" / f"{name}.csv").open(newline="") as file:
        return [{key: value for key, value in row.items() if key != "run"} for row in csv.DictReader(file)]


def test_two_runs_of_a_seed_give_the_same_tables(quickstarts: list[RunFolder]) -> None:
    analyzed = run("analyze", *(folder.path for folder in quickstarts))
    assert analyzed.returncode == 0, analyzed.stderr
    for name in ("hops", "hop_distribution", "overhead", "losses"):
        first, second = (table(folder, name) for folder in quickstarts)
        assert first == second
        assert first or name == "losses"
    delays = [table(folder, "delay") for folder in quickstarts]
    assert len(delays[0]) == len(delays[1]) > 10
    for one, other in zip(*delays, strict=True):
        assert [one[key] for key in ("group_by", "group", "count")] == [
            other[key] for key in ("group_by", "group", "count")
        ]
        for column in ("mean_us", "p50_us", "p90_us", "p95_us", "p99_us", "max_us"):
            assert abs(float(one[column]) - float(other[column])) <= 100, (column, one, other)


# ---------------------------------------------------------------- faults


def test_a_broker_is_killed_a_link_cut_and_both_recover(tmp_path: Path) -> None:
    more = """
events:
  - {at: 3s, kill: B2}
  - {at: 6s, start: B2}
  - {at: 12s, reshape: {link: r1-r2, latency: 30ms}}
"""
    topology = write(tmp_path, "faults", "20s", more=more)
    ran = run("deploy", topology, "--engine", "guest", "--results", tmp_path)
    assert ran.returncode == 0, ran.stderr
    folder = latest(tmp_path, "faults")
    faults = [
        (event.kind, event.type, event.detail) for event in read_events(folder.events / "harness.jsonl")
    ]
    assert ("FAULT_STARTED", "kill", "B2") in faults
    assert ("FAULT_ENDED", "kill", "B2") in faults
    killed, back = (
        next(e.t_us for e in of_kind(folder, kind) if e.detail == "B2")
        for kind in ("FAULT_STARTED", "FAULT_ENDED")
    )
    published = {event.message: event.t_us for event in of_kind(folder, "PUBLISHED")}
    delivered = {event.message for event in of_kind(folder, "DELIVERED")}
    clear = {message for message, t in published.items() if t < killed - 200_000 or t > back + 200_000}
    assert len(clear) > 50
    assert clear <= delivered
    fidelity = folder.read_fidelity()
    assert fidelity is not None
    assert fidelity.verdict == "pass"  # the reshaped link is judged by its new latency


def test_a_network_that_is_not_as_planned_fails_the_run(tmp_path: Path) -> None:
    """Something slows a host down behind the harness's back: the probes see it, the exit code says so."""
    script = "tc qdisc replace dev $(ip -br link | grep -o '^[^@ ]*-eth0') root netem delay 7ms"
    more = f"""
probes: {{every: 200ms}}
programs:
  meddler: {{node: B2, start_at: publishers+2s, command: {json.dumps(["sh", "-c", script])}}}
"""
    ran = run("deploy", write(tmp_path, "slow", "8s", more=more), "--engine", "guest", "--results", tmp_path)
    folder = latest(tmp_path, "slow")
    fidelity = folder.read_fidelity()
    assert fidelity is not None
    assert fidelity.verdict == "fail"
    assert 6_900 < fidelity.error_max_us < 14_100
    assert ran.returncode == 1
    assert "fidelity fail" in ran.stdout
    assert folder.read_manifest().status == "done"  # the run itself went through, and its data are there
    assert len(of_kind(folder, "DELIVERED")) >= 35


# ---------------------------------------------------------------- interruption and death, side by side


@pytest.fixture
def two_running(tmp_path: Path) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """Two long deployments at once, both past the start of their clients."""
    running = {}
    for name in ("interrupted", "killed"):
        topology = write(tmp_path, name, "100000s")
        running[name] = subprocess.Popen(
            command_line("deploy", topology, "--engine", "guest", "--results", tmp_path, "--json"),
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    for process in running.values():
        wait_for_deliveries(process)
    yield running
    for process in running.values():
        if process.poll() is None:
            process.kill()
            process.wait()


def wait_for_deliveries(process: subprocess.Popen[bytes]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        said: dict[str, Any] = msgspec.json.decode(line)
        if said.get("delivered", 0) > 50:
            return
    raise AssertionError("the deployment ended early")


def test_ctrl_c_and_kill_9_lose_nothing_and_leave_nothing(
    two_running: dict[str, subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    interrupted, killed = two_running["interrupted"], two_running["killed"]
    killed.kill()
    interrupted.send_signal(signal.SIGINT)
    interrupted.communicate(timeout=PATIENCE_S)
    killed.wait()
    assert interrupted.returncode == 1
    wait_until_gone(tmp_path)
    for name in two_running:
        folder = latest(tmp_path, name)
        assert folder.read_manifest().status == "aborted"
        published = {event.message for event in of_kind(folder, "PUBLISHED")}
        delivered = {event.message for event in of_kind(folder, "DELIVERED")}
        assert len(delivered) > 50
        assert len(published - delivered) <= 2  # what was on its way when the run ended
        assert of_kind(folder, "STOPPED")
    assert "nothing was left behind" in run("clean", "--results", tmp_path).stdout


# ---------------------------------------------------------------- a kept deployment; the host engine


def test_a_kept_deployment_can_be_used_and_stopped(tmp_path: Path) -> None:
    topology = write(tmp_path, "kept")
    ran = run("deploy", topology, "--engine", "guest", "--results", tmp_path, "--keep")
    assert ran.returncode == 0, ran.stderr
    try:
        assert ": kept" in run("status", "--results", tmp_path).stdout
        asked = run("exec", "--results", tmp_path, "B1", "--", "ip", "-br", "addr")
        assert "10.0.0." in asked.stdout
        assert run("exec", "--results", tmp_path, "B1", "--", "sh", "-c", "exit 7").returncode == 7
        unknown = run("exec", "--results", tmp_path, "nobody", "--", "true")
        assert unknown.returncode == 2
        assert "no host 'nobody'" in unknown.stderr
        assert "is running" in run("clean", "--results", tmp_path).stdout
    finally:
        stopped = run("stop", "--results", tmp_path)
    assert stopped.returncode == 0, stopped.stderr
    wait_until_gone(tmp_path)
    assert run("status", "--results", tmp_path).stdout == "no deployment is running\n"
    assert of_kind(latest(tmp_path, "kept"), "STOPPED")


def test_the_host_engine_runs_where_the_kernel_can_shape_links(tmp_path: Path) -> None:
    """A guest is a machine whose kernel has netem and Open vSwitch: there `auto` takes the host engine."""
    from testbed.emulation.guest.api import Guest, GuestSpec
    from testbed.emulation.kernel import require

    topology = write(tmp_path, "host", "3s")
    with Guest(GuestSpec(kernel=require(), memory_mb=2048, cwd=ROOT, shared=(tmp_path,))) as guest:
        ran = guest.run(command_line("deploy", topology, "--results", tmp_path), timeout=PATIENCE_S)
    assert ran.code == 0, ran.err.decode()
    assert b"host engine" in ran.err
    folder = latest(tmp_path, "host")
    assert (folder.read_manifest().engine, folder.read_manifest().status) == ("host", "done")
    assert len(of_kind(folder, "DELIVERED")) >= 14
