"""A chain of simulated brokers, run to its end."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from testbed.simulation.eventlog import SimulatedLog
from testbed.simulation.simulator import Simulator
from testbed.topology.plan import (
    Broker,
    Client,
    Event,
    Gate,
    Link,
    Network,
    Node,
    OverlayLink,
    Phase,
    Plan,
    PublicationPlan,
    SubscriptionPlan,
)

LATENCY_US = 10_000


def chain(brokers: int, events: list[Event] | None = None, run_for_us: int = 20_000_000, **link: Any) -> Plan:
    """An overlay chain on a star of hosts, a publisher at one end and a subscriber at every broker."""
    names = [f"B{i}" for i in range(brokers)]
    nodes = [Node("sw", "switch"), *(Node(f"h{i}", "host", f"10.0.0.{i + 1}") for i in range(brokers))]
    links = [Link(f"l{i}", f"h{i}", "sw", latency_us=LATENCY_US, **link) for i in range(brokers)]
    source = PublicationPlan("topic", {"topic": "news"}, period_us=500_000, first_us=3_000_000)
    subscribers = [
        Client(f"s{i}", f"h{i}", name, "subs", subscriptions=[SubscriptionPlan("[class,eq,'news']")])
        for i, name in enumerate(names)
    ]
    publisher = Client("p", "h0", "B0", "pubs", publications=source)
    settled = Gate(subscriptions_settled=True, after_us=3_000_000)
    return Plan(
        "chain",
        1,
        Network(nodes, links),
        [Broker(n, f"h{i}", f"10.0.0.{i + 1}", 5000, on_crash="continue") for i, n in enumerate(names)],
        [OverlayLink(a, b) for a, b in itertools.pairwise(names)],
        [publisher, *subscribers],
        phases=[
            Phase("overlay", names, Gate(links_up=True)),
            Phase("subscribers", [c.id for c in subscribers], Gate(subscriptions_settled=True)),
            Phase("publishers", ["p"], settled, run_for_us),
        ],
        events=events or [],
        sample_every_us=0,
    )


def simulate(plan: Plan, folder: Path) -> list[dict[str, Any]]:
    log = SimulatedLog(folder / "simulation.jsonl")
    simulator = Simulator(plan, log, lambda tell: None)
    simulator.begin()
    while simulator.step(1000):
        pass
    simulator.end()
    log.close()
    assert simulator.outcome is not None
    assert simulator.outcome.status == "done", simulator.outcome.reason
    return [json.loads(line) for line in (folder / "simulation.jsonl").read_bytes().splitlines()]


def of_kind(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [e for e in events if e["kind"] == kind]
