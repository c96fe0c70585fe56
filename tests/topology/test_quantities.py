"""Units: each kind reads its units exactly, and says what would be right."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.topology.file.quantities import (
    BANDWIDTH,
    DURATION,
    FRACTION,
    LATENCY,
    RATE,
    SIZE,
    BadQuantity,
    Kind,
    parse,
    show_us,
)


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("20ms", LATENCY, 20_000),
        ("1.5s", DURATION, 1_500_000),
        ("500us", LATENCY, 500),
        ("500 µs", LATENCY, 500),
        (20, LATENCY, 20_000),
        (2, DURATION, 2_000_000),
        ("2min", DURATION, 120_000_000),
        ("0.1ms", LATENCY, 100),
        ("10 Mbit/s", BANDWIDTH, 10_000_000),
        ("10Mbps", BANDWIDTH, 10_000_000),
        (10, BANDWIDTH, 10_000_000),
        ("60/min", RATE, 1.0),
        ("5/s", RATE, 5.0),
        ("10%", FRACTION, 0.1),
        (0.25, FRACTION, 0.25),
        ("64kB", SIZE, 64_000),
        ("1 KiB", SIZE, 1024),
    ],
)
def test_values_with_units(value: Any, kind: Kind, expected: float) -> None:
    assert parse(value, kind) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        ("5 parsec", DURATION, "unknown unit 'parsec' of a duration; known: us"),
        ("-5ms", LATENCY, "cannot be negative"),
        (-1, RATE, "cannot be negative"),
        ("fast", BANDWIDTH, "is no bandwidth; write it like 10 Mbit/s"),
        ("10 MB", BANDWIDTH, "unknown unit 'MB' of a bandwidth"),
        (True, LATENCY, "a latency is needed"),
        (None, DURATION, "not nothing"),
        ([1], SIZE, "not a list"),
        ("101%", FRACTION, "too much"),
        (float("nan"), LATENCY, "is no latency"),
        (float("inf"), DURATION, "is no duration"),
        ("2h", LATENCY, "at most 60000ms"),
        ("1e999ms", LATENCY, "too much"),
    ],
)
def test_wrong_values_say_what_would_be_right(value: Any, kind: Kind, message: str) -> None:
    with pytest.raises(BadQuantity, match=message):
        parse(value, kind)


@given(st.integers(0, 10**12))
def test_microseconds_are_exact(us: int) -> None:
    assert parse(f"{us}us", DURATION) == us
    assert parse(f"{us // 1000}.{us % 1000:03}ms", DURATION) == us


def test_durations_for_people() -> None:
    assert [show_us(us) for us in (0, 5, 1500, 20_000, 1_500_000, 60_000_000, 90_000_000)] == [
        "0",
        "5 us",
        "1.5 ms",
        "20 ms",
        "1.5 s",
        "1 min",
        "90 s",
    ]
