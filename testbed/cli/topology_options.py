"""Options of every verb that reads a topology file. Not a verb."""

from __future__ import annotations

import click

settings_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="PLACE=VALUE",
    help="Instead of the file's value, e.g. clients.sub.spread=4; may be given several times.",
)
