"""Subscriptions by rate class: low, medium and high sink 10, 50 and 100 % of a publisher's publications.

The report's example predicates do not give these shares (on its own data 3 to 7 % instead of 10 %), so
thresholds are calibrated per symbol: on the very sequence that a publisher with this seed publishes.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from testbed.errors import InputError
from testbed.workload import stock

RateClass = Literal["low", "medium", "high"]
RATE_CLASSES: tuple[RateClass, ...] = ("low", "medium", "high")
SINKS: Mapping[RateClass, float] = {"low": 0.10, "medium": 0.50, "high": 1.0}

# POP/GRAPE section 5.1
RANDOM_SHARES: Mapping[RateClass, float] = {"low": 0.70, "medium": 0.25, "high": 0.05}
CLUSTERED_SHARES: Mapping[RateClass, float] = {"low": 0.95, "medium": 0.0, "high": 0.05}

CALIBRATION = 1080  # publications of 18 minutes at one per second, the length of the report's runs


@lru_cache(maxsize=4096)
def filters(symbol: str, seed: int) -> Mapping[RateClass, str]:
    """The three filters on one symbol; `seed` is that of the client that publishes it."""
    values = [quote["highLow%Diff"] for quote in itertools.islice(stock.quotes(symbol, seed), CALIBRATION)]
    ranges = sorted(value for value in values if isinstance(value, float))
    subject = f"[class,eq,'{stock.CLASS}'],[symbol,eq,'{symbol}']"
    return {
        "low": f"{subject},[highLow%Diff,>,{threshold(ranges, SINKS['low'])}]",
        "medium": f"{subject},[highLow%Diff,>,{threshold(ranges, SINKS['medium'])}]",
        "high": subject,
    }


def threshold(ascending: list[float], share: float) -> float:
    """The value that this share of the sample exceeds, as nearly as ties allow."""
    return ascending[max(0, len(ascending) - round(share * len(ascending)) - 1)]


def counts(total: int, shares: Mapping[RateClass, float]) -> dict[RateClass, int]:
    """How many of `total` subscribers are of each class: largest remainders, the scarcer class first."""
    if abs(sum(shares.values()) - 1) > 1e-9 or min(shares.values()) < 0:
        raise InputError(f"shares of rate classes must add up to 1: {dict(shares)}")
    exact = {name: total * shares.get(name, 0.0) for name in RATE_CLASSES}
    result = {name: int(value + 1e-9) for name, value in exact.items()}
    rest = sorted(RATE_CLASSES, key=lambda name: (result[name] - exact[name], exact[name]))
    for name in rest[: total - sum(result.values())]:
        result[name] += 1
    return result
