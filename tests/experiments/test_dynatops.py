"""The study of DYNATOPS: what its checks can say, and a small set computed."""

from __future__ import annotations

from collections.abc import Callable

import pandas
import pytest

from experiments.dynatops.claims.scaling import CLAIMS, Scaling
from experiments.dynatops.measures import with_savings
from experiments.dynatops.points import DEFAULTS, SCALES, VARIANTS, Sizes
from experiments.dynatops.scaling import PATTERNS, configure
from testbed.reproduction.claim import judge

SIZES = Sizes((10, 1000), (50, 5000))


def rows(saving: Callable[[str, int], float], seconds: Callable[[int, int], float]) -> pandas.DataFrame:
    """Of made-up networks; `saving` of delay and overhead by pattern and seed."""
    found = [
        {
            "brokers": brokers, "topics": topics, "seed": seed, "pattern": pattern,
            "seconds": seconds(brokers, topics),
            "hashed_delay": 4.0, "delay": 4.0 * (1 - saving(pattern, seed)),
            "hashed_overhead": 20.0, "overhead": 20.0 * (1 - saving(pattern, seed)),
        }
        for brokers, topics in SIZES.all()
        for seed in (1, 2, 3)
        for pattern in PATTERNS
    ]  # fmt: skip
    return with_savings(pandas.DataFrame(found))


def outcomes(table: pandas.DataFrame) -> dict[str, str]:
    return {one.claim: one.outcome for one in judge(CLAIMS, Scaling(table, SIZES), "made up")}


def papers_seconds(brokers: int, topics: int) -> float:
    """A little less of them, more so for the large sizes: rounding decides nothing."""
    return {(10, 100): 0.027, (1000, 100): 90.0, (100, 50): 0.097, (100, 5000): 1.8}[brokers, topics]


def skewed(pattern: str) -> bool:
    return pattern == "multimodal"


def test_the_papers_own_numbers_pass() -> None:
    table = rows(lambda pattern, seed: 0.2 + 0.1 * skewed(pattern) + seed / 1000, papers_seconds)
    assert set(outcomes(table).values()) == {"pass"}


@pytest.mark.parametrize(
    ("saving", "seconds", "claim", "outcome"),
    [
        (lambda pattern, seed: -0.1 - seed / 1000, papers_seconds, "D10a-delay", "fail"),
        (lambda pattern, seed: (seed - 2) / 10, papers_seconds, "D10b-overhead", "unknown"),
        (lambda pattern, seed: 1 / seed - skewed(pattern), papers_seconds, "D10a-skewed-delay", "fail"),
        (lambda pattern, seed: skewed(pattern) * (seed - 2), papers_seconds, "D10b-skewed-delay", "unknown"),
        (lambda pattern, seed: 0.2, lambda brokers, topics: 4000.0 * brokers, "DT1-brokers", "fail"),
        (lambda pattern, seed: 0.2, lambda brokers, topics: topics**2 / 1e6, "DT1-topics-growth", "fail"),
    ],
)  # fmt: skip
def test_each_check_can_fail(
    saving: Callable[[str, int], float], seconds: Callable[[int, int], float], claim: str, outcome: str
) -> None:
    assert outcomes(rows(saving, seconds))[claim] == outcome


def test_a_network_and_what_the_algorithm_makes_of_it() -> None:
    """More relays and hops are never what it ends with; the seed decides everything but the time."""
    said: list[str] = []
    one, other = (
        configure(said.append, brokers=24, topics=20, seed=7, **DEFAULTS)["configurations"] for _ in range(2)
    )
    assert one.drop(columns="seconds").equals(other.drop(columns="seconds"))
    assert list(one.pattern) == list(PATTERNS)
    assert (one.cost < one.hashed_cost).all()
    assert (one.overhead >= one.relays).all()
    assert said[0].endswith(" s")


def test_every_varied_reading_is_another_computation() -> None:
    assert len({str({**DEFAULTS, **varied}) for varied in VARIANTS.values()}) == len(VARIANTS)
    assert SCALES["full"].seeds >= 10, "M > U does not hold seed by seed"
