"""`testbed sub`: subscribe from the command line."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from testbed.cli.client_options import client_id, client_options, is_address, run_inside, tls_files

if TYPE_CHECKING:
    from broker_grpc.client.api import Notification


@click.command()
@click.argument("broker")
@click.argument("filters", nargs=-1, required=True)
@click.option("--count", type=click.IntRange(0), default=0, help="Stop after so many (0: never).")
@click.option("--wait", type=float, default=0.0, help="Stop when none came for so many seconds (0: never).")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line, with id, hops and delay.")
@client_options
def command(
    broker: str,
    filters: tuple[str, ...],
    count: int,
    wait: float,
    as_json: bool,
    client: str | None,
    run: str | None,
    node: str | None,
    results: Path,
    tls: tuple[Path, Path, Path] | None,
    timeout: float,
) -> int:
    """Subscribe at a broker and print what comes.

    BROKER is an address (host:port), or the id of a broker of a running deployment. FILTERS are
    subscriptions in PADRES text form. Exit code 1 when --wait ran out before --count publications came.

    \b
    Examples:
      testbed sub 127.0.0.1:5000 "[class,eq,'STOCK'],[price,>,10]"
      testbed sub B3 "[class,eq,'STOCK']" --count 5 --json
    """
    if not is_address(broker):
        rest = ["--count", str(count), "--wait", str(wait)]
        rest += ["--id", client_id(client), "--timeout", str(timeout)]
        rest += ["--json"] if as_json else []
        rest += ["--tls", *(str(path.resolve()) for path in tls)] if tls else []
        return run_inside("sub", broker, run, node, results, [*rest, "--", *filters])
    from broker_grpc.client.api import Client

    async def subscribe() -> int:
        files = tls_files(tls)
        async with Client(broker, client_id(client), tls=files, connect_timeout_s=timeout) as subscriber:
            for text in filters:
                await subscriber.subscribe(text)
            click.echo(f"subscribed at {broker} as {client_id(client)}", err=True)
            received = 0
            while not count or received < count:
                try:
                    notification = await asyncio.wait_for(anext(subscriber), wait or None)
                except TimeoutError:
                    break
                received += 1
                click.echo(shown(notification, as_json))
        return received

    received = asyncio.run(subscribe())
    if count and received < count:
        click.echo(f"{received} of {count} came, and then none for {wait:g} s", err=True)
        return 1
    return 0


def shown(notification: Notification, as_json: bool) -> str:
    from broker_grpc.content.language import format_publication

    if not as_json:
        # The wire keeps no order of attributes: class first, then by name.
        by_name = sorted(notification.attributes.items(), key=lambda item: (item[0] != "class", item[0]))
        return format_publication(dict(by_name))
    import msgspec

    fields = msgspec.structs.asdict(notification)
    fields["payload"] = notification.payload.decode("utf-8", "replace")
    fields["delay_us"] = notification.delay_us
    return msgspec.json.encode(fields).decode()
