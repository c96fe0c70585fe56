"""Bloom filters and the cache: never a miss, false positives as often as theory says."""

from __future__ import annotations

import numpy
from hypothesis import given
from hypothesis import strategies as st

from broker_grpc.protocols.selforganising.bloom import contained, false_positives, filter_of, positions
from broker_grpc.protocols.selforganising.cache import NotificationCache

BITS, HASHES = 100_000, 5  # section 5


def test_false_positives_are_as_frequent_as_theory_says() -> None:
    inside = positions([f"in-{n}" for n in range(600)], 4096, HASHES)
    outside = positions([f"out-{n}" for n in range(40_000)], 4096, HASHES)
    expected = false_positives(4096, HASHES, 600)
    found = contained(outside, filter_of(inside, 4096)) / 40_000
    deviation = (expected * (1 - expected) / 40_000) ** 0.5
    assert abs(found - expected) < 6 * deviation + 0.05 * expected


def test_the_papers_filter_takes_hardly_any_id_for_another() -> None:
    assert false_positives(BITS, HASHES, 2500) < 3e-5


@given(st.sets(st.text(max_size=12), max_size=40), st.integers(1, 2000), st.integers(1, 7))
def test_none_is_missed(ids: set[str], bits: int, hashes: int) -> None:
    rows = positions(sorted(ids), bits, hashes)
    assert contained(rows, filter_of(rows, bits)) == len(ids)


def test_the_filter_is_the_same_everywhere() -> None:
    """Its bytes cross the wire: another machine must set the same bits."""
    assert positions(["B1.1-1", "B1.1-2"], 1000, 3).tolist() == [[819, 884, 949], [981, 850, 103]]


@given(st.integers(1, 9), st.lists(st.integers(0, 12), max_size=6))
def test_the_cache_is_a_window_of_ids(size: int, intervals: list[int]) -> None:
    cache, all_ids = NotificationCache(size, 5000, 4), []
    for number, many in enumerate(intervals):
        new = [f"{number}-{n}" for n in range(many)]
        for one in new:
            cache.add(one)
        all_ids += new
        filter_, count = cache.close_interval()
        assert count == min(many, size)
        assert numpy.array_equal(
            numpy.frombuffer(filter_, numpy.uint8),
            numpy.frombuffer(filter_of(positions(new[-size:], 5000, 4), 5000), numpy.uint8),
        )
        kept = all_ids[-size:]
        assert len(cache) == len(kept)
        assert cache.common(filter_of(positions(kept, 5000, 4), 5000)) == len(kept)


def test_common_interest_counts_the_own_cache() -> None:
    one, other = NotificationCache(8192, BITS, HASHES), NotificationCache(8192, BITS, HASHES)
    for n in range(300):
        one.add(f"n{n}")
    for n in range(200, 450):
        other.add(f"n{n}")
    filter_, _ = other.close_interval()
    assert one.common(filter_) == 100
