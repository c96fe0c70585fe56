"""`testbed nightly`: did anything get worse since yesterday?"""

from __future__ import annotations

import fcntl
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from testbed.nightly.judge import Outcome
    from testbed.nightly.night import Night

UNITS = {"s": 1, "m": 60, "h": 3600}
EVERY_S = 60.0  # between two lines of progress in a log


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
    said and is no failure; the next night goes on with it. Ctrl-C (and SIGTERM) keeps what is done so far.

    \b
    Examples:
      testbed nightly
      testbed nightly --budget 8h --keep 10 --set my-set.yaml
    """
    from testbed.nightly.choice import DEFAULT, read_choice
    from testbed.nightly.night import run_night, tidy

    choice = read_choice(set_file or DEFAULT)
    folder = results / "nightly"
    with only_one(folder), terminated_like_interrupted():
        night = run_night(folder, choice, budget, say, tick=Progress())
        write_pages(folder, night)
        for old in tidy(folder, keep):
            say(f"removed night {old}")
    tell(night)
    click.echo(room(folder, night.id, keep))
    click.echo(folder / "index.html")
    return night.code


def say(line: str) -> None:
    over = "\x1b[2K" if sys.stderr.isatty() else ""  # the line of progress
    click.echo(f"{over}{line}", err=True)


class Progress:
    """One line that is written over on a terminal; elsewhere a line now and then."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._next_s = EVERY_S

    def __call__(self, name: str, seconds: float, last_line: str) -> None:
        text = f"{name}: {seconds:.0f} s, {last_line}"
        if self._terminal:
            width = shutil.get_terminal_size().columns
            click.echo(f"\r{text[: width - 1]:<{width - 1}}\r", err=True, nl=False)
            return
        self._next_s = min(self._next_s, seconds + EVERY_S)  # another reproduction counts from its start
        if seconds >= self._next_s:
            self._next_s = seconds + EVERY_S
            say(text)


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Two nights at once would both write the history."""
    from testbed.errors import RunFailed

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            hint = "wait for it, or give this one other --results"
            raise RunFailed(f"another night is running in {folder}", hint=hint) from error
        yield


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM and a closed terminal end a night as Ctrl-C does: nothing runs on, what is done is kept."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def room(folder: Path, night: str, keep: int) -> str:
    from testbed.nightly.night import disk_use, nights_in

    nights = nights_in(folder)
    one, every = (disk_use(where) / 1e6 for where in (folder / night, folder))
    return f"disk: this night {one:.0f} MB, all {len(nights)} nights {every:.0f} MB; {keep} are kept"


def write_pages(folder: Path, night: Night) -> None:
    from testbed.nightly.history import read_history
    from testbed.nightly.page import nightly_page
    from testbed.report.paper_page import paper_page
    from testbed.run.folder import write_atomically

    for where in (folder / name for ran in night.ran for name in ran.folders):
        write_atomically(where / "report.html", paper_page(where).encode())
    text = nightly_page(night, read_history(folder / "history.jsonl"))
    write_atomically(folder / "index.html", text.encode())


def tell(night: Night) -> None:
    """What is not the same, and how much is."""
    for ran in night.ran:
        if ran.state != "done":
            click.echo(f"{ran.state}: {ran.name}: {ran.detail}")
        for line in ran.invariants:
            click.echo(f"invariant failed: {ran.name}: {line}")
    for c in night.comparisons:
        if c.outcome not in ("same", "first"):
            interval = f" (difference {c.low:.4g} to {c.high:.4g})" if c.low == c.low else ""
            why = f"; {c.reason}" if c.reason else ""
            click.echo(
                f"{c.outcome}: {c.reproduction}: {c.measure}: {c.before:.6g} -> {c.now:.6g}{interval}{why}"
            )
    counts = Counter(c.outcome for c in night.comparisons)
    always: tuple[Outcome, ...] = ("worse", "better", "same")
    seldom: tuple[Outcome, ...] = ("first", "missing", "unknown")
    told = [*always, *(name for name in seldom if counts[name])]
    click.echo(f"night {night.id}: " + ", ".join(f"{counts[name]} {name}" for name in told))
