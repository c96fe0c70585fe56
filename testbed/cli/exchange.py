"""`testbed exchange`: one overlay link for another, in a running deployment."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option("--run", help="Run folder, run id or experiment (default: the only one that is up).")
@click.option("--results", type=click.Path(path_type=Path), default=Path("results"), help="Where to look.")
@click.option(
    "--for", "old", required=True, metavar="C-D", help="The link that goes: on the way from A to B."
)
@click.argument("new", metavar="A-B")
def command(run: str | None, results: Path, old: str, new: str) -> int:
    """Exchange an overlay link while publications flow.

    A-B are the brokers of the new link; A orders the exchange. How it ends is in the brokers' event logs
    (EXCHANGED) and, after the run, in the table `exchanges`.

    \b
    Examples:
      testbed exchange B1-B5 --for B2-B3
      testbed exchange --run quickstart B1-B3 --for B1-B2
    """
    from testbed.emulation.deployment import find

    deployment = find(run, results)
    deployment.exchange(_ends(new), _ends(old))
    click.echo(f"told {_ends(new)[0]}: {new} for {old}")
    return 0


def _ends(link: str) -> tuple[str, str]:
    from testbed.errors import InputError

    first, hyphen, second = link.partition("-")
    if not hyphen or not first or not second:
        raise InputError(f"{link!r} is no link", hint="two brokers with a hyphen, as in B1-B5")
    return first, second
