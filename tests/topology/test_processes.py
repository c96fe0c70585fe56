"""Brokers, clients and programs: groups, templates, placement, settings, overlay."""

# ruff: noqa: E501  (files in one line)

from __future__ import annotations

from collections import Counter

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.topology.plan import Plan
from testbed.topology.resolve.expand import fill, item_id, merged, variables_of
from tests.topology.texts import BASE, plan_of

STAR = "name: x\nnetwork: {generator: star, nodes: 20}\n"


def clients_of(text: str) -> Plan:
    return plan_of(BASE + "clients:\n  " + text)


# ---- groups ------------------------------------------------------------------------------------------------


def test_a_group_without_count_is_one_process_of_that_name() -> None:
    plan = plan_of("name: x\nnetwork: {generator: chain, nodes: 2}\nbrokers: {Left: {node: r1}, Right: }\n")
    assert [(broker.id, broker.node) for broker in plan.brokers] == [("Left", "hr1"), ("Right", "hr2")]


def test_for_each_combines_its_values_and_fills_every_text() -> None:
    plan = clients_of(
        "s: {for_each: {symbol: [A, B], side: [x, y]}, subscribe: [\"[class,eq,'{symbol}'],[side,eq,'{side}']\"]}"
    )
    assert [client.id for client in plan.clients] == ["s-A-x", "s-A-y", "s-B-x", "s-B-y"]
    assert plan.clients[2].subscriptions[0].filter == "[class,eq,'B'],[side,eq,'x']"


def test_for_each_as_a_list_gives_values_that_belong_together() -> None:
    plan = clients_of(
        "p: {for_each: [{symbol: A, rate: 60/min}, {symbol: B, rate: 2/s}], publish: {rate: '{rate}'}}"
    )
    assert [client.id for client in plan.clients] == ["p-A", "p-B"]
    periods = [client.publications.period_us for client in plan.clients if client.publications]
    assert periods == [1_000_000, 500_000]


def test_an_id_pattern_names_the_items() -> None:
    plan = clients_of("s: {count: 3, id: 'watch{i}', subscribe: ['[class,eq,X]']}")
    assert [client.id for client in plan.clients] == ["watch1", "watch2", "watch3"]


def test_braces_that_are_no_variables_stay() -> None:
    assert fill("{a}{b}", {"a": 1}) == "1{b}"
    assert fill({"k": ["{a}"]}, {"a": 5}) == {"k": [5]}
    assert item_id("g", {"count": 2}, {"i": 2, "group": "g"}) == "g2"
    assert variables_of("g", {}) is None


def test_settings_are_merged_default_group_item() -> None:
    plan = plan_of(
        """\
        name: x
        network: {generator: chain, nodes: 3}
        defaults: {broker: {options: {matching_us: 1, control_us: 1, max_hops: 1}, on_crash: continue}}
        algorithm: {name: grape, weight: 100}
        brokers:
          B:
            count: 2
            options: {matching_us: 2, control_us: 2}
            items: {B2: {options: {matching_us: 3}, on_crash: restart, algorithm: {}}}
        """
    )
    first, second = plan.brokers
    assert first.options == {"matching_us": 2, "control_us": 2, "max_hops": 1}
    assert second.options == {"matching_us": 3, "control_us": 2, "max_hops": 1}
    assert (first.on_crash, second.on_crash) == ("continue", "restart")
    assert (first.algorithm, second.algorithm) == ({"name": "grape", "weight": 100}, {})


def test_nested_mappings_are_merged() -> None:
    assert merged({"a": {"x": 1, "y": 1}}, None, {"a": {"y": 2}, "b": 3}) == {"a": {"x": 1, "y": 2}, "b": 3}


# ---- placement ---------------------------------------------------------------------------------------------


def test_round_robin_fills_twenty_machines_with_six_or_seven() -> None:
    plan = plan_of(STAR + "brokers: {B: {count: 127, place: round_robin}}")
    counts = Counter(broker.node for broker in plan.brokers)
    assert set(counts.values()) == {6, 7}
    assert len({(broker.node, broker.port) for broker in plan.brokers}) == 127


def test_random_places_use_every_node_once_while_there_are_enough() -> None:
    plan = plan_of(STAR + "brokers: {B: {count: 20, place: random}}")
    assert len({broker.node for broker in plan.brokers}) == 20
    assert [broker.node for broker in plan.brokers] != [f"h{i}" for i in range(1, 21)]


def test_named_places_are_kept_and_policies_go_round_them() -> None:
    plan = plan_of(STAR + "brokers: {B: {count: 3, items: {B2: {node: h1}}}, C: {node: B1}}")
    assert [broker.node for broker in plan.brokers] == ["h2", "h1", "h3", "h2"]
    assert [broker.port for broker in plan.brokers] == [5000, 5000, 5000, 5001]


