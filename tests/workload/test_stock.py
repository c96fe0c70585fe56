"""Synthetic quotes against the measured facts of such data, and the rate classes of POP/GRAPE 5.1."""

from __future__ import annotations

import itertools
import math
import statistics

import pytest

from broker_grpc.content.language import parse_filter
from protos.content_messages import Value
from testbed.workload import stock
from testbed.workload.subscriptions import CALIBRATION, SINKS, filters

SYMBOLS = [f"S{number}" for number in range(100)]
DAYS = 400


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Value]]:
    return [quote for name in SYMBOLS for quote in itertools.islice(stock.quotes(name, 7), DAYS)]


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[int(share * len(values))]


def column(rows: list[dict[str, Value]], name: str) -> list[float]:
    return [float(row[name]) for row in rows]


def test_a_quote_has_the_attributes_of_the_reports_example(rows: list[dict[str, Value]]) -> None:
    assert list(rows[0]) == [
        "class", "symbol", "open", "high", "low", "close", "volume", "date",
        "openClose%Diff", "highLow%Diff", "closeEqualsLow", "closeEqualsHigh",
    ]  # fmt: skip
    assert {type(row["volume"]) for row in rows} == {int}
    assert {type(row["highLow%Diff"]) for row in rows} == {float}


def test_derived_attributes_follow_from_the_prices(rows: list[dict[str, Value]]) -> None:
    for row in rows[:5000]:
        opened, high, low, close = (float(row[name]) for name in ("open", "high", "low", "close"))
        assert low <= min(opened, close)
        assert max(opened, close) <= high
        assert row["highLow%Diff"] == round((high - low) / low, 4)
        assert row["openClose%Diff"] == round(abs(close - opened) / opened, 4)
        assert row["closeEqualsLow"] == str(close == low).lower()
        assert row["closeEqualsHigh"] == str(close == high).lower()


RANGE_FACTS = [(0.25, 0.023), (0.5, 0.047), (0.75, 0.081), (0.9, 0.131), (0.95, 0.175), (0.99, 0.315)]
MOVE_FACTS = [(0.5, 0.019), (0.75, 0.043), (0.9, 0.076), (0.95, 0.105), (0.99, 0.187)]


@pytest.mark.parametrize(("share", "value"), RANGE_FACTS)
def test_trading_range(rows: list[dict[str, Value]], share: float, value: float) -> None:
    assert quantile(column(rows, "highLow%Diff"), share) == pytest.approx(value, rel=0.08)


def test_a_tenth_of_the_days_has_no_range(rows: list[dict[str, Value]]) -> None:
    assert sum(row["highLow%Diff"] == 0 for row in rows) / len(rows) == pytest.approx(0.10, abs=0.015)


@pytest.mark.parametrize(("share", "value"), MOVE_FACTS)
def test_move_from_open_to_close(rows: list[dict[str, Value]], share: float, value: float) -> None:
    assert quantile(column(rows, "openClose%Diff"), share) == pytest.approx(value, rel=0.12)


@pytest.mark.parametrize("name", ["closeEqualsLow", "closeEqualsHigh"])
def test_shares_of_days_that_close_at_an_extreme(rows: list[dict[str, Value]], name: str) -> None:
    assert sum(row[name] == "true" for row in rows) / len(rows) == pytest.approx(0.29, abs=0.02)


def test_volumes(rows: list[dict[str, Value]]) -> None:
    volumes = column(rows, "volume")
    assert sum(volume == 0 for volume in volumes) / len(volumes) == pytest.approx(0.05, abs=0.025)
    for share, value in [(0.5, 58e3), (0.75, 1.1e6), (0.9, 7.7e6), (0.99, 57e6)]:
        # Volumes differ between symbols by five orders of magnitude, and these are only a hundred symbols.
        assert abs(math.log(quantile(volumes, share) / value)) < math.log(1.8)


def test_returns_have_fat_tails(rows: list[dict[str, Value]]) -> None:
    returns = []
    for name in SYMBOLS:
        closes = [float(q["close"]) for q in itertools.islice(stock.quotes(name, 7), DAYS)]
        returns += [math.log(after / before) for before, after in itertools.pairwise(closes)]
    deviation = statistics.pstdev(returns)
    assert deviation == pytest.approx(0.062, rel=0.15)
    for share, value in [
        (0.01, -0.159),
        (0.05, -0.083),
        (0.25, -0.024),
        (0.75, 0.022),
        (0.95, 0.087),
        (0.99, 0.174),
    ]:
        assert quantile(returns, share) == pytest.approx(value, rel=0.2)
    kurtosis = statistics.fmean((value / deviation) ** 4 for value in returns)
    assert kurtosis > 5  # a normal distribution has 3


def test_prices_stay_prices() -> None:
    closes = [float(q["close"]) for q in itertools.islice(stock.quotes("LONG", 3), 20_000)]
    assert min(closes) > 0.5
    assert max(closes) < 5_000


def test_the_sequence_is_pinned() -> None:
    """A change of these values changes every experiment: only on purpose."""
    first, second = itertools.islice(stock.quotes("YHOO", 1), 2)
    assert first == PINNED_FIRST
    assert second["close"] == PINNED_SECOND_CLOSE
    assert next(stock.quotes("YHOO", 2)) != first
    assert next(stock.quotes("AMZN", 1))["close"] != first["close"]


PINNED_FIRST = {
    "class": "STOCK",
    "symbol": "YHOO",
    "open": 34.88,
    "high": 36.28,
    "low": 34.81,
    "close": 36.1,
    "volume": 49100,
    "date": "3-Sep-96",
    "openClose%Diff": 0.035,
    "highLow%Diff": 0.0422,
    "closeEqualsLow": "false",
    "closeEqualsHigh": "false",
}
PINNED_SECOND_CLOSE = 35.39


@pytest.mark.parametrize("symbol", ["YHOO", "AMZN", "EBAY", "AAPL", "S1", "S2", "S3", "S4"])
def test_rate_classes_sink_what_they_say(symbol: str) -> None:
    """POP/GRAPE 5.1: low ~10 %, medium ~50 %, high 100 % of the publisher's traffic."""
    quotes = list(itertools.islice(stock.quotes(symbol, 5), CALIBRATION))
    for name, text in filters(symbol, 5).items():
        matches = parse_filter(text).matches
        sunk = sum(matches(quote) for quote in quotes) / len(quotes)
        assert sunk == pytest.approx(SINKS[name], abs=0.01)


def test_rate_classes_hold_beyond_the_calibration_and_for_other_lengths() -> None:
    for days in (300, 5000):
        sunk = {"low": 0.0, "medium": 0.0}
        for symbol in SYMBOLS[:20]:
            quotes = list(itertools.islice(stock.quotes(symbol, 5), days))
            for name in ("low", "medium"):
                matches = parse_filter(filters(symbol, 5)[name]).matches  # type: ignore[index]
                sunk[name] += sum(matches(quote) for quote in quotes) / len(quotes) / 20
        assert sunk["low"] == pytest.approx(0.10, abs=0.01)
        assert sunk["medium"] == pytest.approx(0.50, abs=0.02)


def test_the_advertisement_covers_every_quote() -> None:
    matches = parse_filter(stock.advertisement("YHOO")).matches
    assert all(matches(quote) for quote in itertools.islice(stock.quotes("YHOO", 1), 500))
