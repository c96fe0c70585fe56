"""Differences of tables, on made-up ones."""

from __future__ import annotations

import math

import pandas

from testbed.compare.table_difference import compare_tables

DELAY = pandas.DataFrame(
    {
        "run": "r1",
        "seed": 1,
        "group_by": ["all", "broker", "broker"],
        "group": ["all", "B1", "B2"],
        "mean_us": [10.0, 20.0, 40.0],
        "count": [5, 3, 2],
    }
)


def test_the_same() -> None:
    assert compare_tables("delay", DELAY, DELAY.assign(run="r2")).same


def test_runs_with_another_seed_are_matched_row_by_row() -> None:
    assert compare_tables("delay", DELAY, DELAY.assign(seed=2)).same


def test_order_of_rows_does_not_matter() -> None:
    assert compare_tables("delay", DELAY, DELAY.iloc[::-1]).same


def test_how_much_and_where() -> None:
    other = DELAY.assign(mean_us=[10.0, 21.0, 50.0])
    (column,) = compare_tables("delay", DELAY, other).columns
    assert (column.column, column.rows, column.largest, column.relative) == ("mean_us", 2, 10.0, 0.2)
    assert (column.where, column.a, column.b) == ("broker, B2", "40", "50")
    assert (column.mean_a, column.mean_b) == (70 / 3, 27.0)


def test_times_may_be_apart_by_microseconds_and_nothing_else_may() -> None:
    a = pandas.DataFrame({"group": ["x"], "p99_us": [140_000.0], "messages": [10]})
    b = pandas.DataFrame({"group": ["x"], "p99_us": [140_040.0], "messages": [10]})
    assert compare_tables("t", a, b, within_us=40).same
    assert not compare_tables("t", a, b, within_us=39).same
    assert not compare_tables("t", a, b.assign(messages=11), within_us=1000).same
    assert not compare_tables("t", a, b.assign(p99_us=float("nan")), within_us=1e9).same


def test_tolerance() -> None:
    other = DELAY.assign(mean_us=[10.0, 21.0, 50.0])
    assert compare_tables("delay", DELAY, other, tolerance=0.2).same
    (column,) = compare_tables("delay", DELAY, other, tolerance=0.1).columns
    assert column.rows == 1


def test_rows_that_only_one_has() -> None:
    found = compare_tables("delay", DELAY, DELAY.iloc[:2])
    assert (found.only_a, found.only_b, found.columns, found.same) == (1, 0, [], False)


def test_columns_that_only_one_has() -> None:
    found = compare_tables("delay", DELAY, DELAY.drop(columns="count").assign(new=1))
    assert (found.columns_only_a, found.columns_only_b) == (["count"], ["new"])
    assert not found.same


def test_a_missing_value_differs_from_a_number_and_not_from_another_missing_one() -> None:
    gap = DELAY.assign(mean_us=[10.0, 20.0, math.nan])
    assert compare_tables("delay", gap, gap).same
    (column,) = compare_tables("delay", DELAY, gap).columns
    assert (column.rows, column.relative, column.a, column.b) == (1, 1.0, "40", "-")


def test_rows_with_the_same_key_are_matched_in_order() -> None:
    a = pandas.DataFrame({"system": ["x", "x", "y"], "edges": [1, 2, 3]})
    b = a.assign(edges=[1, 5, 3])
    (column,) = compare_tables("anything", a, b).columns
    assert (column.rows, column.where) == (1, "x (2.)")


def test_texts_beside_the_key() -> None:
    a = pandas.DataFrame({"publication": ["p1", "p2"], "subscriber": "s", "outcome": "delivered"})
    (column,) = compare_tables("deliveries", a, a.assign(outcome=["delivered", "missing"])).columns
    assert (column.rows, column.a, column.b, column.where) == (1, "delivered", "missing", "p2, s")


def test_ignored_columns() -> None:
    assert compare_tables("delay", DELAY, DELAY.assign(count=0), ignore=["count"]).same


def test_empty_tables() -> None:
    empty = DELAY.iloc[:0]
    assert compare_tables("delay", empty, empty).same
    assert compare_tables("delay", DELAY, empty).only_a == 3


def test_a_stretch_is_as_far_apart_as_the_delays_behind_it() -> None:
    a = pandas.DataFrame({"subscriber": ["s"], "delay_us": [20_000], "direct_us": [10_000], "stretch": [2.0]})
    b = a.assign(delay_us=[20_040], stretch=[2.004])
    assert compare_tables("deliveries", a, b, within_us=41).same
    assert not compare_tables("deliveries", a, b, within_us=39).same
    assert not compare_tables("deliveries", a, b.assign(stretch=[float("nan")]), within_us=1e9).same
