"""Overlays from a file, from `neighbours` and from the network's latencies."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import networkx
from hypothesis import given
from hypothesis import strategies as st

from testbed.run.configs import addresses, neighbours
from testbed.topology.generators.nearest import nearest_tree
from testbed.topology.paths import Routing
from testbed.topology.plan import Plan
from tests.topology.texts import BASE, only_problem, plan_of, problems_of


def edges(plan: Plan) -> list[tuple[str, str]]:
    return [(link.a, link.b) for link in plan.overlay]


def test_the_first_end_of_a_link_dials_or_both(tmp_path: Path) -> None:
    for text, dials in (("", (True, False)), (", dial: both", (True, True))):
        plan = plan_of(BASE + f"overlay: {{generator: chain{text}}}", tmp_path)
        assert edges(plan) == [("B2", "B1"), ("B3", "B2")]
        assert (dialled_by(plan, "B3")["B2"], dialled_by(plan, "B2")["B3"]) == dials


def dialled_by(plan: Plan, broker: str) -> dict[str, bool]:
    """Which of them it is told to dial."""
    return {neighbour.id: neighbour.dial for neighbour in neighbours(addresses(plan), plan.overlay)[broker]}


# ---- a file of links ---------------------------------------------------------------------------------------


def test_links_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "links.txt").write_text("# who dials whom\nB2 B1\n\nB3,B2  # the far one\n")
    assert edges(plan_of(BASE + "overlay: {file: links.txt}", tmp_path)) == [("B2", "B1"), ("B3", "B2")]


def test_links_of_a_file_and_of_the_list_are_one_overlay(tmp_path: Path) -> None:
    (tmp_path / "links.txt").write_text("B2 B1\nB1 B2\n")
    plan = plan_of(BASE + "overlay: {file: links.txt, links: [[B3, B1]]}", tmp_path)
    assert edges(plan) == [("B3", "B1"), ("B2", "B1")]


def test_every_mistake_of_the_file_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "links.txt").write_text("B2 B1\nB1 B9\nB3\nB3 B3\nB1 B2 B3\n")
    found = problems_of(BASE + "overlay: {file: links.txt, connected: false}", tmp_path)
    assert len(found) == 4
    assert "4:17: there is no broker (line 2 of links.txt) 'B9'; known: B1, B2, B3" in "\n".join(found)
    assert "links.txt:3: 'B3' is no overlay link; write two different broker ids" in "\n".join(found)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    found = problems_of(BASE + "overlay: {file: nowhere.txt}", tmp_path)
    assert any("4:17: no file of overlay links" in problem for problem in found)


def test_a_cycle_in_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "links.txt").write_text("B1 B2\nB2 B3\nB3 B1\n")
    assert "the overlay has a cycle" in only_problem(BASE + "overlay: {file: links.txt}", tmp_path)


def test_a_bad_neighbour_of_one_broker_is_told_where_it_stands() -> None:
    text = BASE.replace("count: 3", "count: 3, items: {B2: {neighbours: [B8]}}")
    assert any("3:51: there is no broker 'B8'" in problem for problem in problems_of(text))


# ---- the tree of least latency -----------------------------------------------------------------------------


@given(st.integers(1, 12).flatmap(lambda n: st.lists(st.integers(1, 50), min_size=n * n, max_size=n * n)))
def test_nearest_is_a_minimum_spanning_tree(values: list[int]) -> None:
    n = round(len(values) ** 0.5)

    def distance(a: int, b: int) -> int:
        return values[min(a, b) * n + max(a, b)]

    made = nearest_tree(n, distance)
    graph = networkx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from((a, b, distance(a, b)) for a, b in combinations(range(n), 2))
    tree = networkx.Graph(made)
    tree.add_nodes_from(range(n))
    assert networkx.is_tree(tree)
    assert sum(distance(a, b) for a, b in made) == networkx.minimum_spanning_tree(graph).size("weight")


NESTED = """\
name: x
network: {generator: transit_stub, transit_nodes: 3, stubs_per_transit_node: 2, stub_nodes: 4}
brokers: {B: {count: 20, place: random}}
overlay: {generator: nearest}
"""


def test_nearest_follows_the_hierarchy_of_a_transit_stub_network() -> None:
    """The brokers of a stub domain hang together: without the links that leave it they are one part."""
    plan = plan_of(NESTED)
    domain = {node.id: node.domain for node in plan.network.nodes}
    at = {broker.id: domain[broker.node] for broker in plan.brokers}
    inside = networkx.Graph([(a, b) for a, b in edges(plan) if at[a] == at[b]])
    inside.add_nodes_from(at)
    assert networkx.number_connected_components(inside) == len(set(at.values())) > 3


def test_nearest_costs_no_more_than_the_balanced_tree() -> None:
    def total(text: str) -> int:
        plan = plan_of(text)
        routing = Routing(plan.network)
        node = {broker.id: broker.node for broker in plan.brokers}
        return sum(routing.rtt_us(node[a], node[b]) for a, b in edges(plan))

    assert total(NESTED) < total(NESTED.replace("nearest", "tree"))


def test_nearest_on_a_network_in_parts_tells_the_parts() -> None:
    text = """\
name: x
network: {nodes: {s: {kind: switch}, h: {}, g: {}}, links: [{between: [s, h]}]}
brokers: {A: {node: h}, B: {node: g}}
overlay: {generator: nearest}
"""
    assert any("the network is in 2 parts" in problem for problem in problems_of(text))


# ---- gates -------------------------------------------------------------------------------------------------


def test_retries_make_a_gate_wait_longer() -> None:
    gate = "phases: [{name: p, start: [brokers], ready: {links_up: true, timeout: 10s, retries: 2}}]"
    assert plan_of(BASE + gate).phases[0].gate.timeout_us == 30_000_000
