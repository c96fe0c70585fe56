"""Networks: shapes, connectedness, determinism, hierarchy, quantiles."""

from __future__ import annotations

import time
from collections import Counter
from itertools import combinations

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.topology.file.schema.network import (
    ChainNetwork,
    EdgeModel,
    MeshNetwork,
    PlanetLabNetwork,
    RingNetwork,
    StarNetwork,
    TransitStubNetwork,
    TreeNetwork,
    WaxmanLevel,
    WaxmanNetwork,
)
from testbed.topology.generators.edges import connected_graph, points
from testbed.topology.generators.graph import Graph
from testbed.topology.generators.planetlab import planetlab, regions_of, rtt_matrix
from testbed.topology.generators.regular import chain, mesh, ring, star, tree
from testbed.topology.generators.transit_stub import transit_stub
from testbed.topology.generators.waxman import waxman
from testbed.topology.paths import Routing
from testbed.topology.plan import Network
from testbed.topology.seeding import Draw
from tests.topology.texts import plan_of


def as_networkx(graph: Graph) -> networkx.Graph:
    out = networkx.Graph()
    out.add_nodes_from(node.id for node in graph.nodes)
    out.add_edges_from((link.a, link.b) for link in graph.links)
    return out


def draw(seed: int = 1) -> Draw:
    return Draw(seed, "test")


# ---- regular -----------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(1, 5))
def test_regular_shapes(n: int, fanout: int) -> None:
    assert networkx.is_isomorphic(
        as_networkx(chain(ChainNetwork(generator="chain", nodes=n), draw())), networkx.path_graph(n)
    )
    made = as_networkx(tree(TreeNetwork(generator="tree", nodes=n, fanout=fanout), draw()))
    assert networkx.is_tree(made)
    assert max(dict(made.degree()).values()) <= fanout + 1
    hub = star(StarNetwork(generator="star", nodes=n), draw())
    assert sorted(dict(as_networkx(hub).degree()).values()) == [1] * n + [n] or n == 1
    assert hub.sites == [f"h{i}" for i in range(1, n + 1)]


def test_ring_and_mesh() -> None:
    assert networkx.is_isomorphic(
        as_networkx(ring(RingNetwork(generator="ring", nodes=6), draw())), networkx.cycle_graph(6)
    )
    assert len(mesh(MeshNetwork(generator="mesh", nodes=6), draw()).links) == 15


def test_63_routers_with_fanout_2_are_the_balanced_binary_tree() -> None:
    made = as_networkx(tree(TreeNetwork(generator="tree", nodes=63), draw()))
    assert networkx.diameter(made) == 10
    assert Counter(dict(made.degree()).values()) == {1: 32, 2: 1, 3: 30}


def test_latency_ranges_are_used_and_kept() -> None:
    plan = plan_of(
        "name: x\nnetwork: {generator: chain, nodes: 50, link: {latency: [5ms, 20ms]}}\nbrokers: {B: {}}"
    )
    latencies = [link.latency_us for link in plan.network.links if link.tier != "access"]
    assert all(5000 <= latency <= 20_000 for latency in latencies)
    assert len(set(latencies)) > 40


# ---- random graphs -----------------------------------------------------------------------------------------

METHODS = ["waxman1", "waxman2", "random", "exponential", "doar_leslie", "locality"]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 25), st.sampled_from(METHODS), st.floats(0.0, 1.0), st.integers(0, 10**6))
def test_random_graphs_are_connected_whatever_the_parameters(
    n: int, method: str, alpha: float, seed: int
) -> None:
    model = EdgeModel.model_validate({"method": method, "alpha": alpha})
    stream = draw(seed)
    places = points(n, 20.0, stream)
    made = networkx.Graph(connected_graph(places, model, 20.0, stream))
    made.add_nodes_from(range(n))
    assert networkx.is_connected(made)
    assert not list(networkx.selfloop_edges(made))


def test_pure_random_edges_have_their_probability() -> None:
    stream = draw(3)
    places = points(40, 20.0, stream)
    edges = connected_graph(places, EdgeModel(method="random", alpha=0.4), 20.0, stream)
    assert 0.3 < len(edges) / (40 * 39 / 2) < 0.5


def test_waxman_edges_are_shorter_than_random_ones() -> None:
    def mean_length(method: str) -> float:
        stream = draw(5)
        places = points(60, 20.0, stream)
        edges = connected_graph(
            places, EdgeModel.model_validate({"method": method, "alpha": 0.9}), 20.0, stream
        )
        return sum(
            ((places[i][0] - places[j][0]) ** 2 + (places[i][1] - places[j][1]) ** 2) ** 0.5 for i, j in edges
        ) / len(edges)

    assert mean_length("waxman1") < 0.8 * mean_length("random")


# ---- transit-stub ------------------------------------------------------------------------------------------

SPECS = st.builds(
    TransitStubNetwork,
    generator=st.just("transit_stub"),
    transit_domains=st.integers(1, 4),
    transit_nodes=st.integers(1, 5),
    stubs_per_transit_node=st.integers(1, 3),
    stub_nodes=st.integers(1, 5),
    extra_transit_stub=st.integers(0, 6),
    extra_stub_stub=st.integers(0, 6),
    vary_sizes=st.booleans(),
)


@settings(max_examples=40, deadline=None)
@given(SPECS, st.integers(0, 10**6))
def test_transit_stub_is_connected_and_repeats_itself(spec: TransitStubNetwork, seed: int) -> None:
    made = transit_stub(spec, draw(seed))
    assert networkx.is_connected(as_networkx(made))
    assert len({node.id for node in made.nodes}) == len(made.nodes)
    assert len({frozenset((link.a, link.b)) for link in made.links}) == len(made.links)
    again = transit_stub(spec, draw(seed))
    assert (made.nodes, made.links, made.sites) == (again.nodes, again.links, again.sites)
    if not spec.vary_sizes:
        inner = spec.stubs_per_transit_node * spec.stub_nodes
        assert len(made.nodes) == spec.transit_domains * spec.transit_nodes * (1 + inner)


