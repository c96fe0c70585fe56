"""`testbed deploy`: run an experiment."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from testbed.cli.topology_options import settings_option

if TYPE_CHECKING:
    from protos.records import Manifest
    from testbed.run.deploy import Outcome
    from testbed.run.display import View
    from testbed.run.folder import RunFolder
    from testbed.topology.plan import Plan

ENGINES = ("auto", "host", "guest", "simulate")


@click.command()
@click.argument("topology", type=click.Path(path_type=Path))
@click.option("--engine", type=click.Choice(ENGINES), default="auto", help="Where to run (default: auto).")
@click.option("--clock", type=click.Choice(("virtual", "real")), help="Default: the engine's own.")
@click.option("--results", type=click.Path(path_type=Path, file_okay=False), default=Path("results"),
              help="Folder for run folders (default: results).")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), help="Instead of the file's seed.")
@settings_option
@click.option(
    "--keep", is_flag=True, help="Leave network and brokers up afterwards; 'testbed stop' ends them."
)
@click.option(
    "--memory", type=click.IntRange(min=256), metavar="MB", help="Of a guest (default: from the plan)."
)
@click.option("--on", "place", metavar="[USER@]HOST[:FOLDER]",
              help="Run it over ssh, in the testbed of another machine (default: ~/testbed).")  # fmt: skip
@click.option("--watch", is_flag=True, help="Serve the run's page while it goes on, to this machine only.")
@click.option("--dry-run", is_flag=True, help="Check, say what would run and where, and start nothing.")
@click.option("--json", "as_json", is_flag=True, help="Progress and outcome as JSON lines.")
def command(
    topology: Path, engine: str, clock: str | None, results: Path, seed: int | None,
    settings: tuple[str, ...], keep: bool, memory: int | None, place: str | None, watch: bool, dry_run: bool,
    as_json: bool,
) -> int:  # fmt: skip
    """Run an experiment: network, brokers, clients, timeline, results.

    \b
    Examples:
      testbed deploy topologies/quickstart.yaml
      testbed deploy topo.yaml --engine guest --clock real --results /tmp/runs
      testbed deploy topo.yaml --set duration=10s --set overlay.fanout=3
      testbed deploy topo.yaml --watch           its page, while it runs
      testbed deploy topo.yaml --keep            then: testbed status, exec, shell, stop
      testbed deploy topo.yaml --on me@bigger    on another machine; the results come back here

    Exit code 0: the run is done and the network was as planned. 1: the run failed or was stopped, or the
    round-trip probes were off by more than the limit. 2: wrong use or a bad file; nothing was started.
    """
    plan = load(topology, seed, settings)
    if place is not None and (keep or watch or dry_run):
        raise click.UsageError("--on goes with neither --keep nor --watch nor --dry-run\nfix: leave one out")
    if dry_run:
        return describe(plan, engine, clock)
    if place is not None:
        return run_elsewhere(place, plan, topology, results, engine, clock, memory or 0, as_json)
    return run_plan(plan, topology, results, engine, clock, keep, memory or 0, as_json, watch)


def run_plan(
    plan: Plan, source: Path | None, results: Path, engine: str, clock: str | None, keep: bool = False,
    memory_mb: int = 0, as_json: bool = False, watch: bool = False,
) -> int:  # fmt: skip
    """Choose, prepare, run, and tell; returns the exit code."""
    from testbed.run.deploy import deploy, prepare
    from testbed.run.display import view
    from testbed.run.engine import Options, choose

    chosen, its_clock, reason = choose(engine, clock)
    if keep and chosen.name == "simulate":
        raise click.UsageError(
            "a simulation has nothing to keep\nfix: leave --keep out, or use --engine guest"
        )
    if memory_mb and chosen.name != "guest":
        raise click.UsageError(f"the {chosen.name} engine has no guest\nfix: leave --memory out")
    if not as_json:
        click.echo(f"{plan.name}: {chosen.name} engine, {its_clock} time ({reason})", err=True)
    folder = prepare(plan, source, results, chosen.name, its_clock)
    show = watched(folder, view(as_json)) if watch else view(as_json)
    try:
        outcome = deploy(folder, chosen, Options(its_clock, keep, memory_mb), show)
    finally:
        show.close()
    tell(outcome, as_json)
    return outcome.code


def run_elsewhere(
    place: str, plan: Plan, source: Path, results: Path, engine: str, clock: str | None, memory_mb: int,
    as_json: bool,
) -> int:  # fmt: skip
    """The same on another machine; the run folder comes back."""
    from testbed.emulation.remote.job import Job
    from testbed.emulation.remote.near import deploy_on, parse_place
    from testbed.run.display import view

    where = parse_place(place)
    command_line = shlex.join(["testbed", *sys.argv[1:]])
    text = source.read_text(encoding="utf-8")
    show = view(as_json)
    try:
        outcome = deploy_on(
            where, Job(plan, text, engine, clock or "", memory_mb, command_line), results, show
        )
    finally:
        show.close()
    tell(outcome, as_json)
    return outcome.code


def watched(folder: RunFolder, show: View) -> View:
    """The same view, and a page of the run until it is over; its address is said on standard error."""
    from testbed.report.watch import WatchedView

    both = WatchedView(folder, show)
    click.echo(f"live: {both.address}", err=True)
    return both


def load(topology: Path, seed: int | None, settings: tuple[str, ...] = ()) -> Plan:
    from testbed.topology.load import load_plan_file

    return load_plan_file(topology, seed, settings)


def describe(plan: Plan, engine: str, clock: str | None) -> int:
    """What would run, and where; an engine that cannot run here is an error, as without --dry-run."""
    from testbed.run.engine import choose
    from testbed.topology.show.describe import describe as description

    chosen, its_clock, reason = choose(engine, clock)
    click.echo(description(plan))
    click.echo(f"engine: {chosen.name}, {its_clock} time ({reason})")
    return 0


def tell(outcome: Outcome, as_json: bool) -> None:
    """The last words: how it ended, how good the network was, where everything is."""
    manifest, fidelity = outcome.manifest, outcome.fidelity
    if as_json:
        import msgspec

        last = {
            "t": "outcome",
            "code": outcome.code,
            "folder": str(outcome.folder.path),
            "kept": outcome.kept,
            "manifest": manifest,
            "fidelity": fidelity,
        }
        click.echo(msgspec.json.encode(last).decode())
        return
    click.echo(f"{manifest.status}: {duration(manifest)}")
    if manifest.reason:
        click.echo(f"reason: {manifest.reason}", err=True)
    if fidelity is not None:
        from testbed.run.fidelity import told

        click.echo(told(fidelity))
    if outcome.kept:
        click.echo("the deployment is kept: testbed status | exec HOST -- CMD | shell HOST | cli | stop")
    click.echo(outcome.folder.path)


def duration(manifest: Manifest) -> str:
    wall = f"{manifest.wall_seconds:.1f} s"
    if not manifest.last_us:
        return f"after {wall}"
    return f"{(manifest.last_us - manifest.first_us) / 1e6:.1f} s of {manifest.clock} time in {wall}"
