"""The maintenance as a running system: brokers and coordinator of a plan, under churn.

The paper never did this, so the numbers are ours: hosts on a star with a few milliseconds each, a
broker per host, one subscriber per broker to all of its topics, and a few publishers at brokers that
stay. Every `period` one broker is killed (noticed by its missing heartbeats), leaves with a farewell,
or joins. All three maintenance algorithms see the same churn.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random

from experiments.shadow_tco.workload import Setting, initial
from testbed.topology.plan import (
    Broker,
    Capture,
    Client,
    Event,
    Gate,
    Link,
    Network,
    Node,
    OverlayLink,
    Phase,
    Plan,
    Probes,
    PublicationPlan,
    SubscriptionPlan,
)

COORDINATOR = "C"


@dataclass(frozen=True)
class Churned:
    """A size of the experiment."""

    brokers: int = 32  # at the start
    spare: int = 8  # join later
    topics: int = 20
    publishers: int = 6
    rounds: int = 12
    period_us: int = 5_000_000
    publish_every_us: int = 200_000
    heartbeat_us: int = 500_000
    heartbeat_timeout_us: int = 1_500_000


SMOKE = Churned(brokers=8, spare=2, topics=8, publishers=2, rounds=6)
FULL = Churned()


def plan_of(size: Churned, maintenance: str, seed: int) -> Plan:
    random = Random(f"{seed}/deployment")
    everybody = size.brokers + size.spare
    drawn = initial(Setting(nodes=everybody, topics=size.topics, smallest=3, largest=8), random)
    interests = {f"B{v + 1}": [f"t{t}" for t in topics] for v, topics in drawn.items()}
    names = list(interests)
    nodes, wires = star(everybody + 1, random)
    sources = publishers(size, interests)
    subscribers = [subscriber(name, at, interests[name]) for at, name in enumerate(names)]
    present = names[: size.brokers]
    events = churn(size, names, {client.broker for client in sources}, random)
    brokers = [broker(size, name, at, interests[name]) for at, name in enumerate(names)]
    settled = Gate(subscriptions_settled=True, timeout_us=120_000_000)
    return Plan(
        f"shadow-tco-{maintenance}",
        seed,
        Network(nodes, wires),
        [coordinator(size, maintenance, seed), *brokers],
        [OverlayLink(name, COORDINATOR) for name in names],
        [*subscribers, *sources],
        phases=[
            Phase("overlay", [COORDINATOR, *present], Gate(links_up=True, timeout_us=120_000_000)),
            Phase("subscribers", [c.id for c in subscribers if c.broker in present], settled),
            Phase("churn", [c.id for c in sources], settled, (size.rounds + 1) * size.period_us),
        ],
        events=events,
        capture=Capture(nodes=["h0", "h1"]),
        probes=Probes(pairs=[("h1", "h2"), ("h0", f"h{everybody}")]),
        sample_every_us=0,
    )


def star(hosts: int, random: Random) -> tuple[list[Node], list[Link]]:
    nodes = [Node("sw", "switch")]
    nodes += [Node(f"h{at}", "host", f"10.0.{at // 200}.{at % 200 + 1}") for at in range(hosts)]
    latencies = [2_000 + int(random.random() * 8_000) for _ in range(hosts)]
    return nodes, [Link(f"l{at}", f"h{at}", "sw", latency_us=us) for at, us in enumerate(latencies)]


def coordinator(size: Churned, maintenance: str, seed: int) -> Broker:
    chosen = {
        "name": "coordinator",
        "maintenance": maintenance,
        "heartbeat_timeout_us": size.heartbeat_timeout_us,
    }
    return Broker(COORDINATOR, "h0", "10.0.0.1", 5000, algorithm=chosen, seed=seed)


def broker(size: Churned, name: str, at: int, topics: list[str]) -> Broker:
    chosen = {
        "name": "topic_connected",
        "coordinator": COORDINATOR,
        "topics": topics,
        "heartbeat_interval_us": size.heartbeat_us,
    }
    address = f"10.0.{(at + 1) // 200}.{(at + 1) % 200 + 1}"
    return Broker(name, f"h{at + 1}", address, 5000, algorithm=chosen, on_crash="continue", seed=at)


def subscriber(name: str, at: int, topics: list[str]) -> Client:
    wanted = [SubscriptionPlan(f"[class,eq,'{topic}']") for topic in topics]
    return Client(f"s-{name}", f"h{at + 1}", name, "subscribers", subscriptions=wanted, on_crash="continue")


def publishers(size: Churned, interests: dict[str, list[str]]) -> list[Client]:
    """For each of the most popular topics, at its first subscriber that publishes nothing yet."""
    popularity = Counter(topic for topics in interests.values() for topic in topics)
    chosen: dict[str, str] = {}
    for topic, _ in sorted(popularity.items(), key=lambda item: (-item[1], item[0])):
        free = [n for n in list(interests)[: size.brokers] if topic in interests[n] and n not in chosen]
        home = free[0] if free else ""
        if home and len(chosen) < size.publishers:
            chosen[home] = topic
    return [
        Client(
            f"p-{name}",
            f"h{list(interests).index(name) + 1}",
            name,
            "publishers",
            publications=PublicationPlan(
                "topic", {"topic": topic}, size.publish_every_us, first_us=1_000_000 + 7_000 * at
            ),
        )
        for at, (name, topic) in enumerate(chosen.items())
    ]


def churn(size: Churned, names: list[str], stay: set[str], random: Random) -> list[Event]:
    """One change per period; kills and farewells take turns. A broker that returns has its old topics."""
    present, away = [n for n in names[: size.brokers] if n not in stay], names[size.brokers :]
    fresh = set(away)
    events, graceful = [], False
    for k in range(1, size.rounds + 1):
        at_us = k * size.period_us
        if away and random.random() < 0.5:
            name = away.pop(int(random.random() * len(away)))
            events.append(Event("churn", at_us, "join", name))
            if name in fresh:
                events.append(Event("churn", at_us + 1_000_000, "join", f"s-{name}"))
            present.append(name)
            fresh.discard(name)
        else:
            name = present.pop(int(random.random() * len(present)))
            events.append(Event("churn", at_us, "leave" if graceful else "kill", name))
            graceful = not graceful
            away.append(name)
    return events
