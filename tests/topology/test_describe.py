"""The dry run: every process with its start, and what it will cost."""

from __future__ import annotations

import pytest

from testbed.topology.plan import Plan
from testbed.topology.show.describe import describe, start_instants
from testbed.topology.show.estimate import Machine, estimate
from testbed.topology.show.summary import longest_path, summarize
from tests.topology.texts import BASE, plan_of

CLIENTS = """\
defaults: {client: {lead: 4s}}
clients:
  pub: {broker: B1, publish: {rate: 2/s, parameters: {symbol: IBM}}}
  all: {broker: B3, subscribe: ["[class,eq,STOCK]"]}
  none: {broker: B2, subscribe: ["[class,eq,OTHER]"], start_at: publishers+7s}
overlay: {generator: chain}
"""


@pytest.fixture
def plan() -> Plan:
    return plan_of(BASE + CLIENTS)


def test_every_process_is_listed_with_its_start(plan: Plan) -> None:
    text = describe(plan, Machine(2, 8000))
    for process in (*plan.brokers, *plan.clients):
        assert f" {process.id} " in text
    assert start_instants(plan)["none"] == (11_000_000, "publishers+7 s")
    assert start_instants(plan)["B2"] == (0, "overlay")


def test_messages_are_counted_along_the_overlay(plan: Plan) -> None:
    """2/s from B1 over two overlay links to the one subscriber that wants them."""
    cost = estimate(plan)
    assert cost.publications_per_s == pytest.approx(2)
    assert cost.hops_per_s == pytest.approx(4)
    assert cost.deliveries_per_s == pytest.approx(2)
    messages = 4 * 2 * 3  # per second, packet and its acknowledgement, over host-router-router-host
    probes = 2 * (3 + 3 + 4)  # there and back, once a second, between each two of the three hosts
    assert cost.link_packets_per_s == pytest.approx(messages + probes)


def test_what_a_client_far_from_its_broker_sends_crosses_links_too() -> None:
    beside = estimate(plan_of(BASE + CLIENTS + "probes: {pairs: 0}"))
    away = estimate(
        plan_of(BASE + CLIENTS.replace("{broker: B3,", "{broker: B3, node: r4,") + "probes: {pairs: 0}")
    )
    assert away.link_packets_per_s - beside.link_packets_per_s == pytest.approx(2 * 2 * 3)
    assert away.packets_per_s == beside.packets_per_s


def test_memory_is_held_against_the_machine(plan: Plan) -> None:
    assert "fits" in describe(plan, Machine(2, 8000))
    assert "DOES NOT FIT" in describe(plan, Machine(2, 500))


def test_arguments_are_shown_quoted() -> None:
    text = describe(plan_of(BASE + "programs: {p: {node: B1, command: [echo, 'a; b']}}"))
    assert "program echo 'a; b'" in text


def test_summary_of_a_known_network() -> None:
    summary = summarize(plan_of(BASE + "overlay: {generator: chain}"))
    assert (summary.hosts, summary.switches, summary.links) == (3, 4, 6)
    assert summary.longest_path_us == 20_000
    assert summary.rtt_us[0.5] == 20_000
    assert len(summary.longest_path) == 3


def test_the_longest_path_of_63_brokers_in_a_binary_tree_has_ten_hops() -> None:
    plan = plan_of("name: x\nnetwork: {generator: star, nodes: 63}\nbrokers: {B: {count: 63}}")
    assert len(longest_path([broker.id for broker in plan.brokers], plan.overlay)) == 11


def test_a_plan_without_clients_can_be_described() -> None:
    assert "idle" not in describe(plan_of(BASE))
    assert "0 publications/s" in describe(
        plan_of("name: x\nnetwork: {generator: chain, nodes: 1}\nbrokers: {B: {}}")
    )
