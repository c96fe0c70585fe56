"""What two runs of one plan must have in common."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from protos.records import LogEvent
from testbed.emulation.runner.fidelity import read_events
from testbed.runfolder import RunFolder

MESSAGE_KINDS = frozenset(
    {"PUBLISHED", "PROCESSED", "FORWARDED", "NOTIFIED", "DELIVERED", "SENT", "RECEIVED"}
)
QUANTILES = (0.5, 0.9, 0.95, 0.99, 1.0)
RELATIVE, ABSOLUTE_US = 0.01, 500


@dataclass(frozen=True)
class Facts:
    """Of a run until RUN_ENDED: what comes later is the harness taking it down."""

    hops: dict[tuple[str, str], tuple[int, ...]]  # (subscriber, publication) -> of each delivery
    counts: dict[tuple[str, str], int]  # (kind of event, type of message)
    delays: dict[tuple[str, str], int]  # of the first delivery
    published: dict[str, int]  # publication -> microseconds since the last phase was ready
    migrated: list[tuple[str, str]]  # (client, broker)
    fault_us: tuple[int, int]  # first beginning and last end, since the last phase was ready


def facts_of(folder: RunFolder) -> Facts:
    events = [event for path in sorted(folder.events.glob("*.jsonl")) for event in read_events(path)]
    ended = next(event.t_us for event in events if event.kind == "RUN_ENDED")
    events = sorted((e for e in events if e.t_us < ended), key=lambda e: e.t_us)
    ready = [event.t_us for event in events if event.kind == "PHASE_READY"][-1]
    delivered: dict[tuple[str, str], list[LogEvent]] = {}
    for event in events:
        if event.kind == "DELIVERED":
            delivered.setdefault((event.node, event.message), []).append(event)
    faults = [e.t_us - ready for e in events if e.kind == "FAULT_STARTED"]
    repairs = [e.t_us - ready for e in events if e.kind == "FAULT_ENDED"]
    return Facts(
        {pair: tuple(e.hops for e in found) for pair, found in delivered.items()},
        dict(Counter((e.kind, e.type) for e in events if e.kind in MESSAGE_KINDS)),
        {pair: found[0].t_us - found[0].published_us for pair, found in delivered.items()},
        {e.message: e.t_us - ready for e in events if e.kind == "PUBLISHED"},
        [(e.node, e.peer) for e in events if e.kind == "MIGRATED"],
        (min(faults, default=0), max(repairs, default=0)),
    )


def quantile(values: list[int], q: float) -> int:
    return sorted(values)[max(0, -(-round(q * 1000) * len(values) // 1000) - 1)]


def quantiles(facts: Facts) -> dict[float, int]:
    return {q: quantile(list(facts.delays.values()), q) for q in QUANTILES}


def far_apart(one: Facts, other: Facts) -> dict[float, tuple[int, int]]:
    """Quantiles of the delays that differ by more than 1 % and by more than half a millisecond."""
    pairs = {q: (quantiles(one)[q], quantiles(other)[q]) for q in QUANTILES}
    return {q: (a, b) for q, (a, b) in pairs.items() if abs(a - b) > max(ABSOLUTE_US, RELATIVE * max(a, b))}


def away_from_faults(
    facts: Facts, fault_us: tuple[int, int], margin_us: int
) -> dict[tuple[str, str], tuple[int, ...]]:
    """Deliveries of publications made clearly before the fault or clearly after its repair."""
    first, last = fault_us
    return {
        pair: hops
        for pair, hops in facts.hops.items()
        if not first - margin_us <= facts.published.get(pair[1], first) <= last + margin_us
    }
