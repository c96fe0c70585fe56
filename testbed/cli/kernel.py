"""Build, check or remove the guest kernel (virtual time, no root)."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from testbed.emulation.kernel.build import Progress
    from testbed.emulation.kernel.cache import Kernel

PLAIN_SECONDS = 10.0


@click.group(no_args_is_help=True)
def command() -> None:
    """Build, check or remove the guest kernel (virtual time, no root).

    The guest engine boots its own Linux kernel as an ordinary process. It is built once from the kernel
    source package of the distribution and kept in the user's cache.

    \b
    Examples:
      testbed kernel status
      testbed kernel build -j4
      testbed kernel build --source /usr/src/linux-source-6.1.tar.xz
      testbed kernel clean
    """


@command.command()
@click.option(
    "--source", type=click.Path(path_type=Path), help="Kernel source archive (default: the newest)."
)
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Compile so many files at once.")
def build(source: Path | None, jobs: int | None) -> None:
    """Build the kernel; an interrupted build goes on where it stopped."""
    from testbed.emulation.kernel import build as builder
    from testbed.emulation.kernel.source import choose, read

    chosen = choose(source)
    with progress_reporter(f"kernel {chosen.version_text}") as report:
        kernel = builder.build(read(source) if source else None, report, jobs)
    click.echo(describe(kernel))


@command.command()
@click.option(
    "--shared", is_flag=True, help="For all users of this machine (needs the right to write there)."
)
def install(shared: bool) -> None:
    """Put the built kernel where all users of this machine find it, so that no other builds one.

    \b
    Example:
      sudo env XDG_CACHE_HOME=~/.cache $(command -v testbed) kernel install --shared
    """
    from testbed.emulation.kernel import cache
    from testbed.errors import InputError

    if not shared:
        raise InputError("where shall it be installed?", hint="testbed kernel install --shared")
    click.echo(describe(cache.install_shared()))


@command.command()
def fetch() -> None:
    """Download a newer kernel source than this Debian has (about 160 MB, no root).

    A guest on it runs about twice as fast. The next 'testbed kernel build' takes it.
    """
    from testbed.emulation.kernel.fetch import fetch as fetch_source

    click.echo("kernel source: looking for a newer one", err=True)
    click.echo(f"{fetch_source().archive}")


@command.command()
def status() -> None:
    """Show the kernel that a guest would boot, and verify its checksum."""
    from testbed.emulation.kernel import cache

    current = cache.find()
    for kernel in [*cache.shared(), *cache.built()]:
        mark = "current" if kernel == current else "older recipe" if not cache.is_current(kernel) else "spare"
        click.echo(f"{mark}: {describe(kernel)}")
    if current is not None and current.record is None:
        click.echo(f"current ({cache.KERNEL_VARIABLE}): {current.binary}")
    cache.require()
    click.echo("checksum verified" if current and current.record else "no checksum is recorded for it")


@command.command()
def clean() -> None:
    """Remove every built kernel and every interrupted build."""
    from testbed.emulation.kernel import cache

    freed = cache.remove_all()
    click.echo(f"removed {cache.cache_folder()} ({freed / 1e6:.1f} MB)")


def describe(kernel: Kernel) -> str:
    record = kernel.record
    if record is None:
        return str(kernel.binary)
    return (
        f"{kernel.binary}\n  Linux {record.version} from {record.source}, {record.size / 1e6:.1f} MB, "
        f"built in {record.build_seconds:.0f} s\n  sha256 {record.sha256}"
    )


@contextmanager
def progress_reporter(title: str) -> Iterator[Callable[[Progress], None]]:
    """A bar on a terminal, now and then a line elsewhere."""
    if not sys.stderr.isatty():
        yield plain_reporter(title)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
    with Bar(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=100)
        yield lambda progress: bar.update(
            task, completed=progress.percent, description=f"{title}: {progress.step}"
        )


def plain_reporter(title: str) -> Callable[[Progress], None]:
    """One line per new step, and one every few seconds within a step."""
    last_step, last_time = "", 0.0

    def report(progress: Progress) -> None:
        nonlocal last_step, last_time
        now = time.monotonic()
        if progress.step != last_step or now - last_time >= PLAIN_SECONDS:
            click.echo(f"{title}: {progress.step} {progress.percent:.0f} %", err=True)
            last_step, last_time = progress.step, now

    return report
