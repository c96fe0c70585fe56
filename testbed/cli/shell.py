"""`testbed shell`: a shell on a host of a running deployment."""

from __future__ import annotations

import os
from pathlib import Path

import click


@click.command()
@click.option("--run", help="Run folder, run id or experiment (default: the only one that is up).")
@click.option("--results", type=click.Path(path_type=Path), default=Path("results"), help="Where to look.")
@click.argument("host")
def command(run: str | None, results: Path, host: str) -> int:
    """Open a shell on a host of a running deployment.

    HOST is a host or a broker; the shell is $SHELL in that host's network.

    \b
    Examples:
      testbed shell B1
      testbed shell B1 --run quickstart
    """
    from testbed.emulation.deployment import find

    return find(run, results).execute(host, [os.environ.get("SHELL", "/bin/sh")])
