"""`testbed diff`: two results side by side."""

from __future__ import annotations

from pathlib import Path

import click

from testbed.cli.within_option import within_option


@click.command()
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@click.option(
    "--page", "page_file", type=click.Path(dir_okay=False, path_type=Path), help="Write an HTML page."
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=0.0,
    help="Numbers this close count as same (0.01 = 1 %).",
)
@within_option
@click.option("--first", is_flag=True, help="Of two runs of one plan: the first event at which they part.")
@click.option(
    "--ignore", multiple=True, metavar="COLUMN", help="Leave a column out; may be given several times."
)
def command(
    a: Path, b: Path, page_file: Path | None, tolerance: float, within_us: int, first: bool,
    ignore: tuple[str, ...],
) -> int:  # fmt: skip
    """Say which tables of two runs, or of two reproductions, differ, and by how much.

    Exit code 0: the same. 1: different. 2: wrong use, or no tables.

    \b
    Examples:
      testbed diff results/quickstart/20260101T120000-aaaa results/quickstart/latest
      testbed diff before/shadow_tco/smoke results/shadow_tco/smoke --ignore seconds
      testbed diff A B --tolerance 0.01 --page diff.html
      testbed diff A B --within 50us
      testbed diff A B --first --within 20us
    """
    if first:
        return first_difference(a, b, within_us)
    from testbed.compare.page import diff_page
    from testbed.compare.results import compare
    from testbed.compare.text import as_text
    from testbed.run.folder import write_atomically

    found = compare(a, b, tolerance, ignore, within_us)
    click.echo(as_text(found))
    if page_file is not None:
        write_atomically(page_file, diff_page(found).encode())
        click.echo(page_file, err=True)
    return 0 if found.same else 1


def first_difference(a: Path, b: Path, within_us: int) -> int:
    from testbed.compare.first_divergence import first_divergence, told

    found, one, other = first_divergence(a, b, within_us)
    if found is None:
        click.echo(f"{len(one.events):,} events in both, none differs")
        return 0
    for line in told(found, one, other):
        click.echo(line)
    return 1
