"""A message of another package that no part of a client takes is in the log, whatever drives the client."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from broker_grpc.core.config import BrokerProcessConfig
from protos.records import LogEvent
from testbed.topology.plan import Client, SubscriptionPlan
from testbed.workload.driver import DriverConfig
from tests.emulation.deployments import ROOT, latest, of_kind
from tests.plugin.gossip_site import EXAMPLE, install, renamed, verb
from tests.ports import free_port

PATIENCE_S = 60
# Brokers that send digests to clients as well.
TO_BROKERS = 'if peer.kind == "broker":\n            self.send('
TO_ALL = "if peer.kind:\n            self.send("
THEIR_SIDE = {"        client=(ClientSide((Digest,), memory),),\n": ""}
USELESS = ("digest", "the client has no use for it")

# The answer to the subscription comes behind the digest.
ALICE = """
import asyncio, sys
from broker_grpc.client.api import Client

async def main(address, events):
    async with Client(address, id="alice", broker="B1", events=events) as alice:
        await alice.subscribe("[class,eq,'STOCK']")

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def chatter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it is installed; its sources, with a topology, are beside that."""
    assert TO_BROKERS in (EXAMPLE / "gossip" / "broker.py").read_text()
    folder = tmp_path_factory.mktemp("chatter")
    return install(renamed(EXAMPLE, folder / "sources", "chatter", {TO_BROKERS: TO_ALL} | THEIR_SIDE), folder)


@contextmanager
def running(site: Path, module: str, config: Path) -> Iterator[None]:
    """As a process that finds the package, ended gracefully."""
    with subprocess.Popen([sys.executable, "-m", module, "--config", config], cwd=ROOT, env=env(site)) as one:
        try:
            yield
        finally:
            one.terminate()
    assert one.returncode == 0


def env(site: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}


@pytest.fixture
def address(chatter: Path, tmp_path: Path) -> Iterator[str]:
    """Of a broker that runs."""
    listen = f"127.0.0.1:{free_port()}"
    config = tmp_path / "broker.json"
    config.write_bytes(msgspec.json.encode(BrokerProcessConfig("B1", listen, algorithm={"name": "chatter"})))
    with running(chatter, "broker_grpc", config):
        yield listen


def logged(path: Path) -> list[LogEvent]:
    """Whole lines: the last one may be half written."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [msgspec.json.decode(line, type=LogEvent) for line in lines]


def dropped(events: list[LogEvent]) -> list[tuple[str, str, str]]:
    return [(event.peer, event.type, event.detail) for event in events if event.kind == "DROPPED"]


def test_in_the_simulator(chatter: Path, tmp_path: Path) -> None:
    ring = chatter.parent / "sources" / "ring.yaml"
    done = verb([chatter], "simulate", ring, "--results", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = latest(tmp_path, "chatter-ring")
    clients = {client.id: client.broker for client in folder.read_plan().clients}
    found = [event for event in of_kind(folder, "DROPPED") if event.node in clients]
    assert {event.node: event.peer for event in found} == clients
    assert {(event.type, event.detail) for event in found} == {USELESS}


def test_in_the_load_driver(chatter: Path, address: str, tmp_path: Path) -> None:
    client = Client("alice", "h1", "B1", subscriptions=[SubscriptionPlan("[class,eq,'STOCK']")])
    config = tmp_path / "driver.json"
    config.write_bytes(msgspec.json.encode(DriverConfig("h1", [client], {"B1": address}, str(tmp_path))))
    log = tmp_path / "clients-h1.jsonl"
    give_up_at = time.monotonic() + PATIENCE_S
    with running(chatter, "testbed.workload.driver", config):
        while not any(event.kind == "SUBSCRIBED" for event in logged(log)):
            assert time.monotonic() < give_up_at
            time.sleep(0.1)
    assert dropped(logged(log)) == [("B1", *USELESS)]


def test_in_the_api(chatter: Path, address: str, tmp_path: Path) -> None:
    log = tmp_path / "alice.jsonl"
    command = [sys.executable, "-c", ALICE, address, log]
    subprocess.run(command, cwd=ROOT, env=env(chatter), check=True, timeout=PATIENCE_S)
    assert dropped(logged(log)) == [("B1", *USELESS)]
