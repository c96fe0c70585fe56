"""`testbed logs`: what the processes of a run wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from testbed.run.folder import RunFolder


@click.command()
@click.argument("run")
@click.argument("process", required=False)
@click.option("--errors", "only_errors", is_flag=True, help="Why it failed, warnings, and lines of errors.")
@click.option("--out", type=click.Path(path_type=Path), help="Pack the whole run: .tar.gz, .tar.xz or .tar.")
@click.option("--results", type=click.Path(path_type=Path), default=Path("results"), help="Where to look.")
def command(run: str, process: str | None, only_errors: bool, out: Path | None, results: Path) -> int:
    """Show the logs of a run, only the errors in them, or pack the run for somebody else.

    RUN is a run folder, a run id or the name of an experiment. PROCESS is a broker, a client, a program, or
    any other name of the list.

    \b
    Examples:
      testbed logs quickstart                     which logs there are
      testbed logs quickstart B3                  what B3 wrote
      testbed logs quickstart --errors
      testbed logs quickstart --out run.tar.xz
    """
    from testbed.emulation.logs import log_of, pack
    from testbed.emulation.status import locate

    folder = locate(run, results)
    if process is not None:
        click.echo(log_of(folder, process).read_text(encoding="utf-8", errors="replace"), nl=False)
    elif only_errors:
        show_errors(folder)
    elif out is None:
        show_list(folder)
    if out is not None:
        click.echo(f"{out}: {pack(folder, out) / 1e6:.2f} MB", err=True)
    return 0


def show_errors(folder: RunFolder) -> None:
    from testbed.emulation.logs import errors

    manifest = folder.read_manifest()
    told = [f"{manifest.status}: {manifest.reason}"] if manifest.reason else []
    told += [f"warning: {warning}" for warning in manifest.warnings]
    told += [str(line) for line in errors(folder)]
    click.echo("\n".join(told) or "no errors")


def show_list(folder: RunFolder) -> None:
    from testbed.emulation.logs import log_files

    click.echo(f"{folder.path}")
    for name, path in log_files(folder).items():
        with path.open("rb") as file:
            lines = sum(1 for _ in file)
        click.echo(f"  {name:<24} {lines:>6} lines")
