"""`--within 50us`: how far times may be apart, for the verbs that compare."""

from __future__ import annotations

import click


class Duration(click.ParamType[int]):
    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from testbed.topology.file.quantities import DURATION, parse

        if str(value).strip("0123456789.") == "" and float(str(value)):
            self.fail(f"{value}: give a unit, like {value}us", param, ctx)
        try:
            return int(parse(value, DURATION))
        except ValueError as error:
            self.fail(str(error), param, ctx)


within_option = click.option(
    "--within",
    "within_us",
    type=Duration(),
    default="0us",
    show_default=True,
    help="Times (columns in microseconds) this close count as same.",
)
