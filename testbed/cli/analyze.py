"""Make the tables of one or many runs with Spark."""

from __future__ import annotations

from pathlib import Path

import click

EPILOG = """\b
Examples:
  testbed analyze results/quickstart/latest
  testbed analyze results/sweep/*            one Spark start for all of them
  testbed analyze RUN --master 'local[2]'    or spark://host:7077, yarn, k8s://...
"""


@click.command(epilog=EPILOG)
@click.argument("runs", nargs=-1, required=True, type=click.Path())
@click.option(
    "--master", default="local[*]", show_default=True, help="Where Spark runs, as for spark-submit."
)
@click.option("--quiet", is_flag=True, help="Write the tables and say only what failed.")
def command(runs: tuple[str, ...], master: str, quiet: bool) -> int:
    """Make the tables of one or many runs with Spark.

    Each run folder gets tables/*.parquet and *.csv and verdicts.json. The terminal shows the delay, hop-count
    and overhead tables, the fidelity line and the checks. Exit code 1 when a check failed.
    """
    from rich.console import Console

    from testbed.analysis.pipeline import analyze
    from testbed.run.asker import belongs_to_asker

    progress = Console(stderr=True)
    made = [Path(run, "tables") for run in runs] + [Path(run, "verdicts.json") for run in runs]
    with belongs_to_asker(*made), progress.status("reading run folders") as status:
        analysis = analyze(runs, master, progress=lambda text: status.update(text))
    if not quiet:
        from testbed.analysis.printed_tables import show  # only now: pandas is imported while Spark starts

        show(analysis, Console())
        places = ", ".join(str(run.folder.tables) for run in analysis.runs[:3])
        took = sum(analysis.seconds.values())
        more = ", ..." if len(analysis.runs) > 3 else ""
        many = "1 run" if len(analysis.runs) == 1 else f"{len(analysis.runs)} runs"
        click.echo(f"\n{many} analysed in {took:.1f} s; tables in {places}{more}")
    for run, verdict in analysis.failed if quiet else []:
        click.echo(f"{run}: {verdict.name}: {verdict.reason}", err=True)
    return 1 if analysis.failed else 0
