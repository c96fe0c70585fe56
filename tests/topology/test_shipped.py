"""The topologies that come with the project are what their comments say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from testbed.topology.load import load_plan_file
from testbed.topology.paths import Routing
from testbed.topology.plan import Plan, dump, load
from testbed.topology.show.summary import longest_path

NAMES = ["quickstart", "planetlab-63", "cluster-127", "transit-stub-100", "topic-connected"]


def shipped(repository: Path, name: str) -> Plan:
    return load_plan_file(repository / "topologies" / f"{name}.yaml")


@pytest.mark.parametrize("name", NAMES)
def test_it_loads_and_survives_its_json(name: str, repository: Path) -> None:
    plan = shipped(repository, name)
    assert plan.name == name
    assert load(dump(plan)) == plan
    routing = Routing(plan.network)
    assert all(routing.rtt_us(a, b) > 0 for a, b in plan.probes.pairs)


@pytest.mark.parametrize("name", NAMES)
def test_it_begins_with_a_comment(name: str, repository: Path) -> None:
    assert (repository / "topologies" / f"{name}.yaml").read_text().startswith("# ")


def test_every_file_is_known_here(repository: Path) -> None:
    assert {path.stem for path in (repository / "topologies").glob("*.yaml")} >= set(NAMES)


def test_planetlab_63(repository: Path) -> None:
    plan = shipped(repository, "planetlab-63")
    assert len(plan.brokers) == len({broker.node for broker in plan.brokers}) == 63
    assert len(longest_path([broker.id for broker in plan.brokers], plan.overlay)) == 11
    assert sum(client.publications is not None for client in plan.clients) == 40


def test_cluster_127(repository: Path) -> None:
    plan = shipped(repository, "cluster-127")
    assert set(Counter(broker.node for broker in plan.brokers).values()) == {6, 7}
    assert len(longest_path([broker.id for broker in plan.brokers], plan.overlay)) == 13


def test_transit_stub_100_keeps_its_brokers_connected_while_the_link_is_down(repository: Path) -> None:
    plan = shipped(repository, "transit-stub-100")
    assert sum(node.kind == "switch" for node in plan.network.nodes) == 100
    cut = {event.target for event in plan.events if event.action == "link_down"}
    routing = Routing(plan.network, down=cut)
    hosts = [broker.node for broker in plan.brokers]
    assert cut
    assert all(routing.path(hosts[0], host) for host in hosts)


def test_quickstart_is_small(repository: Path) -> None:
    plan = shipped(repository, "quickstart")
    assert len(plan.brokers) == 7
    assert sum(phase.run_for_us for phase in plan.phases) <= 60_000_000
