"""`testbed topology`: pictures, imports and exports of topology files."""

from __future__ import annotations

import re
from pathlib import Path

import click

from testbed.cli.topology_options import settings_option

FILE = click.Path(path_type=Path)
MATRIX_HINT = "a matrix of round trips is n lines of n values in ms"


@click.group()
def command() -> None:
    """Show, import and export topology files.

    \b
    Examples:
      testbed topology show topologies/quickstart.yaml --out quickstart.svg
      testbed topology show topologies/transit-stub-100.yaml
      testbed topology import-rtt measured.txt --sites 63 --out sites-63.yaml
      testbed topology import-panda old.txt --out new.yaml
      testbed topology schema > topology.schema.json
    """


@command.command()
@click.argument("file", type=FILE)
@click.option("--out", type=FILE, help="Write a picture there (.svg, .png or .pdf).")
@click.option("--seed", type=click.IntRange(min=0), help="Instead of the file's seed.")
@settings_option
def show(file: Path, out: Path | None, seed: int | None, settings: tuple[str, ...]) -> None:
    """Summarise a topology file, and draw its network and overlay.

    \b
    Examples:
      testbed topology show topologies/quickstart.yaml
      testbed topology show topologies/planetlab-63.yaml --out planetlab.svg
    """
    from testbed.errors import InputError
    from testbed.topology.load import load_plan_file
    from testbed.topology.show.picture import draw
    from testbed.topology.show.summary import summarize, summary_lines

    if out is not None and out.suffix not in (".svg", ".png", ".pdf"):
        raise InputError(f"no picture of the kind {out.suffix!r}", hint="name it .svg, .png or .pdf")
    plan = load_plan_file(file, seed, settings)
    click.echo(f"{plan.name} (seed {plan.seed})")
    click.echo(
        f"processes {len(plan.brokers)} brokers, {len(plan.clients)} clients, {len(plan.programs)} programs"
    )
    click.echo("\n".join(summary_lines(summarize(plan))))
    if out is not None:
        try:
            draw(plan, out)
        except OSError as error:
            raise InputError(f"cannot write {out}: {error.strerror}", hint="choose another place") from None
        click.echo(f"picture   {out}")


@command.command("import-rtt")
@click.argument("matrix", type=FILE)
@click.option(
    "--sites", type=click.IntRange(min=2), help="Draw so many of the matrix's sites (default: all)."
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of the draw.")
@click.option("--name", default="rtt", show_default=True, help="Name of the experiment.")
@click.option("--out", type=FILE, help="Write the topology file there instead of printing it.")
def import_rtt_command(matrix: Path, sites: int | None, seed: int, name: str, out: Path | None) -> None:
    """Make a topology file from a matrix of round trips (white space between values, milliseconds).

    Each pair's emulated round trip equals the matrix's, triangle violations included, for up to 500 sites:
    one shaped path per ordered pair through a single switch.

    \b
    Example:
      testbed topology import-rtt measured.txt --sites 63 --seed 10 --out sites-63.yaml
    """
    from testbed.topology.file.problems import refuse, unreadable
    from testbed.topology.generators.rtt_import import import_rtt
    from testbed.topology.generators.rtt_matrix import BadMatrix, parse_matrix
    from testbed.topology.resolve.network import read_text

    try:
        values = parse_matrix(read_text(matrix))
    except OSError as error:
        raise unreadable(matrix, error) from None
    except UnicodeDecodeError:
        raise refuse(matrix, "no text", MATRIX_HINT, 0, 0) from None
    except BadMatrix as error:
        raise refuse(matrix, error.what, MATRIX_HINT, error.line, error.column) from None
    write(import_rtt(values, sites or 0, seed, name, matrix.name), out)


@command.command("import-panda")
@click.argument("file", type=FILE)
@click.option(
    "--linger", type=float, default=60.0, show_default=True, help="Run so long after the last command."
)
@click.option("--out", type=FILE, help="Write the topology file there instead of printing it.")
def import_panda_command(file: Path, linger: float, out: Path | None) -> None:
    """Make a topology file from a PANDA text file.

    \b
    Example:
      testbed topology import-panda old.txt --out new.yaml
    """
    from testbed.topology.load import load_plan_text
    from testbed.topology.panda.commands import read_commands
    from testbed.topology.panda.importer import import_panda

    name = re.sub(r"[^A-Za-z0-9_.-]", "-", file.stem)[:40]
    name = name if name[:1].isalpha() else f"x{name}"[:40]
    imported = import_panda(read_commands(file), name, linger, str(file))
    for note in imported.notes:
        click.echo(f"not carried over: {note}", err=True)
    text = imported.text(file.name)
    load_plan_text(text, str(out or "the new file"))  # nothing is handed out that `validate` rejects
    write(text, out)


@command.command("export-panda")
@click.argument("file", type=FILE)
@click.option("--out", type=FILE, help="Write the PANDA file there instead of printing it.")
def export_panda_command(file: Path, out: Path | None) -> None:
    """Write a topology file as a PANDA text file, as far as PANDA can say it.

    \b
    Example:
      testbed topology export-panda topologies/quickstart.yaml --out quickstart.txt
    """
    from testbed.topology.load import load_plan_file
    from testbed.topology.panda.exporter import export_panda

    exported = export_panda(load_plan_file(file))
    for note in exported.notes:
        click.echo(f"not exported: {note}", err=True)
    write(exported.text, out)


@command.command()
def schema() -> None:
    """Print the JSON schema of topology files, for editors."""
    from testbed.topology.file.docs import schema_text

    click.echo(schema_text(), nl=False)


def write(text: str, out: Path | None) -> None:
    """To the file (only when it does not exist yet), or to standard output."""
    from testbed.errors import InputError

    if out is None:
        click.echo(text, nl=False)
        return
    try:
        with out.open("x", encoding="utf-8") as target:
            target.write(text)
    except FileExistsError:
        raise InputError(f"{out} exists", hint="remove it, or choose another name") from None
    except OSError as error:
        raise InputError(f"cannot write {out}: {error.strerror}", hint="choose another place") from None
    click.echo(f"wrote {out}", err=True)
