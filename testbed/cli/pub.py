"""`testbed pub`: publish from the command line."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from testbed.cli.client_options import Connection, client_options, is_address

if TYPE_CHECKING:
    from protos.content_messages import Value

    Attributes = dict[str, Value]


@dataclass(frozen=True)
class Publishing:
    """What is published, and how: the verb's own options."""

    content: tuple[str, ...]
    advertise: str | None
    payload: str
    repeat: int
    every: float
    settle: float

    def lines(self) -> list[str]:
        return list(self.content) or [line for line in sys.stdin.read().splitlines() if line.strip()]

    def argv(self) -> list[str]:
        pace = ["--repeat", str(self.repeat), "--every", str(self.every), "--settle", str(self.settle)]
        return [
            "--payload",
            self.payload,
            *pace,
            *(["--advertise", self.advertise] if self.advertise else []),
        ]

    def advertisements(self, publications: list[Attributes]) -> list[str]:
        classes = sorted({str(attributes["class"]) for attributes in publications})
        return [self.advertise] if self.advertise else [f"[class,eq,'{name}']" for name in classes]


@click.command()
@click.argument("broker")
@click.argument("content", nargs=-1)
@click.option("--advertise", help="Advertisement (default: the class of each publication).")
@click.option("--payload", default="", help="Text carried by each publication.")
@click.option("--repeat", type=click.IntRange(1), default=1, help="Publish everything so many times.")
@click.option("--every", type=float, default=0.0, help="Seconds between two publications.")
@click.option("--settle", type=float, default=0.5, help="Seconds for the advertisement to reach subscribers.")
@client_options
def command(to: Connection, **options: Any) -> int:
    """Publish to a broker.

    BROKER is an address (host:port), or the id of a broker of a running deployment. CONTENT is one or more
    publications in PADRES text form; without any, lines are read from standard input.

    \b
    Examples:
      testbed pub 127.0.0.1:5000 "[class,'STOCK'],[price,18.5]"
      testbed pub B1 "[class,'STOCK'],[price,18.5]" --repeat 10 --every 0.5
      testbed pub B1 --run results/quickstart/latest < quotes.txt
    """
    how = Publishing(**options)
    lines = how.lines()
    if not is_address(to.broker):
        return to.run_inside("pub", [*how.argv(), "--", *lines])
    from broker_grpc.content.language import parse_publication

    count = asyncio.run(publish(to, how, [parse_publication(line) for line in lines]))
    click.echo(f"published {count} to {to.broker} as {to.client}", err=True)
    return 0


async def publish(to: Connection, how: Publishing, publications: list[Attributes]) -> int:
    """How many were published."""
    published = 0
    async with to.open() as publisher:
        for text in how.advertisements(publications):
            await publisher.advertise(text)
        await asyncio.sleep(how.settle)
        for attributes in publications * how.repeat:
            if published and how.every:
                await asyncio.sleep(how.every)
            await publisher.publish(attributes, how.payload.encode())
            published += 1
    return published
