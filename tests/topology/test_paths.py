"""Planned paths: shortest by latency, the same for everybody, and what the tables of switches say."""

from __future__ import annotations

from itertools import combinations

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.topology.paths import NoPath, Routing, one_way_us, routes, rtt_us
from testbed.topology.plan import Link, Network, Node, PairLatency


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Random connected switches, a host on each; small latencies, so that ties are common."""
    n = draw(st.integers(2, 9))
    pairs = {(draw(st.integers(0, i - 1)), i) for i in range(1, n)}
    pairs |= set(draw(st.lists(st.sampled_from(list(combinations(range(n), 2))), max_size=8)))
    nodes = [Node(f"s{i}", "switch") for i in range(n)] + [Node(f"h{i}", "host") for i in range(n)]
    links = [
        Link(f"s{i}-s{j}", f"s{i}", f"s{j}", latency_us=draw(st.integers(0, 3))) for i, j in sorted(pairs)
    ]
    links += [Link(f"s{i}-h{i}", f"s{i}", f"h{i}") for i in range(n)]
    return Network(nodes, links)


@settings(max_examples=60, deadline=None)
@given(networks())
def test_paths_are_shortest(network: Network) -> None:
    graph = networkx.Graph()
    for link in network.links:
        graph.add_edge(link.a, link.b, weight=link.latency_us)
    routing = Routing(network)
    for a, b in combinations(routing.hosts, 2):
        assert routing.one_way_us(a, b) == networkx.dijkstra_path_length(graph, a, b)


@settings(max_examples=60, deadline=None)
@given(networks())
def test_following_the_tables_gives_the_planned_path(network: Network) -> None:
    tables, routing = routes(network), Routing(network)
    gate = {f"h{i}": f"s{i}" for i in range(len(routing.hosts))}
    for a, b in combinations(routing.hosts, 2):
        walked = [a, gate[a]]
        while walked[-1] != b:
            walked.append(tables[walked[-1]][b])
            assert len(walked) <= len(network.nodes), "a loop"
        assert walked == routing.path(a, b)


def test_ties_go_to_fewer_hops_then_to_the_earlier_node() -> None:
    nodes = [Node(id, "switch") for id in ("a", "b", "c", "d", "e")]
    links = [Link("1", "a", "c", 5), Link("2", "c", "e", 5), Link("3", "a", "b", 5), Link("4", "b", "e", 5)]
    assert Routing(Network(nodes, links)).path("a", "e") == ["a", "b", "e"]
    longer = [*links[:2], Link("5", "a", "b", 3), Link("6", "b", "d", 3), Link("7", "d", "e", 4)]
    assert Routing(Network(nodes, longer)).path("a", "e") == ["a", "c", "e"]


def test_hosts_do_not_forward() -> None:
    nodes = [Node("s1", "switch"), Node("h1", "host"), Node("s2", "switch"), Node("h2", "host")]
    links = [Link("1", "s1", "h1"), Link("2", "h1", "s2"), Link("3", "s2", "h2")]
    assert Routing(Network(nodes, links)).path("s1", "h1") == ["s1", "h1"]
    with pytest.raises(NoPath):
        Routing(Network(nodes, links)).path("s1", "h2")


def test_links_that_are_down_are_not_used() -> None:
    nodes = [Node("s1", "switch"), Node("s2", "switch"), Node("s3", "switch"), Node("h", "host")]
    links = [
        Link("x", "s1", "s2", 1),
        Link("y", "s1", "s3", 5),
        Link("z", "s3", "s2", 5),
        Link("h", "s2", "h"),
    ]
    network = Network(nodes, links)
    assert routes(network)["s1"] == {"h": "s2"}
    assert routes(network, down=["x"])["s1"] == {"h": "s3"}
    assert routes(network, down=["x", "y"])["s1"] == {}


def test_penalties_choose_but_do_not_delay() -> None:
    nodes = [Node("s1", "switch"), Node("s2", "switch"), Node("s3", "switch")]
    links = [Link("x", "s1", "s2", 1, penalty_us=100), Link("y", "s1", "s3", 5), Link("z", "s3", "s2", 5)]
    routing = Routing(Network(nodes, links))
    assert routing.path("s1", "s2") == ["s1", "s3", "s2"]
    assert routing.one_way_us("s1", "s2") == 10


def test_pair_latencies_are_added() -> None:
    nodes = [Node("net", "switch"), Node("a", "host"), Node("b", "host")]
    links = [Link("1", "net", "a", 10), Link("2", "net", "b", 20)]
    network = Network(nodes, links, [PairLatency("a", "b", 1000), PairLatency("b", "a", 2000)])
    assert one_way_us(network, "a", "b") == 1030
    assert one_way_us(network, "b", "a") == 2030
    assert rtt_us(network, "a", "b") == 3060


def test_an_unknown_node_has_no_path() -> None:
    with pytest.raises(NoPath, match="no node x"):
        one_way_us(Network([Node("a", "switch")]), "a", "x")
