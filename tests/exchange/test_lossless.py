"""The guarantee: no publication is lost, doubled or out of order, whatever is under way."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broker_grpc.core.options import BrokerOptions
from tests.exchange.world import World

EXAMPLES = int(os.environ.get("EXCHANGE_EXAMPLES", "60"))
often = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def trees(largest: int = 8) -> st.SearchStrategy[list[int]]:
    """The parent of each broker but the first."""
    sizes = st.integers(3, largest)
    return sizes.flatmap(lambda n: st.tuples(*(st.integers(0, i) for i in range(n - 1))).map(list))


@often
@given(trees(), st.integers(0, 10_000), st.sampled_from(["off", "lazy", "active"]), st.booleans())
def test_publications_flow_through_one_exchange_after_another(
    parents: list[int], seed: int, covering: str, tell_path: bool
) -> None:
    world = World(
        parents, seed, BrokerOptions(subscription_covering=covering, advertisement_covering=covering)
    )  # type: ignore[arg-type]
    for _ in range(3):
        before = world.links()
        chosen = world.choose()
        if chosen is None:
            continue
        path, remove = chosen
        world.exchange(path, remove, tell_path=tell_path)
        for _ in range(40):
            world.publish(world.random.randrange(3))
            world.run(world.random.randrange(12))
        world.settle()
        assert [event.detail for event in world.exchanged() if event.type != "done"] == []
        assert world.links() == before - {frozenset(remove)} | {frozenset((path[0], path[-1]))}
        world.check_tree()
    world.check_deliveries()


@often
@given(trees(), st.integers(0, 10_000))
def test_exchanges_on_overlapping_cycles_refuse_each_other(parents: list[int], seed: int) -> None:
    """Several ordered at once: each is done or refused as a whole, and every one has an end."""
    world = World(parents, seed)
    links, chosen = world.links(), [c for c in (world.choose() for _ in range(4)) if c is not None]
    for path, remove in chosen:
        world.exchange(path, remove)
        world.run(world.random.randrange(25))
        world.publish(2)
    for _ in range(40):
        world.publish()
        world.run(world.random.randrange(12))
    world.settle()
    assert len(world.exchanged()) == len(chosen)
    for event in world.exchanged("done"):
        added, removed = event.content.split()[:2], event.content.split()[2:]
        links = links - {frozenset(removed)} | {frozenset(added)}
    assert world.links() == links
    world.check_tree()
    world.check_deliveries()


@often
@given(trees(), st.integers(0, 10_000), st.integers(0, 400))
def test_a_modelled_processor_changes_nothing(parents: list[int], seed: int, matching_us: int) -> None:
    options = BrokerOptions(matching_us=matching_us, control_us=70, output_bandwidth=1_000_000)
    world = World(parents, seed, options)
    chosen = world.choose()
    if chosen is None:
        return
    world.exchange(*chosen)
    for _ in range(40):
        world.publish(world.random.randrange(3))
        world.run(world.random.randrange(12))
        if world.random.random() < 0.5:
            world.net._serve()
    world.settle()
    assert len(world.exchanged("done")) == 1
    world.check_tree()
    world.check_deliveries()


@often
@given(trees(), st.integers(0, 10_000), st.sampled_from(["off", "lazy", "active"]))
def test_routes_that_change_meanwhile_are_right_in_the_end(
    parents: list[int], seed: int, covering: str
) -> None:
    """Clients come, go, advertise, subscribe and withdraw all the while."""
    options = BrokerOptions(subscription_covering=covering, advertisement_covering=covering)  # type: ignore[arg-type]
    world = World(parents, seed, options)
    chosen = world.choose()
    if chosen is None:
        return
    world.change_routes()
    world.exchange(*chosen)
    for _ in range(30):
        world.change_routes()
        world.publish()
        world.run(world.random.randrange(10))
    world.settle()
    assert len(world.exchanged("done")) == 1
    world.check_tree()
    world.check_no_phantoms()
    world.sent.clear()
    for _ in range(3 * len(world.brokers)):
        world.publish()
        world.settle()
    world.check_deliveries()
