"""The progress of a sweep for people: on a terminal what runs and for how long, elsewhere a line per change.

It is read from the points' folders, so it is the same wherever the points run.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TextIO

from testbed.sweep.tasks import RUNNING, ended

MOST_LINES = 8  # points shown
TAIL_BYTES = 2000
Say = Callable[[str], None]


@dataclass(frozen=True)
class Standing:
    """Of the points that were left to do."""

    total: int
    done: int
    failed: list[str]
    running: dict[str, tuple[float, str]]  # seconds, and the last line of its log

    def line(self, wall_s: float) -> str:
        over = self.done + len(self.failed)
        parts = [f"{over} of {self.total} points run"]
        if self.failed:
            parts.append(f"{len(self.failed)} failed")
        if self.running:
            parts.append(f"{len(self.running)} running")
        if over and over < self.total:
            parts.append(f"about {clock(wall_s / over * (self.total - over))} left")
        return ", ".join(parts)


def look(folders: list[Path]) -> Standing:
    done, failed, running = 0, [], {}
    for folder in folders:
        last = ended(folder)
        started = _since(folder / RUNNING)
        if started is not None:
            running[folder.name] = time.time() - started, last_line(folder / "log.txt")
        elif last is not None and last.code:
            failed.append(folder.name)
        elif last is not None:
            done += 1
    return Standing(len(folders), done, failed, running)


def _since(file: Path) -> float | None:
    try:
        return file.stat().st_mtime
    except OSError:
        return None


def last_line(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL_BYTES))
            lines = file.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    return next((line for line in reversed(lines) if line.strip()), "")


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class SweepView(Protocol):
    def __call__(self) -> None: ...

    def close(self) -> None: ...


class PlainSweep:
    """A line whenever a point has ended."""

    def __init__(self, name: str, folders: list[Path], say: Say) -> None:
        self._name, self._folders, self._say = name, folders, say
        self._told = ""
        self._begun = time.monotonic()

    def __call__(self) -> None:
        now = look(self._folders)
        over = f"{now.done} {now.failed}"
        if over != self._told:
            self._told = over
            self._say(f"{self._name}: {now.line(time.monotonic() - self._begun)}")

    def close(self) -> None:
        self()


class LiveSweep:
    """The points that run, each with its time and where it is, redrawn."""

    def __init__(self, name: str, folders: list[Path], stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live

        self._name, self._folders = name, folders
        self._begun = time.monotonic()
        self._failed: list[str] = []
        self._live = Live(console=Console(file=stream), refresh_per_second=4)
        self._live.start()

    def __call__(self) -> None:
        now, wall_s = look(self._folders), time.monotonic() - self._begun
        for point in now.failed:
            if point not in self._failed:  # stays on the screen, above what is redrawn
                self._failed.append(point)
                self._live.console.print(_text(f"{self._name}: {point} failed"))
        self._live.update(self._picture(now, wall_s))

    def _picture(self, now: Standing, wall_s: float) -> Any:
        from rich.console import Group

        lines = [f"{self._name}: {clock(wall_s)}, {now.line(wall_s)}"]
        for point, (seconds, last) in list(now.running.items())[:MOST_LINES]:
            lines.append(f"  {clock(seconds):>7}  {point}  {last}")
        if len(now.running) > MOST_LINES:
            lines.append(f"           and {len(now.running) - MOST_LINES} more")
        return Group(*map(_text, lines))

    def close(self) -> None:
        self()
        self._live.stop()


def _text(line: str) -> Any:
    from rich.text import Text

    return Text(line, overflow="ellipsis", no_wrap=True)


def sweep_view(name: str, folders: list[Path], say: Say) -> SweepView:
    if sys.stderr.isatty():
        return LiveSweep(name, folders, sys.stderr)
    return PlainSweep(name, folders, say)
