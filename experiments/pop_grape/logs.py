"""The events of one run that section 5's measures need, in one pass over its logs.

A set has dozens of runs of a quarter of a million events: each is measured here within a second, where the
general tables (`testbed analyze`) take a minute of processor time. Both read the same logs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pandas

from broker_grpc.content.language import parse_filter
from testbed.runfolder import RunFolder
from testbed.topology.plan import Plan

WANTED = frozenset(
    (
        "PUBLISHED",
        "DELIVERED",
        "PROCESSED",
        "RECEIVED",
        "FORWARDED",
        "SENT",
        "SAMPLED",
        "SELECTED",
        "MIGRATED",
    )
)
QUIET_US = 5_000_000  # what was published so late may still be on its way at the end


class Event(msgspec.Struct, gc=False):
    kind: str
    t_us: int
    node: str = ""
    type: str = ""
    peer: str = ""
    message: str = ""
    hops: int = 0
    published_us: int = 0
    duration_us: int = 0
    content: str = ""
    detail: str = ""
    input_utilisation: float = 0.0
    output_utilisation: float = 0.0
    memory_bytes: int = 0


def read_events(folder: Path) -> Iterator[Event]:
    """A torn last line, which a killed process leaves, is passed over; any other damage is an error."""
    decode = msgspec.json.Decoder(Event).decode
    for path in sorted(folder.glob("*.jsonl")):
        with path.open("rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    event = decode(line)
                    if event.kind in WANTED:
                        yield event


class Logs:
    """Deliveries, received messages and samples of one run, as frames; counts of messages between brokers."""

    def __init__(self, run: RunFolder) -> None:
        plan = run.read_plan()
        self.brokers = {b.id for b in plan.brokers}
        self.start_us = run.read_manifest().first_us
        self.published: dict[str, Event] = {}
        self.moves: list[Event] = []
        self.overlay: dict[str, int] = {}  # messages sent between brokers, by type
        delivered: list[tuple[str, str, int, int, int]] = []
        received: list[tuple[str, int, bool]] = []
        samples: list[tuple[str, int, float, float, float | None]] = []
        for e in read_events(run.events):
            kind = e.kind
            if kind == "DELIVERED":
                delivered.append((e.node, e.message, e.published_us, e.t_us - e.published_us, e.hops))
            elif kind == "PUBLISHED":
                self.published[e.message] = e
            elif kind in ("SELECTED", "MIGRATED"):
                self.moves.append(e)
            elif e.node in self.brokers:
                if kind in ("PROCESSED", "RECEIVED"):
                    received.append((e.node, e.t_us, kind == "PROCESSED"))
                elif kind == "SAMPLED":
                    memory = float(e.memory_bytes) if e.memory_bytes else None
                    samples.append((e.node, e.t_us, e.input_utilisation, e.output_utilisation, memory))
                elif e.peer in self.brokers:
                    self.overlay[e.type] = self.overlay.get(e.type, 0) + 1
        self.delivered = pandas.DataFrame(
            delivered, columns=["subscriber", "message", "published_us", "delay_us", "hops"]
        )
        self.received = pandas.DataFrame(received, columns=["broker", "t_us", "publication"])
        self.samples = pandas.DataFrame(samples, columns=["broker", "t_us", "input", "output", "memory"])
        self.missing, self.duplicates = self._against(plan)

    def _against(self, plan: Plan) -> tuple[int, int]:
        """Deliveries that should have been and were not, and second copies.

        Every subscription is settled before the first publication: a phase of its own comes before.
        """
        got = self.delivered.groupby(["subscriber", "message"]).size()
        duplicates = int((got > 1).sum())
        present = set(got.index)
        last = max(e.t_us for e in self.published.values()) - QUIET_US
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
        for message, event in self.published.items():
            if event.t_us <= last:
                content = attributes(event.content)
                for text in (*by_symbol.get(content.get("symbol"), ()), *by_symbol.get(None, ())):
                    if filters[text].matches(content):
                        missing += sum((client, message) not in present for client in by_filter[text])
        return missing, duplicates


def attributes(content: str) -> dict[str, Any]:
    """[class,'STOCK'],[open,1.5] as a log has it."""
    found: dict[str, Any] = {}
    for part in content.strip("[]").split("],["):
        name, value = part.split(",", 1)
        found[name] = value.strip("'") if value.startswith("'") else float(value)
    return found
