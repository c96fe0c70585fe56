"""The verdict of a night against made-up histories."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from testbed.nightly.history import Row
from testbed.nightly.judge import Comparison, judge

SEEDS = (1, 2, 3)
REPRODUCTION = "pop-grape/smoke"
Value = Callable[[int], float]


def night(number: int, value: Value, seeds: tuple[int, ...] = SEEDS, better: str = "lower") -> list[Row]:
    return [Row(f"202601{number:02}T0300", REPRODUCTION, "delay", value(s), s, better) for s in seeds]


def nights(numbers: range, value: Value, seeds: tuple[int, ...] = SEEDS) -> list[Row]:
    return [row for n in numbers for row in night(n, value, seeds)]


def one(tonight: list[Row], history: list[Row]) -> Comparison:
    (found,) = judge(tonight, history, [REPRODUCTION])
    return found


def by_seed(seed: int) -> float:
    return 100.0 + 10 * seed


def test_first_night() -> None:
    found = one(night(1, by_seed), [])
    assert (found.outcome, found.now, found.regression) == ("first", 120.0, False)


def test_nothing_changed() -> None:
    found = one(night(9, by_seed), nights(range(1, 9), by_seed))
    assert (found.outcome, found.low, found.high, found.nights) == ("same", 0.0, 0.0, 7)


def test_regression() -> None:
    found = one(night(9, lambda s: by_seed(s) + 20 + s), nights(range(1, 9), by_seed))
    assert found.outcome == "worse"
    assert found.regression
    assert found.before == 120.0
    assert found.now == pytest.approx(142.0)
    assert 0 < found.low < 22 < found.high


def test_improvement() -> None:
    found = one(night(9, lambda s: by_seed(s) - 20 - s), nights(range(1, 9), by_seed))
    assert (found.outcome, found.regression) == ("better", False)
    assert found.high < 0


def test_where_higher_is_better_less_is_worse() -> None:
    history = [r for n in range(1, 9) for r in night(n, by_seed, better="higher")]
    assert one(night(9, lambda s: by_seed(s) - 20 - s, better="higher"), history).outcome == "worse"
    assert one(night(9, lambda s: by_seed(s) + 20 + s, better="higher"), history).outcome == "better"


def test_noise_from_night_to_night_is_the_same() -> None:
    alarms = 0
    for trial in range(200):
        draw = random.Random(trial)
        noisy = nights(range(1, 8), lambda s, draw=draw: draw.gauss(by_seed(s), 5))  # type: ignore[misc]
        found = one(night(8, lambda s, draw=draw: draw.gauss(by_seed(s), 5)), noisy)  # type: ignore[misc]
        alarms += found.outcome in ("worse", "better")
    assert alarms <= 6  # 99 % interval: 2 are expected


def test_a_large_regression_is_seen_in_noise() -> None:
    draw = random.Random(1)
    noisy = nights(range(1, 8), lambda s: draw.gauss(by_seed(s), 5))
    assert one(night(8, lambda s: draw.gauss(by_seed(s), 5) + 60), noisy).outcome == "worse"


def test_seeds_that_go_both_ways_are_the_same() -> None:
    """Other random numbers: every seed changes, the mean over seeds says nothing."""
    change = {1: 15.0, 2: -12.0, 3: 4.0}
    found = one(night(9, lambda s: by_seed(s) + change[s]), nights(range(1, 9), by_seed))
    assert found.outcome == "same"
    assert found.low < 0 < found.high


def test_a_difference_too_small_to_matter_is_the_same() -> None:
    found = one(night(9, lambda s: by_seed(s) * 1.01), nights(range(1, 9), by_seed))
    assert found.low > 0
    assert found.outcome == "same"


def test_missing_nights_are_passed_over() -> None:
    history = night(1, by_seed) + night(2, by_seed) + night(5, by_seed)  # 3 and 4 did not run
    assert one(night(9, by_seed), history).nights == 3
    assert one(night(9, lambda s: by_seed(s) + 20 + s), history).outcome == "worse"


def test_only_the_last_nights_count() -> None:
    old = nights(range(1, 11), lambda s: 1000.0 + s)
    assert one(night(20, by_seed), old + nights(range(11, 18), by_seed)).outcome == "same"


def test_a_missing_seed_is_left_out() -> None:
    found = one(night(9, by_seed, (1, 2)), nights(range(1, 9), by_seed))
    assert (found.outcome, found.seeds) == ("same", 2)


def test_other_seeds_than_before() -> None:
    found = one(night(9, by_seed, (7,)), nights(range(1, 9), by_seed))
    assert (found.outcome, found.reason) == ("first", "other seeds than before")


def test_one_seed_and_one_night_cannot_tell() -> None:
    history = night(1, by_seed, (1,))
    assert one(night(2, by_seed, (1,)), history).outcome == "same"
    assert one(night(2, lambda s: 200.0, (1,)), history).outcome == "unknown"


def test_one_seed_is_compared_over_nights() -> None:
    history = nights(range(1, 5), by_seed, (1,))
    assert one(night(9, lambda s: 120.0, (1,)), history).outcome == "worse"


def test_a_measure_that_is_gone() -> None:
    (found,) = judge([], nights(range(1, 3), by_seed), [REPRODUCTION])
    assert (found.outcome, found.regression) == ("missing", True)
    assert judge([], nights(range(1, 3), by_seed), []) == []  # it did not run tonight


def test_a_measure_that_was_gone_before_is_no_news() -> None:
    other = Row("20260105T0300", REPRODUCTION, "hops", 1.0, 1)
    found = judge(
        [Row("20260106T0300", REPRODUCTION, "hops", 1.0, 1)],
        [*nights(range(1, 3), by_seed), other],
        [REPRODUCTION],
    )
    assert [c.measure for c in found] == ["hops"]


@pytest.mark.parametrize(
    ("before", "now", "outcome"), [(1, 1, "same"), (1, 0, "worse"), (0, 1, "better"), (0, 0, "same")]
)
def test_claims(before: int, now: int, outcome: str) -> None:
    past = [Row(f"2026010{night}T0300", REPRODUCTION, "claim 1", before, claim=True) for night in (1, 2)]
    assert one([Row("20260103T0300", REPRODUCTION, "claim 1", now, claim=True)], past).outcome == outcome


@pytest.mark.parametrize(("now", "outcome"), [(0, "unknown"), (1, "same")])
def test_a_claim_that_comes_and_goes_is_no_alarm(now: int, outcome: str) -> None:
    past = [Row(f"2026010{n}T0300", REPRODUCTION, "claim 1", v, claim=True) for n, v in ((1, 0), (2, 1))]
    assert one([Row("20260103T0300", REPRODUCTION, "claim 1", now, claim=True)], past).outcome == outcome


def test_a_claim_about_time_is_no_alarm() -> None:
    past = [Row("20260101T0300", REPRODUCTION, "claim 1", 1, claim=True)]
    tonight = Row("20260103T0300", REPRODUCTION, "claim 1", 0, claim=True, timed=True)
    assert one([tonight], past).outcome == "unknown"


def test_without_an_interval_a_small_difference_is_the_same() -> None:
    def row(night: str, value: float) -> Row:
        return Row(night, "p/smoke", "degree", value, 1)

    (close,) = judge([row("n2", 100.9)], [row("n1", 100.0)], ["p/smoke"])
    (far,) = judge([row("n2", 103.0)], [row("n1", 100.0)], ["p/smoke"])
    assert (close.outcome, far.outcome) == ("same", "unknown")
