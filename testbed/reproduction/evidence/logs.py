"""The evidence of one run from its event logs, in one pass.

A set has hundreds of runs of a quarter of a million events: each is read here within two seconds, where the
general tables take about ten seconds of processor time. Both read the same logs and give the same evidence.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pandas

from broker_grpc.content.language import parse_filter
from testbed.reproduction.evidence.events import Event, read_events
from testbed.reproduction.evidence.evidence import DELIVERED, LOAD, WINDOW_US, Evidence, Mark
from testbed.run.folder import RunFolder
from testbed.topology.plan import Plan

QUIET_US = 5_000_000  # what was published so late may still be on its way at the end
PUBLICATION = "publication"


class _Pass:
    """What one pass over the logs collects."""

    def __init__(self, run: RunFolder, brokers: set[str], kinds: Collection[str]) -> None:
        self.origin_us = self.ended_us = 1 << 62
        self.published: dict[str, Event] = {}
        self.marks: list[Mark] = []
        self.delivered: list[tuple[str, str, int, int, int]] = []
        self.received: list[tuple[str, int, bool]] = []
        self.sampled: list[tuple[str, int, float, float, int]] = []
        self.sent: list[tuple[int, str]] = []
        for e in read_events(run.events):
            self.origin_us = min(self.origin_us, e.t_us)
            self._take(e, brokers, kinds)

    def _take(self, e: Event, brokers: set[str], kinds: Collection[str]) -> None:
        kind = e.kind
        if kind == "DELIVERED":
            self.delivered.append((e.node, e.message, e.published_us, e.t_us - e.published_us, e.hops))
        elif kind == "PUBLISHED":
            self.published[e.message] = e
        elif kind in kinds:
            self.marks.append(Mark(e.t_us, kind, e.node, e.peer, e.message, e.hops, e.duration_us, e.detail))
        elif kind == "RUN_ENDED":
            self.ended_us = min(self.ended_us, e.t_us)
        elif e.node in brokers:
            if kind in ("PROCESSED", "RECEIVED"):
                self.received.append((e.node, e.t_us, kind == "PROCESSED"))
            elif kind == "SAMPLED":
                self.sampled.append(
                    (e.node, e.t_us, e.input_utilisation, e.output_utilisation, e.memory_bytes)
                )
            elif kind == "COUNTED":
                self._take_count(e)
            elif kind in ("FORWARDED", "SENT") and e.peer in brokers:
                self.sent.append((e.t_us, e.type if kind == "SENT" else PUBLICATION))

    def _take_count(self, e: Event) -> None:
        """What a run with `log_detail` counted: as the tables of Spark take it."""
        if e.detail in ("PROCESSED", "RECEIVED"):
            self.received += [(e.node, e.t_us, e.detail == "PROCESSED")] * e.count
        elif e.detail in ("FORWARDED", "SENT") and e.group == "overlay":
            self.sent += [(0, e.type)] * e.count  # until the broker stopped

    def load(self) -> pandas.DataFrame:
        """As the table of that name: per broker and window of ten seconds."""
        keys = ["broker", "window_s"]
        got = pandas.DataFrame(self.received, columns=["broker", "t_us", "publication"])
        counts = got.assign(window_s=self._window(got)).groupby(keys).publication.agg(["size", "sum"])
        names = ["broker", "t_us", "input", "output", "memory"]
        samples = pandas.DataFrame(self.sampled, columns=names)
        means = samples.assign(window_s=self._window(samples)).groupby(keys)
        sampled = means.agg({"input": "mean", "output": "mean", "memory": "max"})
        joined = counts.join(sampled, how="outer").reset_index()
        joined[["size", "sum"]] = joined[["size", "sum"]].fillna(0).astype("int64")
        return joined.rename(columns={"size": "received", "sum": "publications"})[LOAD]

    def _window(self, rows: pandas.DataFrame) -> pandas.Series:
        return (rows.t_us - self.origin_us) // WINDOW_US * (WINDOW_US // 1_000_000)

    def overlay(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for t_us, type_ in self.sent:
            if t_us <= self.ended_us:
                counts[type_] = counts.get(type_, 0) + 1
        return counts


def evidence(run: RunFolder, kinds: Collection[str] = ()) -> Evidence:
    """`kinds`: of the rare events that are wanted one by one."""
    plan = run.read_plan()
    brokers = {b.id for b in plan.brokers}
    found = _Pass(run, brokers, kinds)
    times = [e.t_us for e in found.published.values()]
    names = ["client", "message", *DELIVERED[1:]]
    delivered = pandas.DataFrame(found.delivered, columns=names)
    copies = delivered.groupby(["client", "message"]).size()
    first = delivered.sort_values("delay_us", kind="stable").drop_duplicates(["client", "message"])
    return Evidence(
        len(brokers), found.origin_us, min(times), max(times), first[DELIVERED], found.load(),
        found.overlay(), count_missing(plan, found.published, set(copies.index)),
        int((copies > 1).sum()), sorted(found.marks),
    )  # fmt: skip


def count_missing(plan: Plan, published: dict[str, Event], present: set[tuple[str, str]]) -> int:
    """Deliveries that should have been and were not.

    Every subscription is settled before the first publication: a phase of its own comes before. The last
    QUIET_US of publishing are left out, as they may be under way when a run ends: of a run that publishes for
    less nothing is counted. Spark's table `losses` knows what was under way, and counts such runs too.
    """
    last = max(e.t_us for e in published.values()) - QUIET_US
    by_filter: dict[str, list[str]] = {}
    for client in plan.clients:
        for subscription in client.subscriptions:
            by_filter.setdefault(subscription.filter, []).append(client.id)
    filters = {text: parse_filter(text) for text in by_filter}
    by_symbol: dict[Any, list[str]] = {}
    for text, parsed in filters.items():
        symbol = next((p.value for p in parsed.predicates if p.attribute == "symbol"), None)
        by_symbol.setdefault(symbol, []).append(text)
    missing = 0
    for message, event in published.items():
        if event.t_us <= last:
            content = attributes(event.content)
            for text in (*by_symbol.get(content.get("symbol"), ()), *by_symbol.get(None, ())):
                if filters[text].matches(content):
                    missing += sum((client, message) not in present for client in by_filter[text])
    return missing


def attributes(content: str) -> dict[str, Any]:
    """[class,'STOCK'],[open,1.5] as a log has it."""
    found: dict[str, Any] = {}
    for part in content.strip("[]").split("],["):
        name, value = part.split(",", 1)
        found[name] = value.strip("'") if value.startswith("'") else float(value)
    return found
