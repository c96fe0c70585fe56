"""The matching index equals brute force, whatever is added and removed."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_grpc.content.covering import covers, intersects
from broker_grpc.content.filters import Filter
from broker_grpc.content.index import MANY, FilterIndex
from broker_grpc.content.language import parse_filter
from protos.content_messages import Operator, Predicate
from tests.broker_core.filter_strategies import confused, filters, numeric, publications, textual

any_filter = filters(st.one_of(numeric, textual, confused), most=5)
without_equality = st.builds(Filter, st.lists(st.one_of(numeric, textual), min_size=1, max_size=3))


def build(
    entries: list[tuple[Filter, str]], removed: set[int]
) -> tuple[FilterIndex, dict[str, tuple[Filter, str]]]:
    index = FilterIndex()
    for i, (filter_, hop) in enumerate(entries):
        index.add(f"s{i}", filter_, hop)
    for i in removed:
        if i < len(entries):
            index.remove(f"s{i}")
    left = {f"s{i}": entry for i, entry in enumerate(entries) if i not in removed}
    return index, left


entries = st.lists(st.tuples(st.one_of(any_filter, without_equality), st.sampled_from("hij")), max_size=25)
removals = st.sets(st.integers(0, 24), max_size=15)


@settings(max_examples=150, deadline=None)
@given(entries, removals, st.lists(publications, min_size=1, max_size=5))
def test_match_equals_brute_force(filters_and_hops, removed, batch):
    index, left = build(filters_and_hops, removed)
    assert len(index) == len(left)
    for publication in batch:
        expected = {id_ for id_, (filter_, _) in left.items() if filter_.matches(publication)}
        found = index.match(publication)
        assert set(found) == expected
        assert len(found) == len(expected)
        assert index.match_hops(publication) == {left[id_][1] for id_ in expected}


@settings(max_examples=100, deadline=None)
@given(entries, removals, any_filter)
def test_relations_equal_brute_force(filters_and_hops, removed, probe):
    index, left = build(filters_and_hops, removed)
    assert set(index.intersecting(probe)) == {i for i, (f, _) in left.items() if intersects(f, probe)}
    assert index.intersects_any(probe) == any(intersects(f, probe) for f, _ in left.values())
    equal = {i for i, (f, _) in left.items() if f == probe}
    assert index.covered(probe) == (bool(equal) or any(covers(f, probe) for f, _ in left.values()))
    assert set(index.covered_by(probe)) == equal | {i for i, (f, _) in left.items() if covers(probe, f)}


@given(entries)
def test_nothing_is_left_when_all_are_removed(filters_and_hops):
    index, _ = build(filters_and_hops, set(range(len(filters_and_hops))))
    assert len(index) == 0
    assert index.distinct() == 0
    leftovers = [index._nodes, index._of_id, index._pivots, index._pairs, index._hops]
    assert leftovers == [{}, {}, {}, {}, {}]
    assert not index._unkeyed.size


def test_a_topic_is_found_by_looking_at_one_filter():
    """However many topics there are, a publication on one of them looks at one."""
    index = FilterIndex()
    for i in range(1000):
        index.add(f"s{i}", parse_filter(f"[topic,eq,'t{i}']"), f"h{i}")
    assert index.match_hops({"topic": "t7"}) == {"h7"}
    assert index.candidates == 1


def test_the_pivot_is_the_most_selective_equality():
    index = FilterIndex()
    for i in range(1000):
        symbol, price = i % 100, i // 100
        index.add(f"s{i}", parse_filter(f"[class,eq,STOCK],[symbol,eq,S{symbol}],[price,>,{price}]"), "h")
    assert index.match_hops({"class": "STOCK", "symbol": "S5", "price": 20}) == {"h"}
    assert index.candidates <= 11, "ten filters are about S5, one more may hang in the bucket of the class"


numbers = st.one_of(st.integers(-3, 3), st.sampled_from([0.5, -0.5, 2.5, 2**60, 2**60 + 1, -(2**62), 1e300]))
bounds = st.builds(
    Predicate,
    st.sampled_from("xyz"),
    st.sampled_from([Operator.GT, Operator.GE, Operator.LT, Operator.LE, Operator.EQ, Operator.IS_PRESENT]),
    numbers,
)
many_filters = st.lists(
    st.builds(
        lambda rest: Filter([Predicate("class", Operator.EQ, "A"), *rest]),
        st.lists(st.one_of(bounds, textual), max_size=4),
    ),
    min_size=MANY, max_size=3 * MANY,
)  # fmt: skip
values = st.fixed_dictionaries(
    {"class": st.just("A")},
    optional={
        "x": numbers,
        "y": st.one_of(numbers, st.just("a")),
        "z": numbers,
        "s": st.sampled_from(["a", "ab"]),
    },
)


@settings(max_examples=30, deadline=None)
@given(many_filters, st.sets(st.integers(0, 3 * MANY)), st.lists(values, min_size=1, max_size=4))
def test_a_large_bucket_equals_brute_force(made, removed, batch):
    """Above the size from which intervals are compared at once; also integers that a float rounds."""
    index, left = build([(filter_, "h") for filter_ in made], {i for i in removed if i < len(made)})
    for publication in batch:
        expected = {i for i, (f, _) in left.items() if f.matches(publication)}
        assert set(index.match(publication)) == expected
        assert index.match_hops(publication) == ({"h"} if expected else set())


@pytest.mark.parametrize("seed", range(5))
def test_removing_from_a_large_bucket_keeps_the_others_right(seed):
    """All filters hang in one bucket and differ in their bounds only; some lack one attribute or both."""
    rng = random.Random(seed)
    index, left = FilterIndex(), {}
    for i in range(6 * MANY):
        low = rng.randrange(50)
        made = [Predicate("class", Operator.EQ, "A")]
        made += [Predicate("x", Operator.GT, low), Predicate("x", Operator.LE, low + 10)] if i % 3 else []
        made += [Predicate("y", Operator.GE, rng.randrange(50) / 2)] if i % 2 else []
        left[f"s{i}"] = Filter(made)
        index.add(f"s{i}", left[f"s{i}"], f"h{i % 5}")
    for id_ in rng.sample(sorted(left), 4 * MANY):
        index.remove(id_)
        del left[id_]
        publication = {"class": "A", "x": rng.randrange(60), "y": rng.randrange(30)}
        publication = {name: v for name, v in publication.items() if name == "class" or rng.random() < 0.9}
        expected = {i for i, f in left.items() if f.matches(publication)}
        assert set(index.match(publication)) == expected
        assert index.match_hops(publication) == {f"h{int(i[1:]) % 5}" for i in expected}


def test_equal_filters_share_a_node():
    index = FilterIndex()
    for i in range(500):
        index.add(f"s{i}", parse_filter("[class,eq,STOCK],[price,>,1]"), f"h{i % 3}")
    assert index.distinct() == 1
    assert index.match_hops({"class": "STOCK", "price": 2}) == {"h0", "h1", "h2"}
    assert index.candidates == 1


def test_adding_and_removing_ten_thousand_is_quick():
    """Of the order of a bisection each, not of a scan: 100 times more may not cost 1,000 times more."""

    def cost(count: int) -> float:
        made = [
            Filter([Predicate("class", Operator.EQ, "A"), Predicate("x", Operator.GT, i)])
            for i in range(count)
        ]
        index = FilterIndex()
        start = time.process_time()
        for i, filter_ in enumerate(made):
            index.add(f"s{i}", filter_)
        for i in range(count):
            index.remove(f"s{i}")
        return time.process_time() - start

    small = max(min(cost(100) for _ in range(5)), 1e-4)
    assert any(cost(10_000) < 1000 * small for _ in range(3))  # its neighbours may slow a processor down
