"""`testbed sub`: subscribe from the command line."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from testbed.cli.client_options import Connection, client_options, is_address

if TYPE_CHECKING:
    from broker_grpc.client.api import Notification


@dataclass(frozen=True)
class Subscribing:
    """What is subscribed to, and until when: the verb's own options."""

    filters: tuple[str, ...]
    count: int
    wait: float
    as_json: bool

    def argv(self) -> list[str]:
        return ["--count", str(self.count), "--wait", str(self.wait), *(["--json"] if self.as_json else [])]


@click.command()
@click.argument("broker")
@click.argument("filters", nargs=-1, required=True)
@click.option("--count", type=click.IntRange(0), default=0, help="Stop after so many (0: never).")
@click.option("--wait", type=float, default=0.0, help="Stop when none came for so many seconds (0: never).")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line, with id, hops and delay.")
@client_options
def command(to: Connection, **options: Any) -> int:
    """Subscribe at a broker and print what comes.

    BROKER is an address (host:port), or the id of a broker of a running deployment. FILTERS are
    subscriptions in PADRES text form. Exit code 1 when --wait ran out before --count publications came.

    \b
    Examples:
      testbed sub 127.0.0.1:5000 "[class,eq,'STOCK'],[price,>,10]"
      testbed sub B3 "[class,eq,'STOCK']" --count 5 --json
    """
    how = Subscribing(**options)
    if not is_address(to.broker):
        return to.run_inside("sub", [*how.argv(), "--", *how.filters])
    received = asyncio.run(subscribe(to, how))
    if how.count and received < how.count:
        click.echo(f"{received} of {how.count} came, and then none for {how.wait:g} s", err=True)
        return 1
    return 0


async def subscribe(to: Connection, how: Subscribing) -> int:
    """How many came, each printed as it came."""
    received = 0
    async with to.open() as subscriber:
        for text in how.filters:
            await subscriber.subscribe(text)
        click.echo(f"subscribed at {to.broker} as {to.client}", err=True)
        while not how.count or received < how.count:
            try:
                notification = await asyncio.wait_for(anext(subscriber), how.wait or None)
            except TimeoutError:
                break
            received += 1
            click.echo(shown(notification, how.as_json))
    return received


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
