"""`testbed validate`: is this topology file right?"""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Problems as JSON lines.")
def command(files: tuple[Path, ...], as_json: bool) -> int:
    """Check topology files and tell every problem at once.

    Each problem is one line: file:line:column: what is wrong; what would be right. Nothing is started. The
    exit code is 2 when a file has problems.

    \b
    Examples:
      testbed validate topologies/*.yaml
      testbed validate mine.yaml --json | jq .message
    """
    from testbed.topology.file.problems import InvalidTopology
    from testbed.topology.load import load_plan_file

    worst = 0
    for path in files:
        try:
            plan = load_plan_file(path)
        except InvalidTopology as error:
            worst = error.exit_code
            for problem in error.problems:
                click.echo(json.dumps(problem.fields()) if as_json else str(problem))
            if not as_json:
                count = len(error.problems)
                click.echo(f"{path}: {count} problem{'s' if count > 1 else ''}", err=True)
            continue
        if not as_json:
            what = f"{len(plan.brokers)} brokers, {len(plan.clients)} clients"
            click.echo(f"{path}: good ({what}, {len(plan.network.nodes)} nodes)")
    return worst
