"""What a run of the deployed system shows: per churn event its gap and its cost, and totals.

Read from the event logs alone. A delivery is demanded of a subscriber that was connected and subscribed
for a second before the publication and stays connected for a second after it.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from experiments.shadow_tco.deployment import COORDINATOR
from protos.catalogue import types_for
from testbed.reproduction.evidence.events import Event, read_events
from testbed.reproduction.measured import Measures
from testbed.reproduction.rows import Rows
from testbed.run.folder import RunFolder

SETTLE_US = 1_000_000
REPAIR = ("reconfiguration", "membership")  # purposes of the messages that a repair costs
Row = dict[str, Any]


@dataclass(frozen=True)
class Lost:
    t_us: int
    publication: str
    subscriber: str


class Observed:
    """The events of one run, in order of time."""

    def __init__(
        self, events: Iterable[Event], interests: dict[str, list[str]], repair_types: Collection[str]
    ) -> None:
        self._by_kind: dict[str, list[Event]] = defaultdict(list)
        for event in sorted(events, key=lambda e: (e.t_us, e.node, e.n)):
            self._by_kind[event.kind].append(event)
        self.interests = interests  # broker -> topics
        self.repair_types = repair_types  # of messages
        self.ended_us = min((e.t_us for e in self.kind("RUN_ENDED")), default=1 << 62)
        self.longest_us = max(
            (e.t_us - e.published_us for e in self.kind("DELIVERED") if e.published_us), default=0
        )
        self.topic = {e.message: topic_of(e.content) for e in self.kind("PUBLISHED")}

    def kind(self, name: str) -> list[Event]:
        return self._by_kind.get(name, [])

    # ------------------------------------------------------------ deliveries

    def lost(self) -> list[Lost]:
        got = {(e.message, e.node) for e in self.kind("DELIVERED")}
        present = self._presence()
        missing = []
        for event in self.kind("PUBLISHED"):
            at, topic = event.t_us, self.topic[event.message]
            missing += [
                Lost(at, event.message, subscriber)
                for subscriber, spans in present.items()
                if topic in self.interests[subscriber.removeprefix("s-")]
                and covered(spans, at)
                and (event.message, subscriber) not in got
            ]
        return missing

    def _presence(self) -> dict[str, list[tuple[int, int]]]:
        """Subscriber -> times in which it is connected with all its subscriptions."""
        last: dict[str, int] = {}
        spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
        changes = [(e.t_us, 1, e.node) for e in self.kind("SUBSCRIBED")]
        changes += [(e.t_us, 0, e.node) for e in self.kind("DISCONNECTED")]
        for at, subscribed, node in sorted(changes):
            if subscribed:
                last[node] = at  # the last of its subscriptions counts
            elif node in last:
                spans[node].append((last.pop(node), at))
        for node, since in last.items():
            spans[node].append((since, self.ended_us))
        return {node: spans[node] for node in sorted(spans) if node.startswith("s-")}

    def duplicates_delivered(self) -> int:
        seen: set[tuple[str, str]] = set()
        double = 0
        for e in self.kind("DELIVERED"):
            double += (e.message, e.node) in seen
            seen.add((e.message, e.node))
        return double

    def duplicate_factor(self) -> float:
        """Copies that brokers got from brokers, per first copy."""
        first = sum(e.peer in self.interests for e in self.kind("PROCESSED"))
        again = sum(e.detail == "duplicate" for e in self.kind("DROPPED"))
        return (first + again) / first if first else 0.0

    def relays(self) -> int:
        """Publications handled by a broker that does not share their topic."""
        return sum(self.topic[e.message] not in self.interests[e.node] for e in self.kind("PROCESSED"))

    # ------------------------------------------------------------ churn

    def rounds(self) -> list[Row]:
        faults = [e for e in self.kind("FAULT_STARTED") if e.detail in self.interests]
        ends = [*(e.t_us for e in faults[1:]), self.ended_us][: len(faults)]
        lost = self.lost()
        return [self._round(fault, until, lost) for fault, until in zip(faults, ends, strict=True)]

    def _round(self, fault: Event, until: int, lost: list[Lost]) -> Row:
        at, name = fault.t_us, fault.detail
        noticed = first_after([*self.kind("LEFT"), *self.kind("JOINED")], at, until, peer=name)
        decided = first_after(self.kind("REPAIRED"), at, until, peer=name)
        up = first_after(self.kind("OVERLAY_UP"), decided.t_us, until) if decided else None
        sent = [e for e in self.kind("SENT") if at <= e.t_us < until and e.type in self.repair_types]
        mine = [one for one in lost if at - SETTLE_US <= one.t_us < until - SETTLE_US]
        row: Row = {
            "kind": fault.type,
            "broker": name,
            "at_us": at,
            "noticed_us": noticed.t_us - at if noticed else None,
            "noticed_by": noticed.detail if noticed else "",
            "repaired_us": up.t_us - at if up else None,
            "lost": len(mine),
            "gap_us": max((one.t_us - at for one in mine), default=0),
            "repair_messages": len(sent),
            "repair_bytes": sum(e.bytes for e in sent),
        }
        return row | (json.loads(decided.content, object_hook=numbers) if decided else {})

    def unexplained(self) -> list[Lost]:
        """Losses outside of every gap: of what was published after the overlay was up again, or so long
        before the fault that it was not on its way any more, as the longest delivery shows."""
        before = max(SETTLE_US // 20, self.longest_us)
        spans = [
            (row["at_us"] - before, row["at_us"] + row["repaired_us"])
            for row in self.rounds()
            if row["repaired_us"] is not None
        ]
        return [one for one in self.lost() if not any(a <= one.t_us <= b for a, b in spans)]


def numbers(value: Row) -> Row:
    return {key: value[key] for key in ("nodes", "links", "added", "removed", "max_degree", "average_degree")}


def covered(spans: list[tuple[int, int]], at: int) -> bool:
    k = bisect_right(spans, (at - SETTLE_US, 1 << 62)) - 1
    return k >= 0 and spans[k][1] >= at + SETTLE_US


def first_after(events: list[Event], at: int, until: int, **fields: Any) -> Event | None:
    found = (
        e for e in sorted(events, key=lambda e: e.t_us)
        if at <= e.t_us < until and all(getattr(e, k) == v for k, v in fields.items())
    )  # fmt: skip
    return next(found, None)


def topic_of(content: str) -> str:
    return content.split("[class,'", 1)[1].split("'", 1)[0]


def rows_of(run: RunFolder) -> Rows:
    """`churn`: a row per churn event; `runs`: one row."""
    plan = run.read_plan()
    interests = {b.id: list(b.algorithm["topics"]) for b in plan.brokers if b.id != COORDINATOR}
    repair_types = types_for(run.read_catalogue(), REPAIR)
    seen = Observed(read_events(run.events), interests, repair_types)
    at_start = json.loads(seen.kind("REPAIRED")[0].content)
    total = {
        "published": len(seen.kind("PUBLISHED")),
        "delivered": len(seen.kind("DELIVERED")),
        "lost": len(seen.lost()),
        "lost_outside_gaps": len(seen.unexplained()),
        "delivered_twice": seen.duplicates_delivered(),
        "relays": seen.relays(),
        "duplicate_factor": seen.duplicate_factor(),
        "links_at_start": at_start["links"],
        "max_degree_at_start": at_start["max_degree"],
    }
    return {"churn": seen.rounds(), "runs": [total]}


MEASURES = Measures(rows_of, (__name__,))
