"""Plans of brokers on a topic-connected overlay, and what to read out of their event logs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
from tests.topicconnected.watch import Watch

LATENCY_US = 5_000
RUN_US = 30_000_000
Events = list[dict[str, Any]]
COORDINATORS = (  # settings; all others are the brokers'
    "gather_us", "heartbeat_timeout_us", "coverage", "join_takes_us", "leave_takes_us",
)  # fmt: skip


def overlay_plan(
    interests: Mapping[str, Sequence[str]],
    publishers: Mapping[str, str],
    events: Iterable[Event] = (),
    *,
    later: Iterable[str] = (),
    others: Mapping[str, Sequence[str]] | None = None,
    declared: bool = True,
    maintenance: str = "shadow",
    run_us: int = RUN_US,
    **settings: Any,
) -> Plan:
    """A host and a subscriber for every broker; `publishers`: broker -> topic, 20 publications a second.

    Brokers in `later` are started by an event, with their subscribers; so are `o-BROKER`, clients that
    want the topics of `others`. Brokers declare the topics of their subscriber, or learn them from it.
    """
    names = list(interests)
    absent = set(later)
    hosts = {name: f"h{at}" for at, name in enumerate(["C", *names])}
    nodes = [Node("sw", "switch")]
    nodes += [Node(host, "host", f"10.0.0.{at + 1}") for at, host in enumerate(hosts.values())]
    wires = [Link(f"l{at}", host, "sw", latency_us=LATENCY_US) for at, host in enumerate(hosts.values())]
    own = {key: value for key, value in settings.items() if key not in COORDINATORS}
    shared = {key: value for key, value in settings.items() if key not in own}
    brokers = [
        Broker(
            "C",
            "h0",
            "10.0.0.1",
            5000,
            algorithm={"name": "coordinator", "maintenance": maintenance, **shared},
        )
    ]
    brokers += [
        Broker(
            name,
            hosts[name],
            f"10.0.0.{at + 2}",
            5000,
            algorithm={
                "name": "topic_connected",
                "coordinator": "C",
                "topics": list(interests[name]) if declared else [],
                **own,
            },
            on_crash="continue",
        )
        for at, name in enumerate(names)
    ]
    wanted = {f"s-{name}": interests[name] for name in names if interests[name]}
    wanted |= {f"o-{name}": topics for name, topics in (others or {}).items()}
    subscribers = [
        Client(
            id_,
            hosts[id_[2:]],
            id_[2:],
            "subs",
            subscriptions=[SubscriptionPlan(f"[class,eq,'{topic}']") for topic in topics],
            on_crash="continue",
        )
        for id_, topics in wanted.items()
    ]
    sources = [
        Client(
            f"p-{name}",
            hosts[name],
            name,
            "pubs",
            publications=PublicationPlan("topic", {"topic": topic}, period_us=50_000, first_us=1_000_000),
        )
        for name, topic in publishers.items()
    ]
    now = [c.id for c in subscribers if c.broker not in absent and c.id.startswith("s-")]
    return Plan(
        "overlay",
        1,
        Network(nodes, wires),
        brokers,
        [OverlayLink(name, "C") for name in names],
        [*subscribers, *sources],
        phases=[
            Phase("overlay", ["C", *(n for n in names if n not in absent)], Gate(links_up=True)),
            Phase("subscribers", now, Gate(subscriptions_settled=True)),
            Phase("publishers", [c.id for c in sources], Gate(subscriptions_settled=True), run_us),
        ],
        events=list(events),
        sample_every_us=0,
    )


def at(seconds: float, action: str, target: str) -> Event:
    return Event("publishers", round(seconds * 1e6), action, target)  # type: ignore[arg-type]


def simulate(plan: Plan, folder: Path) -> Events:
    return simulate_watched(plan, folder)[0]


def simulate_watched(plan: Plan, folder: Path) -> tuple[Events, Watch]:
    """Topic-connectivity is looked at after every round, and whenever the overlay is up."""
    log = SimulatedLog(folder / "simulation.jsonl")
    simulator = Simulator(plan, log, lambda tell: None)
    watch = Watch(simulator)
    simulator.begin()
    while simulator.step(1):
        watch.look()
    simulator.end()
    log.close()
    assert simulator.outcome is not None
    assert simulator.outcome.status == "done", simulator.outcome.reason
    events = [json.loads(line) for line in (folder / "simulation.jsonl").read_bytes().splitlines()]
    assert watch.rounds == len(of_kind(events, "REPAIRED")) > 0, "a round was not looked at"
    assert watch.ups > 0
    return events, watch


def of_kind(events: Events, kind: str, **fields: Any) -> Events:
    return [e for e in events if e["kind"] == kind and all(e.get(k) == v for k, v in fields.items())]


def ready_us(events: Events, phase: str = "publishers") -> int:
    return int(next(e["t_us"] for e in events if e["kind"] == "PHASE_READY" and e["detail"] == phase))


def copies(events: Events) -> Counter[tuple[str, str]]:
    """(publication, subscriber) -> times delivered."""
    return Counter((e["message"], e["node"]) for e in of_kind(events, "DELIVERED"))


def missing(events: Events, subscribers: Iterable[str], topics: Mapping[str, Sequence[str]]) -> Events:
    """Publications that one of these subscribers should have got and did not, once each."""
    got = copies(events)
    lost = []
    for event in of_kind(events, "PUBLISHED"):
        topic = event["content"].split("[class,'")[1].split("'")[0]
        for subscriber in subscribers:
            if topic in topics[subscriber.removeprefix("s-")] and not got[event["message"], subscriber]:
                lost.append(event | {"subscriber": subscriber})
    return lost
