"""`testbed pub`: publish from the command line."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click

from testbed.cli.client_options import client_id, client_options, is_address, run_inside, tls_files


@click.command()
@click.argument("broker")
@click.argument("content", nargs=-1)
@click.option("--advertise", help="Advertisement (default: the class of each publication).")
@click.option("--payload", default="", help="Text carried by each publication.")
@click.option("--repeat", type=click.IntRange(1), default=1, help="Publish everything so many times.")
@click.option("--every", type=float, default=0.0, help="Seconds between two publications.")
@click.option("--settle", type=float, default=0.5, help="Seconds for the advertisement to reach subscribers.")
@client_options
def command(
    broker: str,
    content: tuple[str, ...],
    advertise: str | None,
    payload: str,
    repeat: int,
    every: float,
    settle: float,
    client: str | None,
    run: str | None,
    node: str | None,
    results: Path,
    tls: tuple[Path, Path, Path] | None,
    timeout: float,
) -> int:
    """Publish to a broker.

    BROKER is an address (host:port), or the id of a broker of a running deployment. CONTENT is one or more
    publications in PADRES text form; without any, lines are read from standard input.

    \b
    Examples:
      testbed pub 127.0.0.1:5000 "[class,'STOCK'],[price,18.5]"
      testbed pub B1 "[class,'STOCK'],[price,18.5]" --repeat 10 --every 0.5
      testbed pub B1 --run results/quickstart/latest < quotes.txt
    """
    lines = list(content) or [line for line in sys.stdin.read().splitlines() if line.strip()]
    if not is_address(broker):
        rest = ["--payload", payload, "--repeat", str(repeat), "--every", str(every), "--settle", str(settle)]
        rest += ["--id", client_id(client), "--timeout", str(timeout)]
        rest += ["--advertise", advertise] if advertise else []
        rest += ["--tls", *(str(path.resolve()) for path in tls)] if tls else []
        return run_inside("pub", broker, run, node, results, [*rest, "--", *lines])
    from broker_grpc.client.api import Client
    from broker_grpc.content.language import parse_publication

    parsed = [parse_publication(line) for line in lines]
    classes = sorted({str(attributes["class"]) for attributes in parsed})
    filters = [advertise] if advertise else [f"[class,eq,'{name}']" for name in classes]

    async def publish() -> int:
        files = tls_files(tls)
        async with Client(broker, client_id(client), tls=files, connect_timeout_s=timeout) as publisher:
            for text in filters:
                await publisher.advertise(text)
            await asyncio.sleep(settle)
            published = 0
            for attributes in parsed * repeat:
                if published and every:
                    await asyncio.sleep(every)
                await publisher.publish(attributes, payload.encode())
                published += 1
        return published

    count = asyncio.run(publish())
    click.echo(f"published {count} to {broker} as {client_id(client)}", err=True)
    return 0
