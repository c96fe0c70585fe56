"""The messages of an exchange that flow counts, against those that machines send."""

from __future__ import annotations

from collections import Counter

import pytest

from protos.body import Envelope
from testbed.flow.selforganising.exchanges import exchange_hops
from tests.exchange.world import World


@pytest.mark.parametrize(("brokers", "removed"), [(n, k) for n in (3, 4, 6) for k in range(n - 1)])
def test_an_exchange_takes_the_messages_that_flow_counts(brokers: int, removed: int) -> None:
    """A chain of brokers: the last one orders a link to the first."""
    world = World(list(range(brokers - 1)), seed=1)
    seen: Counter[tuple[int, int]] = Counter()

    def count(source: str, target: str, envelope: Envelope) -> None:
        if envelope.body.type.startswith("exchange_"):
            seen[int(source[1:]), int(target[1:])] += 1

    world.net.on_send = count
    cycle = list(range(brokers))
    path = [f"B{n}" for n in reversed(cycle)]
    world.exchange(path, (f"B{removed}", f"B{removed + 1}"))
    world.settle()
    assert len(world.exchanged("done")) == 1
    assert seen == Counter(exchange_hops(cycle, removed))
