"""`testbed rerun`: repeat a run from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from testbed.cli.within_option import within_option

if TYPE_CHECKING:
    from testbed.run.folder import RunFolder


@click.command()
@click.argument("run")
@click.option(
    "--results", type=click.Path(path_type=Path), default=Path("results"), help="Where to look, and to write."
)
@click.option("--engine", help="Instead of the run's engine.")
@click.option(
    "--diff/--no-diff", "with_diff", default=True, help="Analyse, and say what differs (default: yes)."
)
@click.option("--tolerance", type=click.FloatRange(min=0), default=0.0, help="Of the diff (0.01 = 1 %).")
@within_option
@click.option(
    "--page", type=click.Path(dir_okay=False, path_type=Path), help="The diff as an HTML page, too."
)
@click.option("--json", "as_json", is_flag=True, help="Progress and outcome as JSON lines; without the diff.")
def command(
    run: str,
    results: Path,
    engine: str | None,
    with_diff: bool,
    tolerance: float,
    within_us: int,
    page: Path | None,
    as_json: bool,
) -> int:
    """Repeat a run: the same plan, seed, engine and clock, in a new folder.

    RUN is a run folder, a run id or the name of an experiment (then its latest run). What runs is the
    resolved plan that the run kept, so a changed topology file or generator does not matter. Afterwards the
    tables of both are compared, as by 'testbed diff'; the exit code is that of the new run.

    \b
    Examples:
      testbed rerun results/quickstart/latest
      testbed rerun quickstart --json
    """
    from testbed.cli.deploy import run_plan
    from testbed.emulation.status import locate
    from testbed.run.folder import RunFolder
    from testbed.run.inputs import runnable

    folder = RunFolder(locate(run, results).path.resolve()).required()  # `latest` will be another one
    manifest = folder.read_manifest()
    source = folder.topology if folder.topology.exists() else None
    clock = manifest.clock if engine is None else None
    code = run_plan(runnable(folder), source, results, engine or manifest.engine, clock, as_json=as_json)
    again = RunFolder((results / manifest.name / "latest").resolve())
    if (
        with_diff and not as_json and again.path != folder.path
    ):  # a run that failed differs, and that is what one asks
        tell_difference(folder, again, tolerance, within_us, page)
    return code


def tell_difference(
    before: RunFolder, again: RunFolder, tolerance: float, within_us: int, page: Path | None
) -> None:
    """Make the tables that are missing, and print what differs."""
    from testbed.analysis.pipeline import analyze
    from testbed.compare.page import diff_page
    from testbed.compare.results import compare
    from testbed.compare.text import as_text
    from testbed.run.folder import write_atomically

    lacking = [run for run in (before, again) if not run.tables.exists()]
    if lacking:
        click.echo(f"analysing {len(lacking)} run{'s' if len(lacking) > 1 else ''}", err=True)
        analyze(lacking)
    found = compare(before.path, again.path, tolerance, within_us=within_us)
    click.echo(as_text(found))
    if page is not None:
        write_atomically(page, diff_page(found).encode())
