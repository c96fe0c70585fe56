"""Flow against the simulator on small plans with spaced operations: the same integers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from broker_grpc.protocols.selforganising.heuristics import (
    CostAndInterest,
    Heuristic,
    LocalMaximumInterestTree,
    LocalMinimumSpanningTree,
)
from broker_grpc.protocols.selforganising.intervals import phase_us
from testbed.flow.selforganising.play import Costs, Setup, play
from testbed.flow.traffic import traffic_of
from testbed.topology.plan import Client, OverlayLink, Plan, PublicationPlan, SubscriptionPlan
from testbed.workload.schedule import offsets_us
from tests.simulation.chains import chain, of_kind, simulate

BROKERS, TOPICS, INTERVAL_US, RUN_US = 8, 6, 2_500_000, 30_000_000
LINKED_US = 50_000  # by then the overlay is up
EPOCH_US = 946_684_800_000_000  # where the simulator's clock begins: a whole number of intervals
HEURISTICS: dict[str, Heuristic] = {
    "ci": CostAndInterest(),
    "lmst": LocalMinimumSpanningTree(),
    "lmit": LocalMaximumInterestTree(),
}


def costs_of(random: Random) -> Costs:
    links = [[0.0] * BROKERS for _ in range(BROKERS)]
    for a in range(BROKERS):
        for b in range(a):
            links[a][b] = links[b][a] = round(10 * random.random(), 3)
    return Costs(links, [round(10 * random.random(), 3) for _ in range(BROKERS)])


def plan_of(name: str, seed: int, costs: Costs, edges: list[tuple[int, int]]) -> Plan:
    """Everything on a star with hardly any latency: what one broadcast starts is over before the next."""
    random = Random(seed)
    plan = chain(BROKERS, run_for_us=RUN_US)
    for link in plan.network.links:
        link.latency_us = 20
    for n, broker in enumerate(plan.brokers):
        given = {f"B{other}": cost for other, cost in enumerate(costs.links[n]) if other != n}
        settings = {"link_costs": given, "processing_cost": costs.processing[n], "interval_us": INTERVAL_US}
        broker.algorithm, broker.seed = {"name": name, **settings}, seed * 100 + n
    plan.overlay = [OverlayLink(f"B{a}", f"B{b}") for a, b in edges]
    plan.clients = []
    for topic in range(TOPICS):
        publication = PublicationPlan("topic", {"topic": f"t{topic}"}, 80_000, "poisson")
        at = random.randrange(BROKERS)
        plan.clients.append(Client(f"p{topic}", f"h{at}", f"B{at}", publications=publication, seed=topic))
        for at in random.sample(range(BROKERS), 3):
            wanted = [SubscriptionPlan(f"[class,eq,'t{topic}']")]
            plan.clients.append(Client(f"s{topic}-{at}", f"h{at}", f"B{at}", subscriptions=wanted))
    plan.phases[1].start = [client.id for client in plan.clients if client.subscriptions]
    plan.phases[2].start = [client.id for client in plan.clients if client.publications]
    return plan


@pytest.mark.parametrize("name", sorted(HEURISTICS))
@pytest.mark.parametrize("seed", [1, 2])
def test_flow_counts_what_the_simulator_sends(name: str, seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    costs = costs_of(random)
    edges = [(n, random.randrange(n)) for n in range(1, BROKERS)]
    plan = plan_of(name, seed, costs, edges)
    events = [e | {"t_us": e["t_us"] - EPOCH_US} for e in simulate(plan, tmp_path)]
    start = start_of(plan, events)
    end = start + RUN_US - 5_000_000
    numbers = {f"B{n}": n for n in range(BROKERS)}
    phases = [phase_us(Random(broker.seed), INTERVAL_US) for broker in plan.brokers]
    traffic = traffic_of(plan.clients, numbers, end, start)
    setup = Setup(traffic, edges, costs, (), phases, INTERVAL_US, sample_us=end, start_us=LINKED_US)
    found = play(setup, HEURISTICS[name])
    assert [(set(one.add), set(one.remove)) for one in found.exchanges] == exchanged(events, end)
    assert found.exchanges, "the plan is too dull to tell"
    counted = {str(row["purpose"]): row["messages"] for row in found.ledger.rows}
    assert counted == sent(events, end)


def start_of(plan: Plan, events: list[dict[str, Any]]) -> int:
    """Of the publishers."""
    first = of_kind(events, "PUBLISHED")[0]
    client = next(client for client in plan.clients if client.id == first["node"])
    assert client.publications is not None
    begin: int = first["t_us"] - next(offsets_us(client.publications, client.seed))
    return begin


def exchanged(events: list[dict[str, Any]], end: int) -> list[tuple[set[int], set[int]]]:
    done = [e for e in of_kind(events, "EXCHANGED") if e["type"] == "done" and e.get("group") == "ordered"]
    ends = [[int(name[1:]) for name in e["content"].split()] for e in done if e["t_us"] < end]
    return [({a, b}, {c, d}) for a, b, c, d in ends]


def sent(events: list[dict[str, Any]], end: int) -> dict[str, int]:
    """Messages between brokers by what flow calls them."""
    names = {"interest_broadcast": "interest", "link_request": "request"}
    counts: Counter[str] = Counter()
    for event in events:
        if event["kind"] == "SENT" and LINKED_US <= event["t_us"] < end:
            type_ = event["type"]
            purpose = "exchange" if type_.startswith("exchange_") else names.get(type_)
            counts[purpose or ""] += 1
        elif event["kind"] == "FORWARDED" and event["t_us"] < end:
            counts["data"] += 1
    counts.pop("", None)
    return dict(counts)
