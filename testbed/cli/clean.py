"""`testbed clean`: remove what killed runs left behind."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("run", required=False)
@click.option("--results", type=click.Path(path_type=Path), default=Path("results"), help="Where to look.")
def command(run: str | None, results: Path) -> int:
    """Remove what killed runs left behind; results stay.

    Only what a run itself recorded (created.json, guest.json) is touched, never anything found by its name,
    and never a deployment that is alive. RUN is a folder, a run id or an experiment; without it, all runs.

    \b
    Examples:
      testbed clean
      testbed clean results/quickstart/latest
    """
    from testbed.emulation.clean import clean, clean_all
    from testbed.emulation.status import locate

    removed = clean(locate(run, results)) if run else clean_all(results)
    for line in removed:
        click.echo(line)
    if not removed:
        click.echo("nothing was left behind")
    return 0
