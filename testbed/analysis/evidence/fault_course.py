"""The faults of a run one by one, and to what a lost or late delivery is put down.

A fault's window lasts from its action until the overlay is whole and every client that lost its broker has
one again. A publication belongs to the latest fault in whose window it was under way.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from protos.records import LogEvent
from testbed.analysis.evidence.absences import FOREVER, Absence, gone_process
from testbed.analysis.evidence.runs import Run
from testbed.run.faults import CUTS, LOSSES, UNREPAIRED, FaultWindow, fault_windows

DISTURBING = ("FAULT_STARTED", "FAULT_ENDED", "CRASHED")
Span = tuple[int, int]
Ints = npt.NDArray[np.int64]
NONE = -1  # no fault
CAUSES = {
    "subscriber away": "the subscriber's process was not there",
    "broker down": "a broker on the way was not there",
    "link cut": "a link was down, or the network partitioned",
    "subscriber redialling": "the subscriber had lost its broker, and not all it asks for acknowledged again",
    "publisher redialling": "the publisher had lost its broker, so it published late",
    "re-advertising": "all were there again, and brokers still told each other who wants what",
    "unexplained": "in no fault's window",
}


@dataclass(frozen=True)
class Fault:
    action: str
    target: str
    start_us: int
    whole_us: int  # the harness saw the overlay whole again; FOREVER = never
    clients_us: int  # the last client that lost its broker was back; 0 = none did

    @property
    def end_us(self) -> int:
        return max(self.whole_us, self.clients_us)

    @property
    def name(self) -> str:
        return f"{self.action} {self.target}".strip()


@dataclass(frozen=True)
class FaultCourse:
    """Small enough to be sent to every task."""

    faults: tuple[Fault, ...] = ()
    down: dict[str, tuple[Span, ...]] = field(default_factory=dict)  # broker -> when its process was gone
    cuts: tuple[Span, ...] = ()
    absences: dict[str, tuple[Absence, ...]] = field(default_factory=dict)  # of clients
    homes: dict[str, str] = field(default_factory=dict)  # client -> broker of the plan
    overlay: tuple[tuple[str, str], ...] = ()
    flight_us: int = 0

    def begun(self, until_us: Ints) -> Ints:
        """Number of the latest fault that had begun at these times, or NONE."""
        starts = np.array([fault.start_us for fault in self.faults], dtype=np.int64)
        return np.searchsorted(starts, until_us, side="right") - 1

    def windows(self, published_us: Ints, until_us: Ints) -> Ints:
        """Number of the latest fault in whose window these were under way, or NONE."""
        found = np.full(len(published_us), NONE, dtype=np.int64)
        for number, fault in enumerate(self.faults):
            found[(fault.start_us <= until_us) & (published_us <= fault.end_us)] = number
        return found

    def cause(self, publisher: str, subscriber: str, published_us: int, until_us: int) -> str:
        """One of CAUSES, for a publication that was under way (or should have been) between two times."""
        here = published_us, until_us
        own, theirs = self.absences.get(subscriber, ()), self.absences.get(publisher, ())
        if any(absence.away and absence.touches(*here) for absence in own):
            return "subscriber away"
        if any(
            _touch(span, here) for broker in self._way(publisher, subscriber) for span in self.down[broker]
        ):
            return "broker down"
        if any(_touch(span, here) for span in self.cuts):
            return "link cut"
        if any(absence.touches(*here) for absence in own):
            return "subscriber redialling"
        if any(absence.touches(*here) for absence in theirs):
            return "publisher redialling"
        earlier = published_us - self.flight_us, until_us
        ended = [(fault.start_us, fault.end_us) for fault in self.faults]
        ended += [(absence.start_us, absence.end_us) for absence in (*own, *theirs)]
        return "re-advertising" if any(_touch(span, earlier) for span in ended) else "unexplained"

    def _way(self, publisher: str, subscriber: str) -> list[str]:
        """Brokers that were ever down and may have been on the way: those of the tree's path, else all."""
        path = self._paths(self.homes.get(publisher, ""), self.homes.get(subscriber, ""))
        return [broker for broker in self.down if path is None or broker in path]

    def _paths(self, a: str, b: str) -> frozenset[str] | None:
        """None where the plan's overlay is no tree that has both."""
        known = self._known_paths
        if (a, b) not in known:
            known[a, b] = self._path(a, b)
        return known[a, b]

    @cached_property
    def _known_paths(self) -> dict[tuple[str, str], frozenset[str] | None]:
        return {}

    @cached_property
    def _near(self) -> dict[str, list[str]]:
        near: dict[str, list[str]] = defaultdict(list)
        for a, b in self.overlay:
            near[a].append(b)
            near[b].append(a)
        return dict(near)

    def _path(self, a: str, b: str) -> frozenset[str] | None:
        if len(self.overlay) != len(self._near) - 1 or not {a, b} <= self._near.keys():
            return None
        before = {a: a}
        queue = [a]
        for at in queue:
            for other in self._near[at]:
                if other not in before:
                    before[other] = at
                    queue.append(other)
        path, at = {b}, b
        while at in before and at != a:
            at = before[at]
            path.add(at)
        return frozenset(path) if a in path else None


