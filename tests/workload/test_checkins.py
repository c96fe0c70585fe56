"""Section 6.1.1 of the DYNATOPS paper: what its figure 5 says of the check-ins, and bad cases."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.workload.checkins import Map, Mobility, Visits, friends, visits

USERS = 6_000


@pytest.fixture(scope="module")
def seen() -> Visits:
    return visits(USERS, Map(), Mobility(), np.random.default_rng(5))


def per_cell(seen: Visits) -> np.ndarray:
    """How often each user was in each of its cells."""
    _, counts = np.unique(seen.user.astype(np.int64) * Map().cells + seen.cell, return_counts=True)
    return counts


def test_450_thousand_visits_of_40_thousand_users(seen: Visits) -> None:
    assert len(seen.user) / USERS == pytest.approx(450 / 40, rel=0.1)


def test_160_thousand_pairs_of_user_and_cell(seen: Visits) -> None:
    assert len(per_cell(seen)) / USERS == pytest.approx(160 / 40, rel=0.1)


def test_a_third_of_them_are_visited_once(seen: Visits) -> None:
    assert np.mean(per_cell(seen) == 1) == pytest.approx(1 / 3, rel=0.1)


def test_half_of_the_visits_are_shorter_than_a_day_and_a_tenth_longer_than_a_week(seen: Visits) -> None:
    days = (seen.end - seen.begin)[np.isfinite(seen.end)]
    assert np.mean(days < 1) == pytest.approx(0.5, abs=0.02)
    assert np.mean(days > 7) == pytest.approx(0.1, abs=0.02)


def test_a_users_visits_follow_each_other_without_a_gap(seen: Visits) -> None:
    same = seen.user[1:] == seen.user[:-1]
    assert np.all(seen.begin[1:][same] == pytest.approx(seen.end[:-1][same]))
    assert np.all(seen.cell[1:][same] != seen.cell[:-1][same]), "a visit ends when the user goes elsewhere"
    assert np.all(seen.begin < 92)
    assert set(np.unique(seen.user)) == set(range(USERS)), "everybody is somewhere"


def test_the_same_seed_gives_the_same_users() -> None:
    one, other = (visits(50, Map(4, 5), Mobility(), np.random.default_rng(1)) for _ in range(2))
    assert np.array_equal(one.cell, other.cell)
    assert np.array_equal(one.begin, other.begin)


def test_a_map_smaller_than_what_a_user_explores() -> None:
    few = visits(30, Map(1, 2), Mobility(), np.random.default_rng(1))
    assert set(np.unique(few.cell)) <= {0, 1}


def test_friends_are_distinct_others() -> None:
    found = friends(7, 4, np.random.default_rng(1))
    assert all(len({user, *row}) == 5 for user, row in enumerate(found.tolist()))
    with pytest.raises(ValueError, match="4 users cannot have 4 friends each"):
        friends(4, 4, np.random.default_rng(1))
