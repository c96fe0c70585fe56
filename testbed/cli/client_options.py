"""What `testbed pub` and `testbed sub` share: how to reach a broker, and who we say we are. Not a verb."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from broker_grpc.process.tls import TlsFiles

Command = TypeVar("Command", bound=Callable[..., Any])
AGAIN = "from testbed.cli import main; main()"


def client_options(function: Command) -> Command:
    """The options of a client that connects to a broker."""
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
        function = option(function)
    return function


def client_id(given: str | None) -> str:
    return given or f"{socket.gethostname()}-{os.getpid()}"


def tls_files(given: tuple[Path, Path, Path] | None) -> TlsFiles | None:
    from broker_grpc.process.tls import TlsFiles

    return TlsFiles(*(str(path) for path in given)) if given else None


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


def run_inside(
    verb: str, broker: str, run: str | None, node: str | None, results: Path, rest: list[str]
) -> int:
    """The same verb again, on a host of the running deployment, with the broker's address there."""
    from testbed.emulation.deployment import find
    from testbed.errors import InputError, did_you_mean

    deployment = find(run, results)
    place = deployment.record.brokers.get(broker)
    if place is None:
        hint = did_you_mean(broker, deployment.record.brokers)
        what = f"{broker!r} is neither an address (host:port) nor a broker of this deployment"
        raise InputError(what, hint=hint)
    argv = [sys.executable, "-c", AGAIN, verb, place.address, *rest]
    return deployment.execute(node or place.node, argv)
