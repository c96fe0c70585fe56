"""How many publications each client should have made, from the plan and what the harness did and when.

A publication is due at its offset from the instant at which the harness ordered its client to start. What
is due within SLACK_US of a client's end may be made or not: a process takes a moment to start and to hear a
word.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from protos.records import LogEvent
from testbed.run.faults import LOSSES, RESTART_DELAY_US
from testbed.topology.plan import Client, Plan, PublicationPlan
from testbed.workload.schedule import offsets_us

SLACK_US = 100_000
KINDS = frozenset({"PHASE_STARTED", "PHASE_READY", "FAULT_STARTED", "CRASHED"})
Span = tuple[int, int]
SHOWN = 5


@dataclass(frozen=True)
class Planned:
    least: int
    most: int
    ends: tuple[int, ...] = ()  # when it was told to end, or fell silent

    def holds(self, made: int) -> bool:
        return self.least <= made <= self.most


def planned(plan: Plan, events: Iterable[LogEvent]) -> dict[str, Planned]:
    """Of every publishing client; empty where the run did not come to its planned end."""
    listed = [event for event in events if event.kind in KINDS]
    until = end_us(plan, listed)
    if until is None:
        return {}
    publishers = [client for client in plan.clients if client.publications is not None]
    spans = presences(plan, {client.id: client for client in publishers}, listed, until)
    return {client.id: _due(client, spans[client.id]) for client in publishers}


def end_us(plan: Plan, events: Iterable[LogEvent]) -> int | None:
    """When publishers fall silent; None = the last phase was never ready."""
    if not plan.phases:
        return None
    last = plan.phases[-1]
    ready = [e.t_us for e in events if e.kind == "PHASE_READY" and e.detail == last.name]
    return ready[-1] + last.run_for_us if ready else None


def presences(
    plan: Plan, clients: Mapping[str, Client], events: Iterable[LogEvent], until_us: int
) -> dict[str, list[Span]]:
    """Client -> from each order to start to its end."""
    members = {phase.name: phase.start for phase in plan.phases}
    since: dict[str, int] = {}
    found: dict[str, list[Span]] = {client: [] for client in clients}
    for event in events:
        if event.kind == "PHASE_STARTED":
            for name in members.get(event.detail, ()):
                since.setdefault(name, event.t_us)
        elif event.detail in clients:
            _change(clients[event.detail], event, since, found)
    for client, start in since.items():
        if client in clients:
            found[client].append((start, until_us))
    return found


def _change(client: Client, event: LogEvent, since: dict[str, int], found: dict[str, list[Span]]) -> None:
    ends = event.kind == "CRASHED" or event.type in LOSSES or event.type == "restart"
    if ends and client.id in since:
        found[client.id].append((since.pop(client.id), event.t_us))
    if event.kind == "CRASHED" and client.on_crash == "restart":
        since[client.id] = event.t_us + RESTART_DELAY_US
    elif event.kind == "FAULT_STARTED" and event.type in ("start", "join", "restart"):
        since.setdefault(client.id, event.t_us)


def _due(client: Client, spans: list[Span]) -> Planned:
    assert client.publications is not None
    source, seed = client.publications, client.seed
    lasting = [end - start for start, end in spans]
    return Planned(
        sum(_before(source, seed, length - SLACK_US) for length in lasting),
        sum(_before(source, seed, length + SLACK_US) for length in lasting),
        tuple(end for _, end in spans),
    )


def _before(source: PublicationPlan, seed: int, length_us: int) -> int:
    """Offsets that are not later than this."""
    if source.arrival == "poisson":
        return sum(1 for _ in itertools.takewhile(lambda at: at <= length_us, offsets_us(source, seed)))
    first = next(offsets_us(source, seed))
    number = (length_us - first) // source.period_us + 1 if length_us >= first else 0
    return min(number, source.count) if source.count else number


def differences(wanted: Mapping[str, Planned], made: Mapping[str, int]) -> list[str]:
    """Of each client that made more or fewer, in words."""
    return [
        f"{client} made {made.get(client, 0)} of {_told(due)}"
        for client, due in wanted.items()
        if not due.holds(made.get(client, 0))
    ]


def _told(due: Planned) -> str:
    return f"{due.most}" if due.least == due.most else f"{due.least} or {due.most}"


def summary(wanted: Mapping[str, Planned], made: Mapping[str, int]) -> str:
    """In one line: how many were made, and how many should have been."""
    least, most = sum(due.least for due in wanted.values()), sum(due.most for due in wanted.values())
    total = sum(made.get(client, 0) for client in wanted)
    return f"{total:,} publications made, {_told(Planned(least, most))} planned"
