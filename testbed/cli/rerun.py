"""`testbed rerun`: repeat a run from its folder."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("run")
@click.option(
    "--results", type=click.Path(path_type=Path), default=Path("results"), help="Where to look, and to write."
)
@click.option("--engine", help="Instead of the run's engine.")
@click.option("--json", "as_json", is_flag=True, help="Progress and outcome as JSON lines.")
def command(run: str, results: Path, engine: str | None, as_json: bool) -> int:
    """Repeat a run: the same plan, seed, engine and clock, in a new folder.

    RUN is a run folder, a run id or the name of an experiment (then its latest run). What runs is the
    resolved plan that the run kept, so a changed topology file or generator does not matter.

    \b
    Examples:
      testbed rerun results/quickstart/latest
      testbed rerun quickstart --json
    """
    from testbed.cli.deploy import run_plan
    from testbed.emulation.status import locate

    folder = locate(run, results)
    manifest = folder.read_manifest()
    source = folder.topology if folder.topology.exists() else None
    clock = manifest.clock if engine is None else None
    return run_plan(folder.read_plan(), source, results, engine or manifest.engine, clock, as_json=as_json)
