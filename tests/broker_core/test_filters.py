"""Matching, intersection and covering against their definitions, by brute force."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from broker_grpc.content.covering import covers, intersects
from broker_grpc.content.filters import Filter, matches
from broker_grpc.content.language import parse_filter, parse_publication
from broker_grpc.content.predicates import check_attributes
from broker_grpc.errors import LanguageError, LimitExceeded
from protos.content_messages import Operator, Predicate, Value
from tests.broker_core.filter_strategies import (
    NUMBER_DOMAIN,
    WORD_DOMAIN,
    confused,
    filters,
    numeric,
    publications,
    textual,
)

CASES = [
    ("[class,eq,A]", "[class,A]", True),
    ("[class,eq,A]", "[class,B]", False),
    ("[class,eq,A],[x,>,1]", "[class,A]", False),
    ("[class,eq,A],[x,>,1]", "[class,A],[x,1]", False),
    ("[class,eq,A],[x,>,1]", "[class,A],[x,1.01]", True),
    ("[class,eq,A],[x,=,1]", "[class,A],[x,1.0]", True),
    ("[class,eq,A],[x,=,1]", "[class,A],[x,'1']", False),
    ("[class,eq,A],[x,<>,1]", "[class,A],[x,2]", True),
    ("[class,eq,A],[x,<>,1]", "[class,A],[x,'b']", False),  # a numeric operator on a string
    ("[class,eq,A],[x,neq,'b']", "[class,A],[x,2]", False),
    ("[class,eq,A],[x,>,1]", "[class,A],[x,'b']", False),
    ("[class,eq,A],[x,str-gt,'a']", "[class,A],[x,5]", False),
    ("[class,eq,A],[x,str-gt,'a']", "[class,A],[x,'b']", True),
    ("[class,eq,A],[x,str-prefix,'ab']", "[class,A],[x,'abc']", True),
    ("[class,eq,A],[x,str-postfix,'bc']", "[class,A],[x,'abc']", True),
    ("[class,eq,A],[x,str-contains,'b']", "[class,A],[x,'abc']", True),
    ("[class,eq,A],[x,str-contains,'b']", "[class,A],[x,7]", False),
    ("[class,eq,A],[x,isPresent,0]", "[class,A],[x,7.5]", True),
    ("[class,eq,A],[x,isPresent,0]", "[class,A],[x,'a']", False),
    ("[class,eq,A],[x,isPresent,'']", "[class,A],[x,'a']", True),
    ("[class,eq,A],[x,>,1],[x,<,3]", "[class,A],[x,2],[extra,1]", True),
    ("[class,eq,A],[x,>,1],[x,<,3]", "[class,A],[x,3]", False),
]


@pytest.mark.parametrize(("filter_text", "publication", "expected"), CASES)
def test_matches(filter_text, publication, expected):
    assert matches(parse_filter(filter_text), parse_publication(publication)) is expected


@pytest.mark.parametrize("value", [True, float("nan"), float("inf"), None, b"x", 2**63, [1]])
def test_values_that_are_neither_string_nor_number_are_refused(value):
    with pytest.raises(LanguageError):
        Filter.checked([Predicate("class", Operator.EQ, value)])
    with pytest.raises(LanguageError):
        check_attributes({"class": "A", "x": value})


def test_wrong_types_in_predicates_are_refused():
    with pytest.raises(LanguageError, match="wants a string"):
        Filter.checked([Predicate("class", Operator.EQ, "A"), Predicate("x", Operator.STR_PREFIX, 5)])
    with pytest.raises(LanguageError, match="unknown operator"):
        Filter.checked([Predicate("class", Operator.OPERATOR_UNKNOWN, "A")])
    with pytest.raises(LimitExceeded):
        Filter.checked([Predicate("class", Operator.EQ, "A")] * 5, limit=4)


@given(filters(), st.randoms(use_true_random=False))
def test_equal_filters_have_equal_keys_in_any_order(filter_, rng):
    shuffled = list(filter_.predicates)
    rng.shuffle(shuffled)
    assert Filter(shuffled).key == filter_.key
    assert Filter(shuffled) == filter_
    assert hash(Filter(shuffled)) == hash(filter_)


# ---------------------------------------------------------------- relations, one attribute at a time


ABSENT = object()
DOMAINS = {"class": ["A", "B"], "x": [*NUMBER_DOMAIN, "a", ABSENT], "s": [*WORD_DOMAIN, 1, ABSENT]}


def witnesses(one: Filter, other: Filter) -> Iterator[dict[str, Value]]:
    """All publications over the small domains that could tell the two filters apart."""
    names = sorted({p.attribute for f in (one, other) for p in f.predicates})
    for values in itertools.product(*(DOMAINS[name] for name in names)):
        yield {name: value for name, value in zip(names, values, strict=True) if value is not ABSENT}


def both_match(one: Filter, other: Filter) -> bool:
    return any(one.matches(p) and other.matches(p) for p in witnesses(one, other))


def one_without_other(one: Filter, other: Filter) -> bool:
    return any(one.matches(p) and not other.matches(p) for p in witnesses(one, other))


on_x = numeric.filter(lambda p: p.attribute == "x")
on_s = textual.filter(lambda p: p.attribute == "s")


@settings(max_examples=200, deadline=None)
@example(parse_filter("[class,eq,'A'],[x,<,1]"), parse_filter("[class,eq,'A'],[x,<>,1],[x,<=,1]"))
@example(parse_filter("[class,eq,'A'],[x,>,1]"), parse_filter("[class,eq,'A'],[x,<>,1],[x,>=,1]"))
@given(filters(on_x), filters(on_x))
def test_relations_of_numbers_are_exact(one, other):
    assert intersects(one, other) == both_match(one, other)
    if both_match(one, one) and both_match(other, other):
        assert covers(one, other) == (not one_without_other(other, one))


@settings(max_examples=200, deadline=None)
@given(filters(on_s), filters(on_s))
def test_relations_of_strings_never_err_to_the_wrong_side(one, other):
    if both_match(one, other):
        assert intersects(one, other)
    if covers(one, other):
        assert not one_without_other(other, one)


@settings(max_examples=200, deadline=None)
@given(
    filters(st.one_of(numeric, textual, confused)),
    filters(st.one_of(numeric, textual, confused)),
    publications,
)
def test_relations_of_any_filters_agree_with_matching(one, other, publication):
    if one.matches(publication) and other.matches(publication):
        assert intersects(one, other)
        assert intersects(other, one)
    if covers(one, other) and other.matches(publication):
        assert one.matches(publication)


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ("[class,eq,A]", "[class,eq,A],[x,>,1]", True),
        ("[class,eq,A],[x,>,1]", "[class,eq,A]", False),
        ("[class,eq,A],[x,>,1]", "[class,eq,A],[x,>=,1]", False),
        ("[class,eq,A],[x,>=,1]", "[class,eq,A],[x,>,1]", True),
        ("[class,eq,A],[x,>,1]", "[class,eq,A],[x,=,2]", True),
        ("[class,eq,A],[x,=,2]", "[class,eq,A],[x,>=,2],[x,<=,2]", True),
        ("[class,eq,A],[x,isPresent,0]", "[class,eq,A],[x,>,1]", True),
        ("[class,eq,A],[x,isPresent,'']", "[class,eq,A],[x,>,1]", False),
        ("[class,eq,A],[s,str-prefix,'a']", "[class,eq,A],[s,str-prefix,'ab']", True),
        ("[class,eq,A],[s,str-prefix,'ab']", "[class,eq,A],[s,str-prefix,'a']", False),
        ("[class,eq,A],[s,str-contains,'b']", "[class,eq,A],[s,str-prefix,'abc']", True),
        ("[class,eq,A],[s,str-lt,'b']", "[class,eq,A],[s,str-prefix,'a']", True),
        ("[class,eq,A],[s,neq,'c']", "[class,eq,A],[s,str-lt,'b']", True),
        ("[class,eq,A],[x,<>,5]", "[class,eq,A],[x,<,5]", True),
    ],
)
def test_covers(wide, narrow, expected):
    assert covers(parse_filter(wide), parse_filter(narrow)) is expected
