"""Who subscribes where (POP/GRAPE 5.1)."""

from __future__ import annotations

from collections import Counter

import pytest

from testbed.errors import InputError
from testbed.topology.seeding import Draw
from testbed.workload.placement import place
from testbed.workload.subscriptions import CLUSTERED_SHARES, RANDOM_SHARES, counts

BROKERS = [f"B{number}" for number in range(1, 64)]


@pytest.mark.parametrize(
    ("total", "expected"),
    [(20, (14, 5, 1)), (100, (70, 25, 5)), (40, (28, 10, 2)), (1, (1, 0, 0)), (0, (0, 0, 0)), (3, (2, 1, 0))],
)
def test_shares_of_the_random_workload(total: int, expected: tuple[int, int, int]) -> None:
    assert tuple(counts(total, RANDOM_SHARES).values()) == expected


@pytest.mark.parametrize(("total", "expected"), [(20, (19, 0, 1)), (100, (95, 0, 5))])
def test_shares_of_the_clustered_workload(total: int, expected: tuple[int, int, int]) -> None:
    assert tuple(counts(total, CLUSTERED_SHARES).values()) == expected


def test_shares_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(InputError, match="add up"):
        counts(10, {"low": 0.5, "high": 0.1})


@pytest.mark.parametrize("spread", [1, 2, 16, 63])
def test_random_puts_each_class_on_x_brokers(spread: int) -> None:
    placed = place("random", BROKERS, 400, spread, Draw(1, "x"))
    for name, amount in [("low", 280), ("medium", 100), ("high", 20)]:
        seats = Counter(broker for rate, broker in placed if rate == name)
        assert sum(seats.values()) == amount
        assert len(seats) == min(spread, amount)
        assert max(seats.values()) - min(seats.values()) <= 1


@pytest.mark.parametrize("spread", [1, 2, 16, 63])
def test_clustered_puts_all_high_on_one_broker_and_the_rest_elsewhere(spread: int) -> None:
    placed = place("clustered", BROKERS, 400, spread, Draw(1, "x"))
    high = {broker for rate, broker in placed if rate == "high"}
    low = {broker for rate, broker in placed if rate == "low"}
    assert len(high) == 1
    assert len(low) == max(1, spread - 1)
    assert bool(high & low) == (spread == 1)


def test_placement_is_seeded() -> None:
    first, again, other = (place("random", BROKERS, 20, 5, Draw(seed, "x")) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_more_spread_than_brokers_uses_them_all() -> None:
    assert {broker for _, broker in place("clustered", ["B1", "B2"], 20, 16, Draw(1, "x"))} == {"B1", "B2"}
