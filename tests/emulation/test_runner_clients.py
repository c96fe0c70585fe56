"""The runner with real brokers and clients on the loopback: deliveries, client faults, TLS, keeping."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from protos.records import LogEvent
from testbed.emulation.deployment import Deployment
from testbed.errors import TestbedError
from testbed.run.fidelity import read_events
from testbed.topology.plan import Client, Event, Phase, PublicationPlan, SubscriptionPlan
from testbed.workload.script import advertisements_of
from tests.emulation.loopback import PATIENCE_S, SECOND, Runner, chain, folder_for, gate, once


def publisher(id: str = "p", **changes: object) -> Client:
    plan = PublicationPlan("stock", {"symbol": "YHOO"}, period_us=50_000, first_us=500_000)
    return Client(id, "B1", "B1", publications=plan, seed=1, **changes)  # type: ignore[arg-type]


def subscriber(id: str = "s", **changes: object) -> Client:
    wanted = [SubscriptionPlan("[class,eq,'STOCK']")]
    return Client(id, "B3", "B3", subscriptions=wanted, seed=2, **changes)  # type: ignore[arg-type]


def events(runner: Runner, kind: str, node: str = "") -> list[LogEvent]:
    files = sorted(runner.folder.events.glob("clients-*.jsonl"))
    found = [event for path in files for event in read_events(path) if event.kind == kind]
    return [event for event in found if node in ("", event.node)]


@pytest.mark.parametrize("tls", [False, True])
def test_everything_published_is_delivered(tmp_path: Path, tls: bool) -> None:
    herald = Client("herald", "B1", "B1", advertisements=advertisements_of(publisher()))
    plan = chain(3, [herald, subscriber()])
    # The way to the subscriber is there before the first publication, however long that takes.
    plan.clients.append(publisher())
    plan.phases.append(Phase("publishers", ["p"], gate(), run_for_us=4 * SECOND))
    plan.tls = tls
    runner = Runner(plan, tmp_path)
    assert runner.end() == 0, runner.log()
    published = [event.message for event in events(runner, "PUBLISHED")]
    assert len(published) > 10
    assert sorted(event.message for event in events(runner, "DELIVERED")) == sorted(published)
    assert {event.hops for event in events(runner, "DELIVERED")} == {2}
    assert runner.folder.read_manifest().tls is tls
    assert not list(runner.folder.path.rglob("*.key"))
    certified = {path.stem for path in runner.folder.certificates.glob("*.pem")}
    assert ({"ca", "B1", "clients-B1"} <= certified) is tls


def test_a_client_leaves_joins_and_is_killed(tmp_path: Path) -> None:
    plan = chain(3, [publisher(), subscriber(), subscriber("late")])
    plan.phases[1].start.remove("late")
    plan.phases[1].run_for_us = SECOND
    log = "events/clients-B3.jsonl"
    heard = [f"""grep -q '"node":"{id}","kind":"DELIVERED"' {log}""" for id in ("s", "late")]
    both = gate(subscriptions_settled=True, check=["sh", "-c", " && ".join(heard)], check_node="B1")
    plan.phases.append(Phase("joined", ["late"], both, run_for_us=2 * SECOND))
    plan.events = [
        Event("clients", 0, "join", "late"),
        Event("joined", 0, "leave", "s"),
        Event("joined", SECOND, "kill", "late"),
    ]
    runner = Runner(plan, tmp_path)
    assert runner.end() == 0, runner.log()
    assert {event.node for event in events(runner, "DELIVERED")} == {"s", "late"}
    assert [event.node for event in events(runner, "UNSUBSCRIBED")].count("s") == 1
    actions = [(event.type, event.detail) for event in runner.harness() if event.kind == "FAULT_ENDED"]
    assert actions == [("join", "late"), ("leave", "s"), ("kill", "late")]


def test_a_load_driver_that_dies_takes_its_clients_along(tmp_path: Path) -> None:
    plan = chain(3, [publisher(), subscriber(on_crash="restart")])
    plan.phases += [once(tmp_path / "crashed"), Phase("again", ["s"], gate(subscriptions_settled=True))]
    runner = Runner(plan, tmp_path)
    runner.wait_for(state="ready", phase="clients")
    while not events(runner, "CONNECTED", "s"):  # a killed process loses what it logged in its last second
        time.sleep(0.1)
    runner.crash("clients-B3")
    runner.wait_for(state="crashed")
    (tmp_path / "crashed").touch()
    assert runner.end() == 0, runner.log()
    crashed = [event for event in runner.harness() if event.kind == "CRASHED"]
    assert [(event.detail, event.content) for event in crashed] == [("s", "s was killed by signal 9")]
    assert len(events(runner, "CONNECTED", "s")) == 2


def test_a_kept_deployment_answers_until_it_is_stopped(tmp_path: Path) -> None:
    runner = Runner(chain(2), tmp_path, "--keep")
    runner.wait_for(t="kept")
    deployment = Deployment(runner.folder)
    status = deployment.status()
    assert (status["state"], status["processes"]) == ("kept", {"B1": "up", "B2": "up"})
    assert runner.folder.read_manifest().status == "done"
    attach = [sys.executable, "-m", "testbed.emulation.runner.attach", deployment.record.service]
    asked = subprocess.run(
        [*attach, "exec", "B1", "sh", "-c", "read word; echo got $word; exit 5"],
        input="hello\n", capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert (asked.returncode, asked.stdout) == (5, "got hello\n")
    deployment.stop()
    assert runner.end() == 0
    assert runner.pids() == []
    assert not (runner.folder.path / "deployment.json").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk can be mounted by root only")
def test_a_full_disk_is_said_and_what_was_written_stays_readable(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2500k", "tmpfs", disk], check=True)
    try:
        busy = publisher()
        assert busy.publications is not None
        busy.publications.period_us = 1_000
        busy.node = "B3"  # in one process with the subscriber: what is published and what is heard keep step
        plan = chain(3, [busy, subscriber()])
        plan.phases[1].run_for_us = 600 * SECOND
        runner = Runner(plan, disk)
        assert runner.end() == 1
        manifest = runner.folder.read_manifest()
        assert manifest.status == "failed"
        assert manifest.reason.startswith("the disk is full")
        assert events(runner, "DELIVERED")
        assert runner.kinds()[-1] == "RUN_ENDED"
        with pytest.raises(TestbedError, match="the disk is full"):
            folder_for(chain(1), disk)
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)
