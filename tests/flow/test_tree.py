"""Delivery trees and common interest of flow, against brute force."""

from __future__ import annotations

from itertools import combinations, pairwise

import networkx
import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.errors import InputError
from testbed.flow.selforganising.windows import Windows
from testbed.flow.traffic import Flow, Stay, Traffic, traffic_of
from testbed.flow.tree import Prices, Tree
from testbed.topology.plan import Client, PublicationPlan, SubscriptionPlan


@st.composite
def trees(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    n = draw(st.integers(2, 12))
    return n, [(v, draw(st.integers(0, v - 1))) for v in range(1, n)]


@given(trees(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_a_notification_costs_its_delivery_tree(tree, random) -> None:  # type: ignore[no-untyped-def]
    """Equation 1: the brokers and links of the minimal connected subtree."""
    n, edges = tree
    links = numpy.array([[random.random() for _ in range(n)] for _ in range(n)])
    links = links + links.T
    processing = numpy.array([random.random() for _ in range(n)])
    graph = networkx.Graph(edges)
    wanted = [random.sample(range(n), random.randint(1, n)) for _ in range(5)]
    members = numpy.zeros((5, n), dtype=bool)
    for row, chosen in zip(members, wanted, strict=True):
        row[chosen] = True
    found = Prices(Tree(n, edges), links, processing).of(members)
    for chosen, cost, crossed in zip(wanted, found.costs, found.links, strict=True):
        used = {(a, b) for u, v in combinations(chosen, 2) for a, b in _steps(graph, u, v)}
        brokers = set(chosen).union(*map(set, used)) if used else set(chosen)
        assert cost == pytest.approx(sum(processing[list(brokers)]) + sum(links[a, b] for a, b in used))
        assert crossed == len(used)


def _steps(graph: networkx.Graph, u: int, v: int) -> list[tuple[int, int]]:
    path = networkx.shortest_path(graph, u, v)
    return [(min(a, b), max(a, b)) for a, b in pairwise(path)]


def test_an_exchange_leaves_a_tree_and_a_broadcast_goes_ring_by_ring() -> None:
    tree = Tree(5, [(0, 1), (1, 2), (2, 3), (1, 4)])
    assert tree.reached(0, 2) == ([1, 2, 4], {0: 0, 1: 0, 2: 1, 4: 1})
    tree.exchange((0, 3), (2, 1))
    assert tree.edges() == {(0, 1), (0, 3), (2, 3), (1, 4)}
    assert tree.reached(2, 0) == ([], {2: 2})


@given(st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_common_interest_is_what_two_caches_of_ids_would_share(random) -> None:  # type: ignore[no-untyped-def]
    brokers, end, interval = 4, 1000, 170
    flows = []
    for topic in "ab":
        times = numpy.array(sorted(random.sample(range(end), 40)))
        stays = []
        for broker in range(brokers):
            begin = random.randrange(end)
            stays.append(Stay(broker, begin, random.randrange(begin, end + 1)))
        flows.append(Flow(random.randrange(brokers), topic, times, tuple(stays)))
    phases = [random.randrange(interval) for _ in range(brokers)]
    windows = Windows(Traffic(tuple(flows), brokers, end), phases, interval)
    for j in range(brokers):
        for n in range(end // interval + 1):
            last = phases[j] + n * interval
            found = [0] * brokers
            for flow in flows:
                for at in flow.times_us:
                    here = {s.broker for s in flow.stays if s.begin_us <= at < s.end_us} | {flow.publisher}
                    if last - interval < at <= last and j in here:
                        found = [count + (i in here) for i, count in enumerate(found)]
            assert windows.common(j, n) == found


def test_traffic_is_the_schedule_of_the_clients() -> None:
    plan = PublicationPlan("topic", {"topic": "t"}, 100, "poisson")
    publisher = Client("p", "n", "B1", publications=plan, seed=7)
    subscriber = Client("s", "n", "B2", subscriptions=[SubscriptionPlan("[class,eq,'t']", "", 50, 300)])
    traffic = traffic_of([publisher, subscriber], {"B1": 0, "B2": 1}, 1000, start_us=100)
    (flow,) = traffic.flows
    assert flow.stays == (Stay(1, 150, 400),)
    assert len(flow.times_us) > 2
    assert all(100 <= at < 1000 for at in flow.times_us)
    with pytest.raises(InputError, match="publishers of one topic"):
        traffic_of([Client("p", "n", "B1", publications=PublicationPlan("stock"))], {"B1": 0}, 10)
