"""`testbed status`: what is running, or how a run ended."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("run", required=False)
@click.option("--results", type=click.Path(path_type=Path), default=Path("results"), help="Where to look.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(run: str | None, results: Path, as_json: bool) -> int:
    """Show running deployments, or the state of one run.

    RUN is a run folder, a run id or the name of an experiment; without it, every deployment that is up.

    \b
    Examples:
      testbed status
      testbed status quickstart --json
    """
    from testbed.emulation.status import standing, survey

    reports = [standing(run, results)] if run else survey(results)
    if as_json:
        import msgspec

        click.echo(msgspec.json.encode(reports).decode())
        return 0
    if not reports:
        click.echo("no deployment is running")
    for report in reports:
        click.echo(report.text())
    return 0
