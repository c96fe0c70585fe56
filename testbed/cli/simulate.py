"""`testbed simulate`: an experiment without a network, at any size."""

from __future__ import annotations

from pathlib import Path

import click

from testbed.cli.topology_options import settings_option


@click.command()
@click.argument("topology", type=click.Path(path_type=Path))
@click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    help="Folder for run folders (default: results).",
)
@click.option("--seed", type=click.IntRange(min=0), help="Instead of the file's seed.")
@settings_option
@click.option("--json", "as_json", is_flag=True, help="Progress and outcome as JSON lines.")
def command(topology: Path, results: Path, seed: int | None, settings: tuple[str, ...], as_json: bool) -> int:
    """Simulate an experiment: the same brokers and clients, without processes and network.

    The run folder is that of `testbed deploy --engine simulate`, which this is short for; `testbed analyze`
    makes the same tables from it. Links keep order and have latency, jitter, loss and bandwidth as in the
    file; there are no packets, so nothing is captured or probed.

    \b
    Examples:
      testbed simulate topologies/planetlab-63.yaml
      testbed simulate topo.yaml --seed 7 --results /tmp/runs
      testbed simulate topo.yaml --set clients.sub.spread=4
    """
    from testbed.cli.deploy import load, tell
    from testbed.run.deploy import deploy, prepare
    from testbed.run.display import view
    from testbed.run.engine import Options, choose

    plan = load(topology, seed, settings)
    engine, clock, _ = choose("simulate", None)
    folder = prepare(plan, topology, results, engine.name, clock)
    show = view(as_json)
    try:
        outcome = deploy(folder, engine, Options(clock), show)
    finally:
        show.close()
    tell(outcome, as_json)
    return outcome.code
