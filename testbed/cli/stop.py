"""`testbed stop`: end a running deployment."""

from __future__ import annotations

import time
from pathlib import Path

import click


@click.command()
@click.argument("run", required=False)
@click.option("--after", metavar="TIME", default="0s", help="Not now but then, e.g. 30s; Ctrl-C: not at all.")
@click.option("--results", type=click.Path(path_type=Path), default=Path("results"), help="Where to look.")
def command(run: str | None, after: str, results: Path) -> int:
    """Stop a running deployment: brokers drain, the network goes, results stay.

    RUN is a run folder, a run id or the name of an experiment; without it, the only deployment that is up.

    \b
    Examples:
      testbed stop
      testbed stop results/quickstart/latest
      testbed stop --after 10min
    """
    from testbed.emulation.deployment import find
    from testbed.errors import InputError
    from testbed.run.asker import belongs_to_asker
    from testbed.topology.file.quantities import DURATION, BadQuantity, parse

    try:
        wait_s = parse(after, DURATION) / 1e6
    except BadQuantity as error:
        message, _, hint = str(error).partition("; ")
        raise InputError(message, hint=hint) from None
    deployment = find(run, results)
    if wait_s:
        click.echo(f"stopping {deployment.folder.path} in {after}", err=True)
        time.sleep(wait_s)
    with belongs_to_asker(deployment.folder.path):
        deployment.stop()
    click.echo(f"stopped: {deployment.folder.path}")
    return 0
