"""What `testbed pub` and `testbed sub` share: how to reach a broker, and who we say we are. Not a verb."""

from __future__ import annotations

import functools
import os
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from broker_grpc.client.api import Client

AGAIN = "from testbed.cli import main; main()"


@dataclass(frozen=True)
class Connection:
    """A client's way to a broker. `broker` is an address, or the id of a broker of a running deployment."""

    broker: str
    client: str
    run: str | None
    node: str | None
    results: Path
    tls: tuple[Path, Path, Path] | None
    timeout: float

    def open(self) -> Client:
        """For `async with`; the broker must be an address."""
        from broker_grpc.client.api import Client
        from broker_grpc.process.tls import TlsFiles

        files = TlsFiles(*(str(path) for path in self.tls)) if self.tls else None
        return Client(self.broker, self.client, tls=files, connect_timeout_s=self.timeout)

    def run_inside(self, verb: str, rest: list[str]) -> int:
        """The same verb again, on a host of the running deployment, with the broker's address there."""
        from testbed.emulation.deployment import find
        from testbed.errors import InputError, did_you_mean

        deployment = find(self.run, self.results)
        place = deployment.record.brokers.get(self.broker)
        if place is None:
            hint = did_you_mean(self.broker, deployment.record.brokers)
            what = f"{self.broker!r} is neither an address (host:port) nor a broker of this deployment"
            raise InputError(what, hint=hint)
        argv = [sys.executable, "-c", AGAIN, verb, place.address, *self._argv(), *rest]
        return deployment.execute(self.node or place.node, argv)

    def _argv(self) -> list[str]:
        """What holds on a host of the deployment, too."""
        tls = ["--tls", *(str(path.resolve()) for path in self.tls)] if self.tls else []
        return ["--id", self.client, "--timeout", str(self.timeout), *tls]


def client_options(verb: Callable[..., int]) -> Callable[..., int]:
    """The options of a client that connects to a broker, given to the verb as one `Connection`.

    The verb declares the argument `broker` itself: arguments count in the order of their declarations.
    """

    @functools.wraps(verb)
    def connected(
        broker: str,
        client: str | None,
        run: str | None,
        node: str | None,
        results: Path,
        tls: tuple[Path, Path, Path] | None,
        timeout: float,
        **own: Any,
    ) -> int:
        name = client or f"{socket.gethostname()}-{os.getpid()}"
        return verb(Connection(broker, name, run, node, results, tls, timeout), **own)

    file = click.Path(exists=True, dir_okay=False, path_type=Path)
    for option in reversed(
        [
            click.option("--id", "client", help="Id of this client (default: made of host and process)."),
            click.option("--run", help="Of the deployment: run folder, run id or experiment."),
            click.option("--node", help="Host on which the client runs (default: the broker's)."),
            click.option("--results", type=click.Path(path_type=Path), default=Path("results"), hidden=True),
            click.option("--tls", nargs=3, type=file, metavar="CA CERT KEY", help="PEM files for TLS."),
            click.option("--timeout", type=float, default=10.0, help="Seconds to wait for the connection."),
        ]
    ):
        connected = option(connected)
    return connected


def is_address(broker: str) -> bool:
    """Whether it is an address, and not an id. Raises InputError for half an address."""
    from testbed.errors import InputError

    if ":" not in broker:
        if broker.replace(".", "").isdigit():
            raise InputError(f"{broker!r} is no address: it has no port", hint=f"write {broker}:5000")
        return False
    port = broker.rpartition(":")[2]
    if not port.isdigit() or not 0 < int(port) < 65536:
        raise InputError(f"{broker!r} has no port from 1 to 65535", hint="an address is like 10.0.0.1:5000")
    return True
