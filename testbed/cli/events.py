"""`testbed events`: what happened in a run, as lines to read."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from protos.records import LogEvent
    from testbed.report.story import Choice
    from testbed.run.folder import RunFolder

PACE_S = 0.5


@click.command()
@click.argument("run")
@click.option("--publication", metavar="ID", default="", help="The journey of one publication.")
@click.option("--node", metavar="NAME", default="", help="Only what a broker or client had to do with.")
@click.option("--all", "everything", is_flag=True, help="Single messages and samples, too.")
@click.option("--follow", is_flag=True, help="Go on while the run goes on.")
@click.option("--results", type=click.Path(path_type=Path), default=Path("results"), help="Where to look.")
def command(
    run: str, publication: str, node: str, everything: bool, follow: bool, results: Path
) -> int:  # fmt: skip
    """Tell what happened in a run, or to one publication, in the order of time.

    RUN is a run folder, a run id or the name of an experiment. Times are seconds since the run's first record
    (of a publication, since it was published). Without --all, single messages and samples are left out.

    \b
    Examples:
      testbed events quickstart
      testbed events quickstart --node B3
      testbed events quickstart --publication pub-YHOO:7
      testbed events quickstart --follow
    """
    from testbed.emulation.status import locate
    from testbed.report.story import Choice

    folder, choice = locate(run, results), Choice(publication, node, everything)
    told = follow_on(folder, choice) if follow else tell_whole(folder, choice)
    if not told:
        nothing_told(folder, choice)
    return 0


def tell_whole(folder: RunFolder, choice: Choice) -> int:
    from testbed.report.event_log import Tail, decode

    return tell(decode(Tail(folder.events).lines()), choice, None)[0]


def follow_on(folder: RunFolder, choice: Choice) -> int:
    """Until the run has ended; what was written last is told, too."""
    from testbed.report.event_log import Tail, decode

    tail, start, told, going = Tail(folder.events), None, 0, True
    while going:
        going = folder.read_manifest().status == "running"
        more, start = tell(decode(tail.lines()), choice, start)
        told += more
        if going:
            time.sleep(PACE_S)
    return told


def tell(events: list[LogEvent], choice: Choice, start_us: int | None) -> tuple[int, int | None]:
    """How many were told, and the time that theirs are counted from."""
    from testbed.report.story import in_order, lines

    wanted = in_order(filter(choice.wants, events))
    if start_us is None:
        times = [e.published_us or e.t_us for e in wanted] if choice.publication else [e.t_us for e in events]
        start_us = min(times, default=None)
    width = max((len(event.node) for event in wanted), default=0)
    for line in lines(wanted, start_us or 0, width):
        click.echo(line)
    return len(wanted), start_us


def nothing_told(folder: RunFolder, choice: Choice) -> None:
    """Raises InputError for a publication or node that the run does not know."""
    from testbed.errors import InputError, did_you_mean
    from testbed.report.event_log import Tail, decode

    events = decode(Tail(folder.events).lines())
    if choice.publication:
        known = {event.message for event in events if event.kind == "PUBLISHED"}
        hint = (
            did_you_mean(choice.publication, sorted(known)[:2000])
            if len(known) < 50
            else "ids are in events/"
        )
        raise InputError(f"there is no publication {choice.publication!r}", file=folder.events, hint=hint)
    if choice.node:
        hint = did_you_mean(choice.node, {event.node for event in events})
        raise InputError(f"nothing is told of {choice.node!r}", file=folder.events, hint=hint)
    raise InputError("the run has no events yet", file=folder.events, hint="testbed logs RUN --errors")
