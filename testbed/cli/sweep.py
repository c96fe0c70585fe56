"""`testbed sweep`: many runs of one experiment."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("sweep", type=click.Path(path_type=Path))
@click.option(
    "--master", default="local[*]", show_default=True, help="Where Spark runs, as for spark-submit."
)
@click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    show_default=True,
    help="The sweep's folder is made in it; on a cluster it must be shared.",
)
@click.option("--no-tables", is_flag=True, help="Only run the points.")
def command(sweep: Path, master: str, results: Path, no_tables: bool) -> int:
    """Run a grid of parameters and seeds, each point in its own process and folder, and collect one table.

    Points are Spark tasks: on a cluster each executor boots its own networks. Points that are done are not
    run again; a point that fails is told with its log and does not stop the others.

    \b
    Examples:
      testbed sweep sweep.yaml
      testbed sweep sweep.yaml --master spark://host:7077 --results /shared/results

    \b
    A sweep file:
      name: spread
      topology: planetlab-63.yaml
      engine: simulate
      seeds: [1, 2, 3]
      grid:
        clients.sub.spread: [1, 4, 16, 63]
        algorithm: [{name: pop}, {name: grape, prioritise: load}]
    """
    from testbed.sweep.run import run_sweep

    result = run_sweep(sweep, results, master, lambda line: click.echo(line, err=True), not no_tables)
    again = f", {result.resumed} of them from before" if result.resumed else ""
    points = "point" if len(result.done) == 1 else "points"
    click.echo(f"{len(result.done)} {points} done{again}, {len(result.failed)} failed")
    for name, done in result.failed.items():
        click.echo(f"{name}: {done.reason}\n  log: {result.log(name)}", err=True)
    if result.tables:
        click.echo(f"tables in {result.folder / 'tables'}")
    return 1 if result.failed else 0
