"""Certificates for a run with TLS: a private authority whose keys live as long as the run, and elsewhere."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import msgspec

from broker_grpc.process.tls import CONTROL_ROLE, Authority
from testbed.run.configs import driver_id, serves_control
from testbed.topology.plan import Plan

ORDERLY = "orderly"  # whose certificate has the role to give orders to brokers
VISITOR = "visitor"  # the client id under which people talk to a kept deployment


class Certificates:
    """Made on the kernel of the run, because its clock decides whether a certificate is valid yet."""

    def __init__(self, plan: Plan) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pubsub-testbed-tls-"))
        authority = Authority.create(self.folder)
        addresses = {node.id: node.address for node in plan.network.nodes}
        self.files: dict[str, dict[str, str]] = {}
        for broker in plan.brokers:
            self._keep(authority, broker.id, [broker.address])
        by_node: dict[str, list[str]] = {}
        for client in plan.clients:
            by_node.setdefault(client.node, []).append(client.id)
        for node, clients in by_node.items():
            self._keep(authority, driver_id(node), [addresses[node]], clients)
        self._keep(authority, VISITOR, [])
        if serves_control(plan):
            files = authority.issue(ORDERLY, roles=[CONTROL_ROLE])
            self.files[ORDERLY] = msgspec.to_builtins(files)

    def _keep(
        self, authority: Authority, holder: str, addresses: list[str], also: list[str] | None = None
    ) -> None:
        self.files[holder] = msgspec.to_builtins(authority.issue(holder, addresses, also or []))

    def show(self, folder: Path) -> None:
        """What is no secret goes into the run folder: who was who, to be read when the keys are gone."""
        folder.mkdir(exist_ok=True)
        for path in sorted(self.folder.glob("*.pem")):
            shutil.copyfile(path, folder / path.name)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
