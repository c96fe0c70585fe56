"""`testbed reproduce`: a paper's evaluation, from runs to verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from testbed.reproduction.verdict import Verdict

MARKS = {"pass": "[green]pass[/]", "fail": "[red]fail[/]", "unknown": "[yellow]unknown[/]"}


@click.command()
@click.argument("paper")
@click.option("--figure", "figures", multiple=True, help="Only this figure; may be given several times.")
@click.option("--scale", type=click.Choice(["smoke", "full"]), default="smoke", show_default=True)
@click.option("--engine", default="", help="guest, host or simulate; default: what the experiment uses.")
@click.option("--seeds", type=click.IntRange(min=1), help="How many seeds; default: what the scale says.")
@click.option(
    "--master", default="local[*]", show_default=True, help="Where Spark runs, as for spark-submit."
)
@click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Where tables, figures and verdicts go.",
)
@click.option("--only-done", is_flag=True, help="Start nothing: judge the points that are done.")
@click.option("--again", is_flag=True, help="Do again what only rows of an earlier reproduction are left of.")
@click.option("--strict", is_flag=True, help="Exit with 1 when a claim failed.")
def command(
    paper: str,
    figures: tuple[str, ...],
    scale: str,
    engine: str,
    seeds: int | None,
    master: str,
    results: Path,
    only_done: bool,
    again: bool,
    strict: bool,
) -> int:
    """Reproduce the figures of a paper and judge its claims.

    Writes tables, figures and verdicts under RESULTS/<paper>/<scale>/ (with --engine: <scale>-<engine>/). A
    claim that fails is a finding, not an error: the exit code is 0 unless a point failed or --strict was
    given.

    Runs and computations are points of a sweep (see `testbed sweep`): those that are done are not done again,
    and one that fails is told with its log and does not stop the others; claims that rest on it are unknown.
    The rows of points that are done are in points.csv and tables/: a fresh clone goes on from them. With
    --only-done those are judged that there are, of points that are compared the seeds that all of them have.

    \b
    Examples:
      testbed reproduce shadow-tco
      testbed reproduce shadow-tco --scale full --figure 6 --figure 7
      testbed reproduce pop-grape --scale full --master spark://host:7077 --results /shared/results
    """
    from testbed.reproduction.papers import study_of
    from testbed.reproduction.reproduce import reproduce
    from testbed.reproduction.request import Request, ScaleName
    from testbed.run.asker import belongs_to_asker

    chosen = study_of(paper, figures)
    scale_name: ScaleName = "full" if scale == "full" else "smoke"
    request = Request(
        paper,
        scale_name,
        results,
        figures,
        engine,
        seeds or 0,
        lambda line: click.echo(line, err=True),
        master,
        only_done,
        again,
    )
    with belongs_to_asker(request.folder):
        verdicts = reproduce(chosen, request)
    print_verdicts(verdicts)
    click.echo(f"results in {request.folder}")
    if request.failed:
        points = "point" if len(request.failed) == 1 else "points"
        click.echo(f"{len(request.failed)} {points} failed: {', '.join(request.failed)}", err=True)
    failed = any(v.outcome == "fail" for v in verdicts)
    return 1 if request.failed or (strict and failed) else 0


def print_verdicts(verdicts: list[Verdict]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("claim", "fig.", "verdict", "what the paper says", "here"):
        table.add_column(column, overflow="fold")
    for v in verdicts:
        said = f"{v.statement}: {v.stated}"
        table.add_row(v.claim, v.figure, MARKS[v.outcome], said, v.measured or v.reason)
    console = Console()
    console.print(table)
    counts = {name: sum(v.outcome == name for v in verdicts) for name in MARKS}
    console.print(", ".join(f"{n} {name}" for name, n in counts.items()))
