"""Means and differences over seeds."""

from __future__ import annotations

import math

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.reproduction.interval import intervals, mean_interval, paired_difference

values = st.lists(st.floats(min_value=-1e6, max_value=1e6), min_size=1, max_size=12)
seeds = st.dictionaries(st.integers(1, 30), st.floats(min_value=-1e3, max_value=1e3), max_size=12)


def test_no_value_and_one_value_have_no_interval() -> None:
    assert math.isnan(mean_interval([]).mean)
    assert mean_interval([3.0]) == (3.0, 3.0, 3.0, 1)


def test_students_interval() -> None:
    """Of 1, 2, 3: t(0.975, 2) = 4.303, and the standard error is 1/sqrt(3)."""
    found = mean_interval([1.0, 2.0, 3.0])
    assert found.high - found.mean == pytest.approx(4.3027 / math.sqrt(3), rel=1e-4)


@given(values)
def test_the_mean_lies_in_its_interval_and_more_confidence_is_wider(own: list[float]) -> None:
    narrow, wide = mean_interval(own, 0.9), mean_interval(own, 0.99)
    assert narrow.low <= narrow.mean <= narrow.high
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


@given(seeds, st.floats(min_value=-1e3, max_value=1e3))
def test_what_both_owe_to_the_seed_is_no_part_of_the_difference(own: dict[int, float], gap: float) -> None:
    other = {seed: value - gap for seed, value in own.items()}
    found = paired_difference(own, other)
    assert found.n == len(own)
    if own:
        assert found.mean == pytest.approx(gap, abs=1e-6)
        assert found.high - found.low == pytest.approx(0, abs=1e-5)


@given(seeds, seeds)
def test_only_shared_seeds_count_and_the_sign_turns(a: dict[int, float], b: dict[int, float]) -> None:
    one, two = paired_difference(a, b), paired_difference(b, a)
    assert one.n == two.n == len(a.keys() & b.keys())
    if one.n:
        assert (one.mean, one.low) == pytest.approx((-two.mean, -two.high), abs=1e-9)


def test_pairs_see_what_means_over_seeds_hide() -> None:
    """Seeds differ by hundreds, systems by one: a mean's interval is wide, that of the difference is not."""
    a = {seed: 100.0 * seed for seed in range(1, 6)}
    b = {seed: value + 1 + 0.01 * seed for seed, value in a.items()}
    assert mean_interval(list(a.values())).high > mean_interval(list(b.values())).low
    assert paired_difference(a, b).high < 0


def test_intervals_by_x_leave_out_what_is_not_known() -> None:
    rows = pandas.DataFrame({"x": [4, 1, 1, 9], "y": [5.0, 1.0, 3.0, math.nan]})
    found = intervals(rows, "x", "y")
    assert list(found) == [1, 4]
    assert (found[1].mean, found[1].n, found[4].n) == (2.0, 2, 1)
