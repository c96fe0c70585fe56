"""The progress of a run for people: a live line on a terminal, a few plain lines elsewhere, or JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TextIO

import msgspec

from testbed.run.engine import Event

MILESTONES = frozenset({"booting", "network", "phase", "ready", "late", "event", "crashed", "quieting"})


class View(Protocol):
    def __call__(self, event: Event) -> None: ...

    def close(self) -> None: ...


@dataclass
class Situation:
    """What the events so far amount to."""

    stage: str = "starting"
    phase: str = ""
    brokers: tuple[int, int] = (0, 0)
    links: tuple[int, int] = (0, 0)
    clients: tuple[int, int] = (0, 0)
    delivered: int = 0
    rate: float = 0.0  # deliveries per second of the run clock
    started_us: int = 0
    clock_us: int = 0
    wall_s: float = 0.0
    events_per_s: int = 0  # of a simulation
    waiting: str = ""
    _counted: tuple[int, int] = field(default=(0, 0))  # (clock, deliveries) at the last count

    def take(self, event: Event) -> None:
        self.wall_s = event.get("wall_s", self.wall_s)
        self.clock_us = event.get("clock_us", self.clock_us)
        self.started_us = self.started_us or self.clock_us
        if event["t"] == "progress":
            self._take_progress(event)
        elif event["t"] == "network":
            self.stage, self.waiting = "network", f"{event['step']} {event['done']}/{event['total']}"
        elif event["t"] == "state":
            self.phase = event["phase"] or self.phase
            self.stage, self.waiting = event["state"], event["detail"]

    def _take_progress(self, event: Event) -> None:
        self.phase, self.stage, self.waiting = event["phase"] or self.phase, event["stage"], event["waiting"]
        self.brokers, self.clients = pair(event["brokers"]), pair(event["clients"])
        self.links = pair(event["links"])
        before_us, before = self._counted
        if before_us and self.clock_us > before_us:
            self.rate = (event["delivered"] - before) * 1e6 / (self.clock_us - before_us)
        self.delivered = event["delivered"]
        self.events_per_s = event.get("events_per_s", 0)
        self._counted = self.clock_us, self.delivered

    @property
    def run_s(self) -> float:
        return (self.clock_us - self.started_us) / 1e6

    def line(self) -> str:
        parts = [f"{self.phase or '-'}: {self.stage}"]
        clocks = f"clock {self.run_s:.1f} s, wall {self.wall_s:.1f} s"
        if self.events_per_s:  # first, where a narrow terminal shows them
            parts += [clocks, f"{self.events_per_s} events/s"]
        if self.brokers[1]:
            parts.append(f"brokers {self.brokers[0]}/{self.brokers[1]}")
            parts.append(f"links {self.links[0]}/{self.links[1]}")
        if self.clients[1]:
            parts.append(f"clients {self.clients[0]}/{self.clients[1]}")
        if not self.events_per_s:
            parts.append(clocks)
        if self.delivered:
            parts.append(f"{self.delivered} deliveries ({max(self.rate, 0):.0f}/s)")
        return "  ".join(parts) + (f"  [{self.waiting}]" if self.waiting else "")


def pair(numbers: list[int]) -> tuple[int, int]:
    return numbers[0], numbers[1]


class LiveView:
    """One line on a terminal that is redrawn; what a reader should not miss is printed above it."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        self._situation = Situation()
        self._text: Callable[[str], Any] = lambda line: Text(line, overflow="ellipsis", no_wrap=True)
        self._live = Live(self._text("starting"), console=Console(file=stream), refresh_per_second=8)
        self._live.start()

    def __call__(self, event: Event) -> None:
        self._situation.take(event)
        if event["t"] in ("warning", "error"):
            self._live.console.print(self._text(f"{event['t']}: {event['text']}"))
        self._live.update(self._text(self._situation.line()))

    def close(self) -> None:
        self._live.stop()


class PlainView:
    """A line per milestone."""

    def __init__(self, stream: TextIO) -> None:
        self._situation = Situation()
        self._stream = stream

    def __call__(self, event: Event) -> None:
        self._situation.take(event)
        if event["t"] == "state" and event["state"] in MILESTONES:
            print(self._situation.line(), file=self._stream, flush=True)
        elif event["t"] in ("warning", "error"):
            print(f"{event['t']}: {event['text']}", file=self._stream, flush=True)

    def close(self) -> None:
        pass


class JsonView:
    """Every event, one JSON object per line."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __call__(self, event: Event) -> None:
        self._stream.write(msgspec.json.encode(event).decode() + "\n")
        self._stream.flush()

    def close(self) -> None:
        pass


def view(as_json: bool) -> View:
    """JSON goes to standard output; progress for people to standard error."""
    if as_json:
        return JsonView(sys.stdout)
    return LiveView(sys.stderr) if sys.stderr.isatty() else PlainView(sys.stderr)
