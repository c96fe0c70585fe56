"""Finding a running deployment, and doing things inside it from outside.

RUNFOLDER/deployment.json exists from the moment the processes can be started until everything is down. It
tells the engine, the addresses of the brokers, and where the runner answers (a socket on its kernel).
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from protos.records import Manifest
from testbed.errors import InputError, TestbedError, did_you_mean
from testbed.run.folder import RunFolder, write_atomically
from testbed.topology.plan import Plan

DEPLOYMENT_FILE = "deployment.json"
ATTACH = "testbed.emulation.runner.attach"


class BrokerPlace(msgspec.Struct):
    address: str  # ip:port inside the emulated network
    node: str


class DeploymentRecord(msgspec.Struct):
    run: str
    name: str
    engine: str
    clock: str
    state: str  # running, kept
    service: str  # path of the runner's socket on its kernel
    pid: int  # of the runner on its kernel
    nodes: list[str]
    brokers: dict[str, BrokerPlace]
    tls: dict[str, str] | None = None  # certificate of a client called `visitor`: ca, cert, key


def describe_deployment(
    folder: RunFolder,
    plan: Plan,
    manifest: Manifest,
    state: str,
    service: Path,
    tls: dict[str, str] | None = None,
) -> None:
    record = DeploymentRecord(
        run=manifest.run,
        name=manifest.name,
        engine=manifest.engine,
        clock=manifest.clock,
        state=state,
        service=str(service),
        pid=os.getpid(),
        nodes=[node.id for node in plan.network.nodes if node.kind == "host"],
        brokers={
            broker.id: BrokerPlace(f"{broker.address}:{broker.port}", broker.node) for broker in plan.brokers
        },
        tls=tls,
    )
    data = msgspec.json.format(msgspec.json.encode(record), indent=1)
    write_atomically(folder.path / DEPLOYMENT_FILE, data)


class Deployment:
    """A deployment that is (or was, when its runner is dead) up."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.record = msgspec.json.decode((folder.path / DEPLOYMENT_FILE).read_bytes(), type=DeploymentRecord)

    def known_node(self, node: str) -> str:
        """The host of a name, which may also be a broker's."""
        if node in self.record.brokers:
            return self.record.brokers[node].node
        if node not in self.record.nodes:
            raise InputError(
                f"no host {node!r} in this deployment", hint=did_you_mean(node, self.record.nodes)
            )
        return node

    def execute(self, node: str, argv: Sequence[str]) -> int:
        """Run a command on a host with this process's input, output and error; returns its exit code."""
        return self._attached(["exec", self.known_node(node), *argv])

    def prompt(self) -> int:
        """Mininet's own prompt on the network."""
        return self._attached(["prompt"])

    def status(self) -> dict[str, Any]:
        """What its runner says; an error when there is no runner any more."""
        if self.record.engine == "guest":
            from testbed.emulation.guest import deployment as guest_deployment

            return {"state": self.record.state, **guest_deployment.status(self.folder)}
        from testbed.emulation.runner import attach, service

        said = attach.answer(attach.ask(self.record.service, service.Request("status")))
        status: dict[str, Any] = said["status"]
        return status

    def exchange(self, new: tuple[str, str], old: tuple[str, str]) -> None:
        """Tell the first broker to exchange a link; raises InputError for brokers that are none."""
        for broker in (*new, *old):
            if broker not in self.record.brokers:
                raise InputError(f"no broker {broker!r}", hint=did_you_mean(broker, self.record.brokers))
        code = self._attached(["exchange", *new, *old])
        if code:
            raise TestbedError("the exchange was not ordered")

    def stop(self) -> None:
        """Ask the runner to take everything down, and wait until it has."""
        if self.record.engine == "guest":
            from testbed.emulation.guest import deployment as guest_deployment

            guest_deployment.stop(self.folder)
            return
        from testbed.emulation.runner import attach, service

        runner = os.pidfd_open(self.record.pid)
        attach.answer(attach.ask(self.record.service, service.Request("stop")))
        poll = select.poll()
        poll.register(runner, select.POLLIN)
        poll.poll()
        os.close(runner)

    def _attached(self, arguments: list[str]) -> int:
        if self.record.engine == "guest":
            from testbed.emulation.guest import deployment as guest_deployment

            return guest_deployment.converse(self.folder, self._argv(arguments))
        from testbed.emulation.runner import attach

        return attach.main([self.record.service, *arguments])

    def _argv(self, arguments: list[str]) -> list[str]:
        return [sys.executable, "-m", ATTACH, self.record.service, *arguments]


def find(run: str | Path | None = None, results: Path = Path("results")) -> Deployment:
    """A deployment by folder, run id or experiment; without a name, the only one that is up."""
    candidates = [RunFolder(path.parent) for path in sorted(results.glob(f"*/*/{DEPLOYMENT_FILE}"))]
    candidates = [folder for folder in candidates if folder.path.name != "latest"]
    if run is not None:
        folder = Path(run)
        if (folder / DEPLOYMENT_FILE).exists():
            return Deployment(RunFolder(folder.resolve()))
        candidates = [at for at in candidates if str(run) in (at.path.name, at.path.parent.name)]
    if not candidates:
        what = f"{str(run)!r} is no running deployment" if run is not None else "no deployment is running"
        raise TestbedError(what, hint="'testbed deploy FILE --keep' leaves one running")
    if len(candidates) > 1:
        names = ", ".join(f"{at.path.parent.name}/{at.path.name}" for at in candidates)
        raise InputError(f"several deployments are up: {names}", hint="name one by its folder")
    return Deployment(candidates[0])