def _touch(a: Span, b: Span) -> bool:
    return a[0] <= b[1] and b[0] <= a[1]


def fault_course(
    run: Run, rare: list[dict[str, Any]], away: dict[str, tuple[Absence, ...]], flight_us: int
) -> FaultCourse:
    """`rare`: the run's events of rare kinds until its end, in order of time."""
    faults = tuple(_faults(rare, away))
    cuts = tuple((fault.start_us, fault.whole_us) for fault in faults if fault.action in CUTS)
    homes = {client.id: client.broker for client in run.plan.clients}
    overlay = tuple((link.a, link.b) for link in run.plan.overlay)
    return FaultCourse(faults, down_times(rare, run.brokers), cuts, away, homes, overlay, flight_us)


def _faults(rare: list[dict[str, Any]], away: dict[str, tuple[Absence, ...]]) -> list[Fault]:
    windows = fault_windows(
        LogEvent(t_us=e["t_us"], kind=e["kind"], type=e["type"], detail=e["detail"])
        for e in rare
        if e["kind"] in DISTURBING and e["content"] != UNREPAIRED
    )
    kept = [window for window in windows if not _is_repair(window, windows)]
    return [_fault(window, away) for window in kept]


def _is_repair(window: FaultWindow, windows: list[FaultWindow]) -> bool:
    """The return of a broker whose loss is a window already."""
    return window.action in ("start", "join") and any(
        other.target == window.target and other.action in LOSSES and other.start_us <= window.start_us
        and (other.end_us is None or window.start_us <= other.end_us)
        for other in windows
    )  # fmt: skip


def _fault(window: FaultWindow, away: dict[str, tuple[Absence, ...]]) -> Fault:
    end = FOREVER if window.end_us is None else window.end_us
    back = [
        absence.end_us
        for client, spans in away.items()
        for absence in spans
        if window.start_us <= absence.start_us <= end and (absence.away is (client == window.target))
    ]
    return Fault(window.action, window.target, window.start_us, end, max(back, default=0))


def down_times(rare: list[dict[str, Any]], brokers: set[str]) -> dict[str, tuple[Span, ...]]:
    """Broker -> from its end to its next start."""
    since: dict[str, int] = {}
    found: dict[str, list[Span]] = defaultdict(list)
    for event in rare:
        gone = gone_process(event)
        if gone in brokers:
            since.setdefault(gone, event["t_us"])
        elif event["kind"] == "STARTED" and event["node"] in since:
            found[event["node"]].append((since.pop(event["node"]), event["t_us"]))
    for broker, start in since.items():
        found[broker].append((start, FOREVER))
    return {broker: tuple(spans) for broker, spans in found.items()}
