"""The combinators of claims: each holds, fails on data that contradicts, and cannot tell without data."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from pathlib import Path

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.reproduction.checks import (
    alike,
    at_most,
    below,
    factor,
    growth,
    least,
    near,
    order,
    shape,
    together,
    within,
)
from testbed.reproduction.claim import Finding

ROOT = Path(__file__).parents[2]
NAN = math.nan


def table(**systems: list[float]) -> pandas.DataFrame:
    return pandas.DataFrame(systems, index=[1, 4, 16][: len(next(iter(systems.values())))])


def series(*values: float) -> pandas.Series:
    return pandas.Series(values)


CASES: dict[str, tuple[Callable[[], Finding], Callable[[], Finding], Callable[[], Finding]]] = {
    # what holds, what contradicts, what cannot tell
    "order": (
        lambda: order(table(a=[1, 2, 3], b=[2, 2, 4], c=[9, 9, 9])),
        lambda: order(table(a=[1, 5, 3], b=[2, 2, 4])),
        lambda: order(table(a=[], b=[])),
    ),
    "strict order": (
        lambda: order(table(a=[1.0], b=[2.0]), strict=True),
        lambda: order(table(a=[2.0], b=[2.0]), strict=True),
        lambda: order(table(a=[1.0], b=[NAN]), strict=True),
    ),
    "share of points": (
        lambda: least(table(a=[1, 1, 9], b=[2, 2, 2]), 0.6),
        lambda: least(table(a=[1, 1, 9], b=[2, 2, 2]), 0.7),
        lambda: least(table(a=[NAN], b=[1.0])),
    ),
    "near": (lambda: near(9, 10, 1), lambda: near(11.1, 10, 1), lambda: near(NAN, 10, 1)),
    "ratio": (lambda: factor(0.6, 1, 2), lambda: factor(0.4, 1, 2), lambda: factor(NAN, 1, 2)),
    "band": (lambda: within(1, 0, 2), lambda: within(-0.1, 0, 2), lambda: within(NAN, 0, 2)),
    "bound": (lambda: at_most([1, 2], 2), lambda: at_most([1, 3], 2), lambda: at_most([], 2)),
    "alike": (
        lambda: alike(series(1.0, 2.0), series(1.05, 2.0), 0.1),
        lambda: alike(series(1.0, 2.0), series(1.5, 2.0), 0.1),
        lambda: alike(series(), series(1.0), 0.1),
    ),
    "growth": (lambda: growth([5, 9], 0, 5), lambda: growth([5, 4], 0, 5), lambda: growth([5], 0, 5)),
    "relative growth": (
        lambda: growth([4, 5], 0.2, 0.3, relative=True),
        lambda: growth([4, 6], 0.2, 0.3, relative=True),
        lambda: growth([], 0.2, 0.3, relative=True),
    ),
    "rises": (
        lambda: shape([1, 2, 2, 3], "rises"), lambda: shape([1, 3, 2], "rises"), lambda: shape([1], "rises"),
    ),
    "strictly rises": (
        lambda: shape([1, 2, 3], "rises", strict=True),
        lambda: shape([1, 2, 2, 3], "rises", strict=True),
        lambda: shape([1, NAN], "rises", strict=True),
    ),
    "falls": (
        lambda: shape([3, 2.01, 2, 2.02], "falls", slack=0.03),
        lambda: shape([3, 2, 2.1], "falls", slack=0.03),
        lambda: shape([], "falls"),
    ),
    "u": (lambda: shape([5, 2, 3], "u"), lambda: shape([5, 4, 3], "u"), lambda: shape([5, 2], "u")),
    "saturates": (
        lambda: shape([1, 8, 10, 10.1], "saturates"),
        lambda: shape([1, 4, 7, 10], "saturates"),
        lambda: shape([1, 1], "saturates"),
    ),
    "paired": (
        lambda: below({1: 1.0, 2: 5.0, 3: 9.0}, {1: 2.0, 2: 6.1, 3: 10.0}),
        lambda: below({1: 2.0, 2: 6.1, 3: 10.0}, {1: 1.0, 2: 5.0, 3: 9.0}),
        lambda: below({1: 1.0}, {1: 2.0}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_combinator_holds_fails_and_cannot_tell(name: str) -> None:
    holds, contradicts, open_ = (made() for made in CASES[name])
    assert holds.holds is True
    assert contradicts.holds is False
    assert contradicts.measured, "it says what it saw"
    assert open_.holds is None
    assert open_.reason, "it says why it cannot tell"


@pytest.mark.parametrize(
    "made",
    [
        lambda: near(1, 1, math.inf), lambda: near(1, 1, 0), lambda: within(1, -math.inf, 2),
        lambda: within(1, 2, 1), lambda: factor(1, 1, 1), lambda: factor(1, 0, 2),
        lambda: at_most([1], math.inf),
        lambda: alike(series(1.0), series(1.0), math.inf), lambda: least(table(a=[1.0], b=[2.0]), 0.0),
        lambda: order(table(a=[1.0])), lambda: shape([1, 2], "wiggles"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_a_check_that_could_not_fail_is_refused(made: Callable[[], Finding]) -> None:
    with pytest.raises(ValueError, match=r"."):
        made()


def test_what_cannot_tell_keeps_its_own_words() -> None:
    assert near(NAN, 1, 1).said("0 %", "within 1 %") == near(NAN, 1, 1)
    assert near(1, 1, 1).said("100 %", "") == Finding(True, "100 %", "")


def test_a_difference_on_both_sides_of_zero_is_no_difference() -> None:
    found = below({1: 1.0, 2: 3.0}, {1: 2.0, 2: 2.0})
    assert found.holds is None
    assert "both sides of zero" in found.reason


def test_an_order_is_told_where_it_does_not_hold() -> None:
    assert order(table(a=[1, 5, 3], b=[2, 2, 4])).measured == "X=4: a 5, b 2"
    assert order(table(a=[1.02], b=[1.0]), slack=0.03).measured == "holds at X = 1"


numbers = st.floats(min_value=0.1, max_value=1e6)


@given(st.lists(numbers, min_size=2, max_size=8))
def test_a_curve_that_strictly_rises_falls_backwards(values: list[float]) -> None:
    forwards = shape(values, "rises", strict=True).holds
    assert forwards == shape(values[::-1], "falls", strict=True).holds
    if forwards:
        assert shape(values, "falls").holds is False
        assert shape(values, "u").holds in (False, None)


@given(numbers, numbers, st.floats(min_value=1.01, max_value=50))
def test_a_ratio_is_two_sided(measured: float, stated: float, times: float) -> None:
    holds = factor(measured, stated, times).holds
    assert holds == (stated / times <= measured <= stated * times)
    assert factor(stated * times * 1.1, stated, times).holds is False
    assert factor(stated / times / 1.1, stated, times).holds is False


def test_no_check_of_a_paper_answers_the_same_whatever_it_sees() -> None:
    """A finding that is written down as holding or failing would be no finding."""
    constant = []
    for path in [*ROOT.glob("experiments/**/*.py"), *ROOT.glob("testbed/reproduction/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Finding":
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant) and first.value is not None:
                    constant.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert constant == []


@pytest.mark.parametrize(
    ("outcomes", "held"), [([], None), ([True], True), ([True, None], None), ([None, False, True], False)]
)
def test_findings_hold_together(outcomes: list[bool | None], held: bool | None) -> None:
    assert together(outcomes) is held
