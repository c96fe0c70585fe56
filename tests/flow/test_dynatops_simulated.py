"""Trees and notifications by flow, and by machines in the simulator: the same integers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from broker_grpc.protocols.ring.converged import Converged
from broker_grpc.protocols.ring.identifiers import key_of
from broker_grpc.protocols.ring.settings import RingSettings
from broker_grpc.protocols.ring.static import members_of
from testbed.flow.dynatops.hosting import Hosting
from testbed.flow.dynatops.measuring import Slot
from testbed.flow.dynatops.network import Network
from testbed.flow.dynatops.overlay import overlay_of
from testbed.flow.dynatops.story import Story
from testbed.topology.plan import Client, Plan, PublicationPlan, SubscriptionPlan
from tests.simulation.chains import chain, of_kind, simulate

BROKERS, TOPICS, USERS = 12, 6, 16
APART_US, QUIET_US = 600_000, 45_000_000  # each request is over before the next, all before the first event
RINGS: dict[str, dict[str, Any]] = {
    "bayeux-2": {"kind": "tapestry", "base_bits": 1},
    "bayeux-16": {"kind": "tapestry", "base_bits": 4},
    "chord": {"kind": "chord"},
}
TREES = {"tree_join", "tree_attach", "tree_leave", "tree_detach"}


def wishes(random: Random) -> list[tuple[int, int, int, int]]:
    """(user, topic, from, until) with times of their own; until 0 is to the end."""
    times = random.sample(range(1, 64), 64 - 1)
    found = []
    for user in range(USERS):
        for topic in random.sample(range(TOPICS), 2):
            begin, end = sorted((times.pop(), times.pop())) if len(times) > 31 else (times.pop(), 0)
            found.append((user, topic, APART_US * begin, APART_US * end))
    return found


def plan_of(ring: dict[str, Any], homes: list[int], wanted: list[tuple[int, int, int, int]]) -> Plan:
    plan = chain(BROKERS, run_for_us=60_000_000)
    for link in plan.network.links:
        link.latency_us = 50
    settings = {"grow": "top_down", "ring": {**ring, "bootstrap": "converged", "maintain": False}}
    for broker in plan.brokers:
        broker.algorithm = {"name": "rendezvous", **settings}
    plan.overlay, plan.clients = [], []
    for user, home in enumerate(homes):
        own = [
            SubscriptionPlan(f"[class,eq,'t{topic}']", "", begin, end)
            for who, topic, begin, end in wanted
            if who == user
        ]
        plan.clients.append(Client(f"s{user}", f"h{home}", f"B{home}", "subs", subscriptions=own))
    for topic in range(TOPICS):
        at = (5 * topic) % BROKERS
        source = PublicationPlan("topic", {"topic": f"t{topic}"}, 1_000_000, first_us=QUIET_US)
        plan.clients.append(Client(f"p{topic}", f"h{at}", f"B{at}", "pubs", publications=source))
    plan.phases[1].start = [client.id for client in plan.clients if client.subscriptions]
    plan.phases[2].start = [client.id for client in plan.clients if client.publications]
    return plan


@pytest.mark.parametrize("name", RINGS)
def test_flow_counts_what_the_machines_send(name: str, tmp_path: Path) -> None:
    random = Random(7)
    homes = [random.randrange(BROKERS) for _ in range(USERS)]
    wanted = wishes(random)
    events = simulate(plan_of(RINGS[name], homes, wanted), tmp_path)
    network, hosting = flowed(RINGS[name], homes, wanted)
    begun = of_kind(events, "PUBLISHED")[0]["t_us"]  # at the end all go, and leave their trees
    sent = Counter(e["type"] for e in of_kind(events, "SENT") if e["t_us"] < begun)
    assert sum(sent[type_] for type_ in TREES) == network.tree_messages > 50
    published = Counter(int(e["node"][1:]) for e in of_kind(events, "PUBLISHED"))
    made = np.zeros((BROKERS, TOPICS))
    for topic, count in published.items():
        made[(5 * topic) % BROKERS, topic] = count
    network.slot_over(Slot(hosting.users, made))
    crossed = [e for e in of_kind(events, "PROCESSED") if e["peer"].startswith("B")]
    assert len(crossed) == network.sums.to_root + network.sums.in_tree > 50
    assert len(of_kind(events, "DELIVERED")) == network.sums.deliveries > 20


def flowed(
    ring: dict[str, Any], homes: list[int], wanted: list[tuple[int, int, int, int]]
) -> tuple[Network, Hosting]:
    names = [f"B{n}" for n in range(BROKERS)]
    settled = Converged(members_of(names), RingSettings(**ring))
    overlay = overlay_of(settled, [key_of(f"t{topic}") for topic in range(TOPICS)])
    order = [member.broker for member in settled.members]
    network = Network(overlay, np.array([order.index(name) for name in names], np.int16))
    hosting = Hosting(_nobody(), BROKERS)
    changes = [(begin, homes[user], topic, True) for user, topic, begin, _ in wanted]
    changes += [(end, homes[user], topic, False) for user, topic, _, end in wanted if end]
    for _, home, topic, comes in sorted(changes):
        (hosting.take_in if comes else hosting.let_go)(home, [topic])
    network.subscriptions_changed(hosting.take_turnover().changed)
    return network, hosting


def _nobody() -> Story:
    rows, none = np.empty((0, 2), np.int32), np.empty(0, np.int32)
    return Story(TOPICS, rows, np.empty(0), none, rows, rows, none, none, none, none)
