"""What brokers are told at their start: the same by every engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from broker_grpc.core.config import BrokerProcessConfig, Neighbour, addresses_of
from broker_grpc.machine import OpenLink, PeerUp, Received
from broker_grpc.registry import machine_of
from protos.body import Envelope
from protos.topicconnected_messages import OverlayOrder
from testbed.run.configs import BrokerConfigs
from testbed.simulation.eventlog import SimulatedLog
from testbed.simulation.simulator import Simulator
from testbed.topology.load import load_plan_text
from testbed.topology.plan import Plan

TREE = """
name: tree
network: {generator: star, nodes: 4}
brokers: {B: {count: 3, options: {matching_us: 3}}}
overlay: {links: [[B2, B1], [B2, B3]]}
sample_every: 2s
"""
OWN_LINKS = """
name: own-links
network: {generator: star, nodes: 4}
brokers:
  C: {algorithm: {name: coordinator}}
  B: {count: 2, algorithm: {name: topic_connected, coordinator: C}}
overlay: {links: [[B1, C], [B2, C]]}
"""


def test_a_broker_is_told_its_links_options_and_seed() -> None:
    plan = load_plan_text(TREE)
    b1, b2, b3 = plan.brokers
    told = BrokerConfigs(plan).broker_config("B2", incarnation=4)
    assert told == BrokerProcessConfig(
        broker="B2",
        listen=f"{b2.address}:5000",
        neighbours=[
            Neighbour("B1", f"{b1.address}:5000", dial=True),
            Neighbour("B3", f"{b3.address}:5000", dial=True),
        ],
        options={"matching_us": 3},
        seed=b2.seed,
        incarnation=4,
        sample_every_us=2_000_000,
    )
    (back,) = BrokerConfigs(plan).broker_config("B1", 1).neighbours
    assert back == Neighbour("B2", f"{b2.address}:5000", dial=False)


def test_only_brokers_that_make_links_get_an_address_book() -> None:
    plan = load_plan_text(OWN_LINKS)
    everyone = {broker.id: f"{broker.address}:5000" for broker in plan.brokers}
    for broker in everyone:
        told = BrokerConfigs(plan).broker_config(broker, 1)
        assert told.address_book == everyone
        assert [one.id for one in told.neighbours if one.dial] == ([] if broker == "C" else ["C"])
    assert BrokerConfigs(load_plan_text(TREE)).broker_config("B1", 1).address_book == {}


@pytest.mark.parametrize("book", [True, False], ids=["address book", "neighbours that are not dialled"])
def test_a_broker_dials_whom_it_is_told_to_link_with(book: bool) -> None:
    """The second form is that of older files."""
    where = {"C": "10.0.0.1:5000", "B2": "10.0.0.3:5000"}
    form: dict[str, Any] = (
        {"neighbours": [Neighbour("C", where["C"], dial=True)], "address_book": where}
        if book
        else {"neighbours": [Neighbour("C", where["C"], dial=True), Neighbour("B2", where["B2"])]}
    )
    algorithm = {"name": "topic_connected", "coordinator": "C"}
    config = BrokerProcessConfig("B1", "10.0.0.2:5000", algorithm=algorithm, **form)
    assert addresses_of(config) == where
    machine = machine_of(config)
    machine.handle(0, PeerUp("C", "broker", 1))
    effects = machine.handle(0, Received("C", Envelope(OverlayOrder(1, ("B2",)), 0, 1)))
    assert OpenLink("B2", where["B2"]) in effects


def test_a_broker_is_not_in_its_own_way() -> None:
    config = BrokerProcessConfig("B1", "a:1", [Neighbour("B2", "a:2")], {"B1": "a:1", "B3": "a:3"})
    assert addresses_of(config) == {"B2": "a:2", "B3": "a:3"}


def run(plan: Plan, log: Path) -> Simulator:
    written = SimulatedLog(log)
    simulator = Simulator(plan, written, lambda _: None)
    simulator.begin()
    while simulator.step(1_000):
        pass
    simulator.end()
    written.close()
    return simulator


def test_a_protocol_that_nobody_knows_ends_the_run_with_its_name(tmp_path: Path) -> None:
    """Only a plan that nobody checked has one: the broker says it, as a real process does."""
    plan = load_plan_text(TREE)
    plan.brokers[1].algorithm = {"name": "magic"}
    outcome = run(plan, tmp_path / "events.jsonl").outcome
    assert outcome is not None
    assert "magic" in str(outcome)