def shape(path: list[str], domain: dict[str, str]) -> list[str]:
    """The domains along a path, each run of one domain once."""
    out: list[str] = []
    for node in path:
        if not out or out[-1] != domain[node]:
            out.append(domain[node])
    return out


@settings(max_examples=40, deadline=None)
@given(SPECS, st.integers(0, 10**6))
def test_paths_respect_the_hierarchy(spec: TransitStubNetwork, seed: int) -> None:
    """stub - transit - ... - transit - stub: no stub in between, no domain left and entered again."""
    made = transit_stub(spec, draw(seed))
    domain = {node.id: node.domain for node in made.nodes}
    routing = Routing(Network(made.nodes, made.links))
    nodes = [node.id for node in made.nodes]
    for a, b in draw(seed).sample(list(combinations(nodes, 2)), 40):
        domains = shape(routing.path(a, b), domain)
        assert len(set(domains)) == len(domains), domains
        assert all(name.startswith("transit") for name in domains[1:-1]), domains


def test_t100_is_gt_itms_hundred_nodes() -> None:
    made = transit_stub(TransitStubNetwork(generator="transit_stub"), draw())
    tiers = Counter(link.tier for link in made.links)
    assert len(made.nodes) == 100
    assert tiers["transit-stub"] == 12
    assert len(made.sites) == 96


def test_latencies_by_link_class() -> None:
    spec = TransitStubNetwork(generator="transit_stub", transit_domains=3, extra_stub_stub=5)
    ranges = {
        "transit-transit": (20_000, 100_000),
        "transit": (5000, 20_000),
        "transit-stub": (5000, 20_000),
        "stub": (1000, 5000),
        "stub-stub": (5000, 20_000),
    }
    for link in transit_stub(spec, draw()).links:
        low, high = ranges[link.tier]
        assert low <= link.latency_us <= high


def test_varied_sizes_keep_their_mean() -> None:
    spec = TransitStubNetwork(generator="transit_stub", vary_sizes=True)
    sizes = [len(transit_stub(spec, draw(seed)).nodes) for seed in range(40)]
    assert len(set(sizes)) > 20
    assert 80 < sum(sizes) / len(sizes) < 120


# ---- Waxman, top down --------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 8), st.integers(1, 8), st.integers(1, 3), st.floats(0.001, 1.0), st.integers(0, 10**6))
def test_waxman_is_connected(domains: int, routers: int, m: int, beta: float, seed: int) -> None:
    spec = WaxmanNetwork(
        generator="waxman",
        domains=WaxmanLevel(nodes=domains, links_per_node=m, beta=beta),
        routers=WaxmanLevel(nodes=routers, links_per_node=m, beta=beta),
    )
    made = waxman(spec, draw(seed))
    assert len(made.nodes) == domains * routers
    assert networkx.is_connected(as_networkx(made))
    assert made.links == waxman(spec, draw(seed)).links


def test_ten_thousand_nodes_in_well_under_ten_seconds() -> None:
    started = time.process_time()
    plan = plan_of("name: x\nnetwork: {generator: waxman}\nbrokers: {B: {count: 100, place: random}}")
    assert time.process_time() - started < 10
    assert sum(node.kind == "switch" for node in plan.network.nodes) == 10_000
    assert len({broker.node for broker in plan.brokers}) == 100


# ---- PlanetLab-like ----------------------------------------------------------------------------------------

# Round trips in ms of the 490 measured nodes.
MEASURED = {0.05: 19.3, 0.25: 59.3, 0.50: 135.0, 0.75: 202.0, 0.95: 325.0}


@pytest.mark.parametrize("seed", [1, 2])
def test_quantiles_of_490_sites_match_the_measurement(seed: int) -> None:
    stream = draw(seed)
    matrix = rtt_matrix(regions_of(490, stream), stream)
    values = sorted(matrix[i][j] for i, j in combinations(range(490), 2))
    for quantile, measured in MEASURED.items():
        assert values[int(quantile * len(values))] == pytest.approx(measured, rel=0.10)


def test_triangle_violations_come_as_in_the_internet() -> None:
    """5.9 % of random triples in the measurement."""
    stream = draw(4)
    n = 200
    matrix = rtt_matrix(regions_of(n, stream), stream)
    triples = [stream.sample(range(n), 3) for _ in range(4000)]
    broken = sum(matrix[a][c] > matrix[a][b] + matrix[b][c] for a, b, c in triples)
    assert 0.02 < broken / len(triples) < 0.15


@given(st.integers(2, 300))
def test_regions_have_the_models_shares(sites: int) -> None:
    counts = Counter(regions_of(sites, draw()))
    assert sum(counts.values()) == sites
    for region, share in {"A": 0.45, "B": 0.41, "C": 0.11, "D": 0.03}.items():
        assert abs(counts[region] - share * sites) <= 1


def test_planned_round_trips_are_the_drawn_ones() -> None:
    made = planetlab(PlanetLabNetwork(generator="planetlab", sites=20), draw(7))
    stream = draw(7)
    matrix = rtt_matrix(regions_of(20, stream), stream)
    routing = Routing(Network(made.nodes, made.links, made.pairs))
    for i, j in combinations(range(20), 2):
        assert routing.rtt_us(f"h{i + 1}", f"h{j + 1}") == round(matrix[i][j] * 1000)
