"""Section 6.1.2 of the DYNATOPS paper: what users want, and how they change it."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.workload.topic_changes import Pattern, Population, changes

PATTERNS: tuple[Pattern, ...] = ("uniform", "zipf", "modes")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_user_has_five_distinct_topics_at_every_time(pattern: Pattern) -> None:
    population = Population(users=300, pattern=pattern)
    held, made = changes(population, 0.5, 12, np.random.default_rng(3))
    for user, slot, old, new in zip(made.user, made.slot, made.old, made.new, strict=True):
        assert held[user, slot] == old != new
        held[user, slot] = new
        assert len(set(held[user].tolist())) == 5
    assert np.all(np.diff(made.step) >= 0)


def test_changes_are_a_poisson_process() -> None:
    """Mean and variance per user and step are the rate."""
    population = Population(users=4_000)
    _, made = changes(population, 0.3, 10, np.random.default_rng(1))
    counts = np.bincount(made.step.astype(np.int64) * 4_000 + made.user, minlength=40_000)
    assert counts.mean() == pytest.approx(0.3, rel=0.05)
    assert counts.var() == pytest.approx(0.3, rel=0.05)


def test_a_users_topics_are_of_its_mode() -> None:
    population = Population(users=500)
    start, made = changes(population, 0.5, 10, np.random.default_rng(1))
    mode = start // 10
    assert np.all(mode == mode[:, :1])
    assert np.array_equal(made.new // 10, mode[made.user, 0])


def test_the_law_of_zipf_begins_at_two() -> None:
    """(i + 1) ** -sigma, i = 1 ...: the first topic is 1.5 times as popular as the second."""
    start, _ = changes(Population(users=40_000, each=1, pattern="zipf"), 0.0, 1, np.random.default_rng(1))
    counts = np.bincount(start.ravel(), minlength=1_000)
    assert counts[0] / counts[1] == pytest.approx(3 / 2, rel=0.05)
    assert counts[0] / counts[8] == pytest.approx(5, rel=0.1)


def test_no_step_and_no_rate() -> None:
    for rate, steps in ((0.0, 5), (1.0, 0)):
        _, made = changes(Population(users=10), rate, steps, np.random.default_rng(1))
        assert made.user.size == 0


def test_more_topics_than_there_are_to_choose_from() -> None:
    with pytest.raises(ValueError, match="5 of 5 topics"):
        Population(topics=500, modes=100)
