"""The maintenance as a running system: brokers and coordinator of a plan, under churn.

The paper never did this, so the numbers are ours: hosts on a star with a few milliseconds each, a
broker per host, one subscriber per broker to all of its topics, and a few publishers at brokers that
stay. Every `period` one broker is killed (noticed by its missing heartbeats), leaves with a farewell,
or joins. All three maintenance algorithms see the same churn.

In simulated and in virtual time computing takes none. `charged` says what the coordinator's takes instead:
nothing, what ours takes at this size (measured, `computing.py`), or what the paper states for 2,000 nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from random import Random
from typing import Any

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
    smallest: int = 3  # topics of a broker
    largest: int = 8
    per_host: int = 1  # brokers
    charged: str = "none"  # a key of CHARGED
    balanced: bool = (
        False  # joins are half of the rounds, not each with probability 1/2: few rounds may have none
    )

    def said(self) -> dict[str, Any]:
        """The settings of a point: later ones only where they differ, so that older rows stay its."""
        added = ("smallest", "largest", "per_host", "charged", "balanced")
        return {k: v for k, v in asdict(self).items() if k not in added or v != getattr(Churned, k)}


Takes = tuple[int, int]  # us of a join, of a leave
# Measured: CPU time by `computing.py`, rounded; in the table `computing` of results/shadow_tco/full-larger.
CHARGED: dict[str, Callable[[int], dict[str, Takes]]] = {
    "none": lambda brokers: {},
    "measured": lambda brokers: MEASURED[brokers],
    "stated": lambda brokers: STATED,
}
MEASURED: dict[int, dict[str, Takes]] = {
    12: {"low-oda": (550, 490), "naive": (48, 160), "shadow": (200, 130)},
    100: {"low-oda": (7_000, 7_000), "naive": (150, 400), "shadow": (180, 200)},
    500: {"low-oda": (64_000, 64_000), "naive": (350, 900), "shadow": (220, 500)},
}
STATED: dict[str, Takes] = {  # section VI-C
    "low-oda": (18_760_000, 18_760_000), "naive": (7_930, 2_575_000), "shadow": (2_690, 333_000),
}  # fmt: skip


def plan_of(size: Churned, maintenance: str, seed: int) -> Plan:
    random = Random(f"{seed}/deployment")
    everybody = size.brokers + size.spare
    sizes = Setting(nodes=everybody, topics=size.topics, smallest=size.smallest, largest=size.largest)
    drawn = initial(sizes, random)
    interests = {f"B{v + 1}": [f"t{t}" for t in topics] for v, topics in drawn.items()}
    names = list(interests)
    hosts = -(-everybody // size.per_host)
    nodes, wires = star(hosts + 1, random)
    sources = publishers(size, interests)
    subscribers = [subscriber(size, name, at, interests[name]) for at, name in enumerate(names)]
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
        probes=Probes(pairs=[("h1", "h2"), ("h0", f"h{hosts}")]),
        sample_every_us=0,
    )


def star(hosts: int, random: Random) -> tuple[list[Node], list[Link]]:
    nodes = [Node("sw", "switch")]
    nodes += [Node(f"h{at}", "host", f"10.0.{at // 200}.{at % 200 + 1}") for at in range(hosts)]
    latencies = [2_000 + int(random.random() * 8_000) for _ in range(hosts)]
    return nodes, [Link(f"l{at}", f"h{at}", "sw", latency_us=us) for at, us in enumerate(latencies)]


def coordinator(size: Churned, maintenance: str, seed: int) -> Broker:
    chosen: dict[str, Any] = {
        "name": "coordinator",
        "maintenance": maintenance,
        "heartbeat_timeout_us": size.heartbeat_timeout_us,
    }
    takes = CHARGED[size.charged](size.brokers).get(maintenance)
    if takes is not None:
        chosen |= {"join_takes_us": takes[0], "leave_takes_us": takes[1]}
    return Broker(COORDINATOR, "h0", "10.0.0.1", 5000, algorithm=chosen, seed=seed)


def host(size: Churned, at: int) -> int:
    """Of the broker with this number; the coordinator has one of its own."""
    return at // size.per_host + 1


def broker(size: Churned, name: str, at: int, topics: list[str]) -> Broker:
    chosen = {
        "name": "topic_connected",
        "coordinator": COORDINATOR,
        "topics": topics,
        "heartbeat_interval_us": size.heartbeat_us,
    }
    number = host(size, at)
    address, port = f"10.0.{number // 200}.{number % 200 + 1}", 5000 + at % size.per_host
    return Broker(name, f"h{number}", address, port, algorithm=chosen, on_crash="continue", seed=at)


def subscriber(size: Churned, name: str, at: int, topics: list[str]) -> Client:
    wanted = [SubscriptionPlan(f"[class,eq,'{topic}']") for topic in topics]
    return Client(
        f"s-{name}", f"h{host(size, at)}", name, "subscribers", subscriptions=wanted, on_crash="continue"
    )


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
            f"h{host(size, list(interests).index(name))}",
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
    joins = half(size.rounds, random) if size.balanced else None
    for k in range(1, size.rounds + 1):
        at_us = k * size.period_us
        if away and (random.random() < 0.5 if joins is None else k in joins):
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


def half(rounds: int, random: Random) -> set[int]:
    """Of the rounds 1 to this one."""
    drawn = {k: random.random() for k in range(1, rounds + 1)}
    return set(sorted(drawn, key=lambda k: drawn[k])[: rounds // 2])
