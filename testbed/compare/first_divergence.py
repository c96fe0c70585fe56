"""The first event at which two runs of one plan part.

In virtual time two runs of the same code agree event by event, so the first that differs is close to the
cause, where a difference of tables tells only the sum of what came of it. Of each process, the k-th event
that says the same is the same event in both; events some microseconds apart may change places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import msgspec

from protos.records import LogEvent
from testbed.errors import InputError
from testbed.report.event_log import Tail, decode
from testbed.report.story import in_order, lines
from testbed.run.folder import RunFolder

BEFORE = 8  # events that are shown before it
# What two runs of the same thing may differ in all the same: when, how long, how much memory.
MEASURED = (
    "t_us",
    "n",
    "published_us",
    "queueing_us",
    "matching_us",
    "sending_us",
    "duration_us",
    "memory_bytes",
)
STILL = LogEvent()


@dataclass(frozen=True)
class Divergence:
    """Of one process; `a` or `b` is None where its log has ended."""

    at_us: int  # since the run's first event
    node: str
    a: LogEvent | None
    b: LogEvent | None
    why: str


@dataclass(frozen=True)
class Story:
    """A run's events: all in order, by process as it wrote them, and since when they are counted."""

    start_us: int
    events: list[LogEvent]
    by_node: dict[str, list[LogEvent]]


def first_divergence(a: Path, b: Path, within_us: int = 0) -> tuple[Divergence | None, Story, Story]:
    """Times may differ by `within_us`. Raises InputError for what is no run, and for runs of two plans."""
    _same_plan(a, b)
    one, other = read_story(a), read_story(b)
    nodes = sorted(one.by_node.keys() | other.by_node.keys())
    found = [parted for node in nodes if (parted := _parted(node, one, other, within_us)) is not None]
    return min(found, key=lambda parted: (parted.at_us, parted.node), default=None), one, other


def read_story(run: Path) -> Story:
    events = decode(Tail(run / "events").lines())
    if not events:
        raise InputError("there are no events to compare", file=run / "events", hint="name two run folders")
    by_node: dict[str, list[LogEvent]] = {}
    for event in events:
        by_node.setdefault(event.node, []).append(event)
    return Story(min(event.t_us for event in events), in_order(events), by_node)


def _same_plan(a: Path, b: Path) -> None:
    plans = []
    for run in (a, b):
        try:
            plans.append(RunFolder(run).plan.read_bytes())
        except OSError as error:
            raise InputError(f"this is no run folder: {error.strerror}", file=run / "plan.json") from None
    if plans[0] != plans[1]:
        hint = "testbed diff without --first compares their tables"
        raise InputError("the two runs are of different plans", file=b, hint=hint)


def _parted(node: str, a: Story, b: Story, within_us: int) -> Divergence | None:
    ours, theirs = _occurrences(node, a), _occurrences(node, b)
    found = [
        Divergence(min(_since(a, one), _since(b, other)), node, one, other, why)
        for key in ours.keys() | theirs.keys()
        if (why := _why(one := ours.get(key), other := theirs.get(key), a, b, within_us))
    ]
    return min(found, key=lambda parted: parted.at_us, default=None)


def _occurrences(node: str, story: Story) -> dict[tuple[bytes, int], LogEvent]:
    """By what an event says, and how often the process had said it before."""
    counts: Counter[bytes] = Counter()
    found = {}
    for event in story.by_node.get(node, []):
        key = said(event)
        found[key, counts[key]] = event
        counts[key] += 1
    return found


def _why(one: LogEvent | None, other: LogEvent | None, a: Story, b: Story, within_us: int) -> str:
    """Empty for the same event."""
    if one is None or other is None:
        return f"only in {'A' if other is None else 'B'}"
    apart = _since(b, other) - _since(a, one)
    if abs(apart) <= within_us:
        return ""
    return f"{abs(apart)} µs {'later' if apart > 0 else 'earlier'} in B"


def _since(story: Story, event: LogEvent | None) -> int:
    return event.t_us - story.start_us if event is not None else 1 << 62


def said(event: LogEvent) -> bytes:
    """The event without what is measured."""
    still = msgspec.structs.replace(event, **{name: getattr(STILL, name) for name in MEASURED})
    return msgspec.msgpack.encode(still)


def told(found: Divergence, a: Story, b: Story) -> Iterator[str]:
    """The events before it in A, then both sides."""
    before = [*takewhile(lambda event: event is not found.a and _since(a, event) <= found.at_us, a.events)]
    before = before[-BEFORE:]
    width = max(len(event.node) for event in [*before, found.a or found.b or STILL])
    yield from lines(before, a.start_us, width)
    for name, event, story in (("A", found.a, a), ("B", found.b, b)):
        text = next(lines([event], story.start_us, width)) if event is not None else "(nothing)"
        yield f"{name} {text[2:] if event is not None else text}"
    yield f"first divergence: {found.node}, {found.at_us / 1e6:.6f} s: {found.why}"
