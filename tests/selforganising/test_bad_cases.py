"""Networks at the edge of what the heuristics are for, simulated: nothing is exchanged, lost or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from broker_grpc.protocols.selforganising.cache import NotificationCache
from testbed.errors import InputError
from testbed.flow.selforganising.play import Costs, Setup, play
from testbed.flow.traffic import traffic_of
from testbed.topology.plan import Client, PublicationPlan
from tests.flow.test_selforganising_parity import HEURISTICS
from tests.simulation.chains import chain, of_kind, simulate

SETTINGS: dict[str, Any] = {"interval_us": 1_000_000}


def played(folder: Path, name: str, brokers: int, **settings: Any) -> list[dict[str, Any]]:
    """A chain with a publisher at one end, and a subscriber at every broker."""
    plan = chain(brokers)
    for broker in plan.brokers:
        broker.algorithm = {"name": name, **SETTINGS, **settings}
    return simulate(plan, folder)


def check_all_arrived(events: list[dict[str, Any]], brokers: int) -> None:
    published = {e["message"] for e in of_kind(events, "PUBLISHED")}
    assert published
    assert len(of_kind(events, "DELIVERED")) == brokers * len(published)
    assert not of_kind(events, "REFUSED")


@pytest.mark.parametrize("name", sorted(HEURISTICS))
@pytest.mark.parametrize("brokers", [1, 2])
def test_one_broker_or_two_have_nothing_to_exchange(name: str, brokers: int, tmp_path: Path) -> None:
    events = played(tmp_path, name, brokers)
    assert not of_kind(events, "LINK_PROPOSED")
    check_all_arrived(events, brokers)


@pytest.mark.parametrize("name", ["lmst", "lmit"])
def test_nobody_gains_when_all_is_equal(name: str, tmp_path: Path) -> None:
    """Costs are all alike, and everybody gets everything."""
    events = played(tmp_path, name, 4, processing_cost=1.0)
    assert not of_kind(events, "EXCHANGED")
    check_all_arrived(events, 4)


def test_ci_leaves_a_chain_whose_brokers_all_want_everything_once_they_know_it(tmp_path: Path) -> None:
    """A broker between loses nothing by passing on what it wants itself. In the first intervals, of which one
    broker has seen more than the other, phi is less than what two of them share."""
    events = played(tmp_path, "ci", 4, processing_cost=1.0)
    known = of_kind(events, "PUBLISHED")[0]["t_us"] + 3 * SETTINGS["interval_us"]
    assert not [e for e in of_kind(events, "EXCHANGED") if e["t_us"] > known]
    assert len(of_kind(events, "PUBLISHED")) > 20
    check_all_arrived(events, 4)


@pytest.mark.parametrize("name", ["ci", "lmit"])
def test_without_common_interest_no_link_is_proposed(name: str, tmp_path: Path) -> None:
    plan = chain(4)
    for broker in plan.brokers:
        broker.algorithm = {"name": name, **SETTINGS, "link_costs": {"B0": 0.0, "B3": 0.0}}
    plan.clients = [client for client in plan.clients if client.publications or client.broker == "B0"]
    for phase in plan.phases[1:]:
        phase.start = [client.id for client in plan.clients if client.id in phase.start]
    events = simulate(plan, tmp_path)
    assert of_kind(events, "PUBLISHED")
    assert not of_kind(events, "LINK_PROPOSED")


def test_eta_0_leaves_the_tree_and_says_nothing(tmp_path: Path) -> None:
    events = played(tmp_path, "ci", 4, eta=0, link_costs={"B3": 0.0, "B0": 0.0}, other_links=9.0)
    assert not [e for e in of_kind(events, "SENT") if e["type"] == "interest_broadcast"]
    check_all_arrived(events, 4)


def test_a_cache_smaller_than_an_interval_keeps_the_last_and_runs(tmp_path: Path) -> None:
    cache = NotificationCache(3, 1_000, 3)
    for number in range(10):
        cache.add(f"p:{number}")
    filter_, own = cache.close_interval()
    assert own == 3
    assert cache.common(filter_) == 3
    check_all_arrived(played(tmp_path, "ci", 4, cache=1), 4)


def test_flow_refuses_a_cache_that_an_interval_may_not_fit_into() -> None:
    source = PublicationPlan("topic", {"topic": "t"}, 10_000)
    traffic = traffic_of([Client("p", "h", "B0", publications=source)], {"B0": 0, "B1": 1}, 10_000_000)
    costs = Costs([[0.0, 1.0], [1.0, 0.0]], [1.0, 1.0])
    setup = Setup(traffic, [(0, 1)], costs, (), (0, 0), cache=300)
    with pytest.raises(InputError, match="may not be in a cache of 300"):
        play(setup, HEURISTICS["ci"])
