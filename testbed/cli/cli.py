"""`testbed cli`: Mininet's own prompt on a running deployment."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("run", required=False)
@click.option("--results", type=click.Path(path_type=Path), default=Path("results"), help="Where to look.")
def command(run: str | None, results: Path) -> int:
    """Open Mininet's prompt on a running deployment.

    RUN is a run folder, a run id or the name of an experiment; without it, the only deployment that is up.
    Leave with `exit`; the deployment stays. Mininet commands (nodes, net, h1 ping h2, ...) work as always.

    \b
    Examples:
      testbed cli
      testbed cli results/quickstart/latest
    """
    from testbed.emulation.deployment import find

    return find(run, results).prompt()
