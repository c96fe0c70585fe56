"""`testbed stop`: end a running deployment."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("run", required=False)
@click.option("--results", type=click.Path(path_type=Path), default=Path("results"), help="Where to look.")
def command(run: str | None, results: Path) -> int:
    """Stop a running deployment: brokers drain, the network goes, results stay.

    RUN is a run folder, a run id or the name of an experiment; without it, the only deployment that is up.

    \b
    Examples:
      testbed stop
      testbed stop results/quickstart/latest
    """
    from testbed.emulation.deployment import find

    deployment = find(run, results)
    deployment.stop()
    click.echo(f"stopped: {deployment.folder.path}")
    return 0
