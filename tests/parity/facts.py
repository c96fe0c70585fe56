"""What two runs of one plan must have in common."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from protos.records import LogEvent
from testbed.run.fidelity import read_events
from testbed.run.folder import RunFolder
from testbed.topology.plan import Plan

MESSAGE_KINDS = frozenset(
    {"PUBLISHED", "PROCESSED", "FORWARDED", "NOTIFIED", "DELIVERED", "SENT", "RECEIVED", "REFUSED",
     "DROPPED", "LINK_UP", "LINK_DOWN"}
)  # fmt: skip
QUANTILES = (0.5, 0.9, 0.95, 0.99, 1.0)
UNWRITTEN_US = 1_000_000  # at least a process's log_flush_us, and a whole number of heartbeats
RELATIVE, ABSOLUTE_US, UP_US = 0.01, 500, 400


@dataclass(frozen=True)
class Facts:
    """Of a run until RUN_ENDED: what comes later is the harness taking it down."""

    hops: dict[tuple[str, str], tuple[int, ...]]  # (subscriber, publication) -> of each delivery
    counts: dict[tuple[str, str], int]  # (kind of event, type of message)
    delays: dict[tuple[str, str], int]  # of the first delivery
    migrated: list[tuple[str, str]]  # (client, broker)
    faults: list[tuple[str, str, str]]  # (start or end, action, target), in order
    first_us: int  # the first publication, by the run's clock
    up_us: dict[tuple[str, str], int]  # (broker, neighbour) -> the link was up so long after both had started


def facts_of(folder: RunFolder) -> Facts:
    events = [event for path in sorted(folder.events.glob("*.jsonl")) for event in read_events(path)]
    ended = next(event.t_us for event in events if event.kind == "RUN_ENDED")
    events = sorted((e for e in events if e.t_us < ended), key=lambda e: e.t_us)
    faults = [(e.kind, e.type, e.detail) for e in events if e.kind.startswith("FAULT_")]
    killed = {e.detail: e.t_us for e in events if e.kind == "FAULT_STARTED" and e.type == "kill"}
    delivered: dict[tuple[str, str], list[LogEvent]] = {}
    for event in events:
        if event.kind == "DELIVERED":
            delivered.setdefault((event.node, event.message), []).append(event)
    counted = [e for e in events if e.kind in MESSAGE_KINDS and not taken_along(e, killed)]
    return Facts(
        {pair: tuple(e.hops for e in found) for pair, found in delivered.items()},
        dict(Counter((e.kind, e.type) for e in counted)),
        {pair: found[0].t_us - found[0].published_us for pair, found in delivered.items()},
        [(e.node, e.peer) for e in events if e.kind == "MIGRATED"],
        faults,
        min(e.t_us for e in events if e.kind == "PUBLISHED"),
        first_ups(events, folder.read_plan()),
    )


def first_ups(events: list[LogEvent], plan: Plan) -> dict[tuple[str, str], int]:
    """Of the links of the plan; others are made when someone says so."""
    started: dict[str, int] = {}
    up: dict[tuple[str, str], int] = {}
    for event in events:
        if event.kind == "STARTED":
            started.setdefault(event.node, event.t_us)
        elif event.kind == "LINK_UP":
            up.setdefault((event.node, event.peer), event.t_us)
    ends = [pair for link in plan.overlay for pair in ((link.a, link.b), (link.b, link.a))]
    return {(a, b): up[a, b] - max(started[a], started[b]) for a, b in ends}


def taken_along(event: LogEvent, killed: dict[str, int]) -> bool:
    """What a killed process had not written to its file: at most UNWRITTEN_US of it. The simulator has it."""
    at_us = killed.get(event.node)
    return at_us is not None and at_us - UNWRITTEN_US <= event.t_us <= at_us


def quantile(values: list[int], q: float) -> int:
    return sorted(values)[max(0, -(-round(q * 1000) * len(values) // 1000) - 1)]


def quantiles(facts: Facts) -> dict[float, int]:
    return {q: quantile(list(facts.delays.values()), q) for q in QUANTILES}


def far_apart(one: Facts, other: Facts) -> dict[float, tuple[int, int]]:
    """Quantiles of the delays that differ by more than 1 % and by more than half a millisecond."""
    pairs = {q: (quantiles(one)[q], quantiles(other)[q]) for q in QUANTILES}
    return {q: (a, b) for q, (a, b) in pairs.items() if abs(a - b) > max(ABSOLUTE_US, RELATIVE * max(a, b))}


def up_apart(one: Facts, other: Facts) -> dict[tuple[str, str], tuple[int, int]]:
    """Links that came up at times that differ by more than 1 % and by more than 0.4 ms."""
    pairs = {link: (up, other.up_us[link]) for link, up in one.up_us.items()}
    return {link: (a, b) for link, (a, b) in pairs.items() if abs(a - b) > max(UP_US, RELATIVE * max(a, b))}
