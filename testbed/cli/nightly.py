"""`testbed nightly`: did anything get worse since yesterday?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from testbed.nightly.night import Night

UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds(ctx: click.Context, param: click.Parameter, value: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", value)
    if found is None:
        raise click.BadParameter(f"{value!r} is no time; write 90s, 60m or 8h", ctx, param)
    return float(found[1]) * UNITS[found[2]]


@click.command()
@click.option(
    "--budget", callback=seconds, default="60m", show_default=True, help="Time for all of it: 90s, 60m, 8h."
)
@click.option("--keep", type=click.IntRange(min=1), default=30, show_default=True, help="Nights to keep.")
@click.option(
    "--set", "set_file", type=click.Path(path_type=Path), help="What to run; default: the smoke set."
)
@click.option(
    "--results", type=click.Path(file_okay=False, path_type=Path), default=Path("results"), show_default=True,
    help="Everything goes into RESULTS/nightly.",
)  # fmt: skip
def command(budget: float, keep: int, set_file: Path | None, results: Path) -> int:
    """Run the chosen reproductions and compare with the last nights.

    RESULTS/nightly gets history.jsonl (every number), index.html and a folder per night. Exit code 1: a
    measure got worse, an invariant failed, or a reproduction failed. What did not fit into the budget is
    said, comes first the next night, and is no failure.

    \b
    Examples:
      testbed nightly
      testbed nightly --budget 8h --keep 10 --set my-set.yaml
    """
    from testbed.nightly.choice import DEFAULT, read_choice
    from testbed.nightly.night import run_night, tidy

    choice = read_choice(set_file or DEFAULT)
    folder = results / "nightly"
    night = run_night(folder, choice, budget, lambda line: click.echo(line, err=True))
    write_pages(folder, night)
    for old in tidy(folder, keep):
        click.echo(f"removed night {old}", err=True)
    tell(night)
    click.echo(folder / "index.html")
    return night.code


def write_pages(folder: Path, night: Night) -> None:
    from testbed.nightly.history import read_history
    from testbed.nightly.page import nightly_page
    from testbed.report.paper_page import paper_page
    from testbed.runfolder import write_atomically

    for ran in night.ran:
        if ran.folder:
            write_atomically(folder / ran.folder / "report.html", paper_page(folder / ran.folder).encode())
    text = nightly_page(night, read_history(folder / "history.jsonl"))
    write_atomically(folder / "index.html", text.encode())


def tell(night: Night) -> None:
    """What is not the same, and how much is."""
    for ran in night.ran:
        for line in ran.invariants:
            click.echo(f"invariant failed: {ran.name}: {line}")
    for c in night.comparisons:
        if c.outcome not in ("same", "first"):
            interval = f" (difference {c.low:.4g} to {c.high:.4g})" if c.low == c.low else ""
            why = f"; {c.reason}" if c.reason else ""
            click.echo(
                f"{c.outcome}: {c.reproduction}: {c.measure}: {c.before:.6g} -> {c.now:.6g}{interval}{why}"
            )
    count = {
        name: sum(c.outcome == name for c in night.comparisons)
        for name in ("worse", "better", "same", "first")
    }
    click.echo(", ".join(f"{n} {name}" for name, n in count.items()))