def test_nodes_can_be_chosen_by_domain() -> None:
    plan = plan_of(
        "name: x\nnetwork: {generator: transit_stub}\nbrokers: {B: {count: 4, nodes: ['stub-3']}, C: {node: t0}}"
    )
    domain = {node.id: node.domain for node in plan.network.nodes}
    assert [domain[broker.node] for broker in plan.brokers] == ["stub-3"] * 4 + ["transit-0"]


def test_addresses_are_given_in_order_and_kept_when_given() -> None:
    plan = plan_of(
        """\
        name: x
        network:
          nodes: {s: {kind: switch}, a: {}, b: {address: 10.0.0.1}, c: {}}
          links: [{between: [s, a]}, {between: [s, b]}, {between: [s, c]}]
        brokers: {B: {count: 3}}
        """
    )
    assert [node.address for node in plan.network.nodes] == ["", "10.0.0.2", "10.0.0.1", "10.0.0.3"]
    assert [broker.address for broker in plan.brokers] == ["10.0.0.2", "10.0.0.1", "10.0.0.3"]


def test_hundreds_of_hosts_have_distinct_addresses_without_0_and_255() -> None:
    plan = plan_of("name: x\nnetwork: {generator: star, nodes: 600}\nbrokers: {B: {}}")
    last = [int(node.address.rpartition(".")[2]) for node in plan.network.nodes if node.address]
    assert len({node.address for node in plan.network.nodes}) == 601
    assert min(last) == 1
    assert max(last) == 254


def test_clients_by_policy() -> None:
    plan = clients_of("s: {count: 6, broker: round_robin, subscribe: ['[class,eq,X]']}")
    assert [client.broker for client in plan.clients] == ["B1", "B2", "B3"] * 2
    plan = clients_of(
        "a: {broker: B1, subscribe: ['[class,eq,X]']}\n  b: {broker: least_used, subscribe: ['[class,eq,X]']}"
    )
    assert plan.clients[1].broker == "B2"
    assert all(client.node == f"hr{client.broker[1:]}" for client in plan.clients)


def test_a_client_away_from_its_broker() -> None:
    plan = clients_of("s: {broker: B1, node: r4, subscribe: ['[class,eq,X]']}")
    assert plan.clients[0].node == "hr4"


# ---- overlay -----------------------------------------------------------------------------------------------


def overlay_of(text: str, count: int = 12) -> networkx.Graph:
    plan = plan_of(STAR + f"brokers: {{B: {{count: {count}}}}}\noverlay: {text}\n")
    return networkx.Graph((link.a, link.b) for link in plan.overlay)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{generator: chain}", networkx.path_graph(12)),
        ("{generator: star}", networkx.star_graph(11)),
        ("{generator: ring, cycles: allow}", networkx.cycle_graph(12)),
        ("{generator: mesh, cycles: allow}", networkx.complete_graph(12)),
        ("{generator: tree, fanout: 3}", networkx.full_rary_tree(3, 12)),
        ("{}", networkx.full_rary_tree(2, 12)),
    ],
)
def test_overlay_generators(text: str, expected: networkx.Graph) -> None:
    assert networkx.is_isomorphic(overlay_of(text), expected)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 5))
def test_random_overlays_are_trees_within_their_degree(seed: int, degree: int) -> None:
    text = f"seed: {seed}\noverlay: {{generator: random, degree: {degree}}}\nbrokers: {{B: {{count: 15}}}}\n"
    made = networkx.Graph((link.a, link.b) for link in plan_of(STAR + text).overlay)
    assert networkx.is_tree(made)
    assert max(dict(made.degree()).values()) <= degree


def test_neighbours_dial_and_a_link_named_twice_is_one() -> None:
    plan = plan_of(STAR + "brokers: {A: {neighbours: [B]}, B: {neighbours: [A, C]}, C: }")
    assert [(link.a, link.b) for link in plan.overlay] == [("A", "B"), ("B", "C")]


def test_no_overlay_at_all() -> None:
    plan = plan_of(STAR + "brokers: {B: {count: 5}}\noverlay: {generator: none}")
    assert plan.overlay == []


# ---- programs ----------------------------------------------------------------------------------------------


def test_program_arguments_stay_as_they_are() -> None:
    plan = plan_of(
        BASE + "programs: {p: {node: B2, command: [echo, 'a b; $(reboot)', '*'], env: {X: '1 2'}}}"
    )
    assert plan.programs[0].argv == ["echo", "a b; $(reboot)", "*"]
    assert plan.programs[0].node == "hr2"


def test_a_program_that_ends_in_error_fails_the_run_unless_it_may() -> None:
    text = BASE + "programs: {p: {node: B2, command: [x]}, q: {node: B2, command: [x], on_crash: continue}}"
    assert [program.on_crash for program in plan_of(text).programs] == ["abort", "continue"]
