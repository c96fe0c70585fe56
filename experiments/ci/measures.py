"""What a deployed run shows: costs per sample by the plan's round trips and matching times, exchanges, and
whether any notification was lost, doubled or out of order. Read from the event logs alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from experiments.ci.deployment import CLIENTS, COST_UNIT_US
from experiments.ci.pricing import Pricing
from testbed.flow.selforganising.play import Costs
from testbed.reproduction.evidence.events import Event, read_events
from testbed.reproduction.measured import Measures
from testbed.reproduction.rows import Rows
from testbed.run.folder import RunFolder
from testbed.topology.plan import Plan

SAMPLES = 30  # of a run
SETTLE_US = 1_000_000  # of a subscription that has just been made, or is about to end
Row = dict[str, Any]


def costs_of(plan: Plan) -> list[tuple[int, Costs]]:
    """From the start of the clients on: what by the plan a round trip and matching take."""
    where = {broker.node: n for n, broker in enumerate(plan.brokers)}
    unit_us = int(plan.brokers[0].algorithm["link_unit_us"])
    trips = [[0.0] * len(where) for _ in where]

    def reshaped(pairs: Iterable[tuple[str, str, int]]) -> None:
        for a, b, latency_us in pairs:
            trips[where[a]][where[b]] = 2 * latency_us / unit_us

    def now() -> Costs:
        return Costs([list(row) for row in trips], list(processing.values()))

    processing = {broker.id: broker.options["matching_us"] / COST_UNIT_US for broker in plan.brokers}
    reshaped((pair.a, pair.b, pair.latency_us) for pair in plan.network.pairs)
    found = [(0, now())]
    for event in sorted(plan.events, key=lambda e: e.at_us):
        if event.action == "reshape":
            reshaped(event.arguments["pairs"])
        else:
            processing[event.target] = event.arguments["matching_us"] / COST_UNIT_US
        found.append((event.at_us, now()))
    return found


class Deliveries:
    """Who had to get what, and who got it when."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.twice = self.disorder = 0
        self.delays: list[tuple[int, int]] = []  # instant of publishing, how long it took
        self._published: dict[str, list[tuple[int, str]]] = defaultdict(list)  # by topic
        self._got: set[tuple[str, str]] = set()
        self._last: dict[tuple[str, str], int] = {}
        self._stands: dict[tuple[str, str], tuple[str, int]] = {}  # subscriber and id -> topic, since
        self._stays: list[tuple[str, str, int, int]] = []  # subscriber, topic, from, until
        take = {"PUBLISHED": self._publish, "DELIVERED": self._deliver, "SUBSCRIBED": self._subscribe,
                "UNSUBSCRIBED": self._unsubscribe}  # fmt: skip
        for event in events:
            if event.kind in take:
                take[event.kind](event)

    def _publish(self, event: Event) -> None:
        topic = event.content.split("[class,'", 1)[1].split("'", 1)[0]
        self._published[topic].append((event.t_us, event.message))

    def _deliver(self, event: Event) -> None:
        publisher, _, number = event.message.rpartition(":")
        key = event.node, publisher
        self.twice += (event.node, event.message) in self._got
        self.disorder += int(number) < self._last.get(key, 0)
        self._got.add((event.node, event.message))
        self._last[key] = int(number)
        self.delays.append((event.published_us, event.t_us - event.published_us))

    def _subscribe(self, event: Event) -> None:
        topic = event.content.split("[class,eq,'", 1)[1].split("'", 1)[0]
        self._stands[event.node, event.message] = topic, event.t_us

    def _unsubscribe(self, event: Event) -> None:
        topic, since = self._stands.pop((event.node, event.message))
        self._stays.append((event.node, topic, since, event.t_us))

    def demanded(self, ended_us: int) -> set[tuple[str, str]]:
        """Of subscriptions that stood a while before the publication and stand a while after it."""
        stays = [*self._stays, *((who, topic, since, ended_us)
                                 for (who, _), (topic, since) in self._stands.items())]  # fmt: skip
        found: set[tuple[str, str]] = set()
        for who, topic, since, until in stays:
            sent = self._published[topic]
            first, last = (bisect_left(sent, (at, "")) for at in (since + SETTLE_US, until - SETTLE_US))
            found.update((who, publication) for _, publication in sent[first:last])
        return found

    def lost(self, ended_us: int) -> set[tuple[str, str]]:
        return self.demanded(ended_us) - self._got


def exchanges_of(events: Iterable[Event], start_us: int) -> list[Row]:
    """One row each, as whoever ordered it told its end."""
    told: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        told[event.message].append(event)
    rows = []
    for said in told.values():
        ordered = next((event for event in said if event.group == "ordered"), said[-1])
        outcomes = {event.type for event in said}
        rows.append({
            "at_us": ordered.t_us - start_us, "outcome": outcomes.pop() if len(outcomes) == 1 else "mixed",
            "cycle": ordered.hops, "duration_us": max(event.duration_us for event in said),
        })  # fmt: skip
    return rows


def mean_delays_us(delays: Iterable[tuple[int, int]], busy: list[tuple[int, int]]) -> Row:
    """Of notifications published while links were being exchanged somewhere, and of the others."""
    during: list[int] = []
    else_: list[int] = []
    for at, delay in delays:
        (during if any(begin <= at < end for begin, end in busy) else else_).append(delay)
    mean = [sum(some) / len(some) if some else None for some in (during, else_)]
    return {"delay_during_us": mean[0], "delay_else_us": mean[1], "during": len(during)}


def rows_of(run: RunFolder) -> Rows:
    """`costs`: a row per sample and purpose; `exchanges`: one each; `runs`: one row."""
    plan = run.read_plan()
    events = sorted(read_events(run.events), key=lambda e: (e.t_us, e.node, e.n))
    start_us = next(e.t_us for e in events if e.kind == "PHASE_READY" and e.detail == CLIENTS)
    ended_us = next(e.t_us for e in events if e.kind == "RUN_ENDED")
    pricing = Pricing([broker.id for broker in plan.brokers], costs_of(plan), sample_us(plan))
    pricing.start_us = start_us
    for event in events:
        if event.kind in ("FORWARDED", "SENT", "PROCESSED") and event.t_us < ended_us:
            pricing.record(event.kind, event.type, event.t_us, event.node, event.peer)
    found = Deliveries(events)
    exchanges = exchanges_of((e for e in events if e.kind == "EXCHANGED"), start_us)
    done = [row for row in exchanges if row["outcome"] == "done"]
    busy = [(start_us + row["at_us"] - row["duration_us"], start_us + row["at_us"]) for row in done]
    demanded = found.demanded(ended_us)
    total = {
        "demanded": len(demanded), "lost": len(found.lost(ended_us)), "twice": found.twice,
        "disorder": found.disorder, "delivered": len(found.delays),
        "dropped": sum(e.kind == "DROPPED" and e.type == "publication" for e in events),
        **{how: sum(row["outcome"] == how for row in exchanges)
           for how in ("done", "refused", "aborted", "mixed")},
        **mean_delays_us(found.delays, busy),
    }  # fmt: skip
    return {"costs": [dict(row) for row in pricing.rows()], "exchanges": exchanges, "runs": [total]}


def sample_us(plan: Plan) -> int:
    return plan.phases[-1].run_for_us // SAMPLES


MEASURES = Measures(rows_of, (__name__, "experiments.ci.pricing"))
