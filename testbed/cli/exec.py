"""`testbed exec`: a command on a host of a running deployment."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--run", help="Run folder, run id or experiment (default: the only one that is up).")
@click.option("--results", type=click.Path(path_type=Path), default=Path("results"), help="Where to look.")
@click.argument("host")
@click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED)
def command(run: str | None, results: Path, host: str, argv: tuple[str, ...]) -> int:
    """Run a command on a host of a running deployment.

    HOST is a host or a broker. The exit code is the command's.

    \b
    Examples:
      testbed exec h1 -- ping -c 3 10.0.0.2
      testbed exec --run quickstart B1 -- ss -tn
    """
    from testbed.emulation.deployment import find

    command_line = argv[1:] if argv[0] == "--" else argv
    return find(run, results).execute(host, command_line)
