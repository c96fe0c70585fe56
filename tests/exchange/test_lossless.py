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
