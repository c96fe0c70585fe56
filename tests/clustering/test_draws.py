"""Coins and samples hang on seed, channel and number alone, whoever draws them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from broker_grpc.protocols.clustering.adding import omega
from broker_grpc.protocols.clustering.draws import cluster_identity, coin, draw_key, identity, rank, sample
from testbed.flow.clustering.bits import ranks, sampled

IDENTITIES = np.array([identity(f"user {u}") for u in range(200)], np.uint64)


@given(st.integers(0, 2**64 - 1), st.sets(st.integers(0, 199)), st.integers(0, 220))
def test_flow_draws_what_the_machines_draw(key: int, users: set[int], wanted: int) -> None:
    mine = sampled(key, np.array(sorted(users), np.int64), IDENTITIES, wanted)
    theirs = sample(key, [int(IDENTITIES[u]) for u in users], wanted)
    assert {int(IDENTITIES[u]) for u in mine} == theirs
    assert len(theirs) == min(wanted, len(users))


def test_ranks_are_the_same_in_words_and_in_integers() -> None:
    assert ranks(12345, IDENTITIES).tolist() == [rank(12345, int(one)) for one in IDENTITIES]


def test_everyone_is_asked_equally_often() -> None:
    """10 of 200 in 2,000 draws: 100 times each, give or take."""
    asked = np.zeros(200)
    for number in range(2000):
        asked[sampled(draw_key(1, 7, number), np.arange(200), IDENTITIES, 10)] += 1
    assert asked.sum() == 20_000
    assert 60 < asked.min() <= asked.max() < 145  # four deviations


def test_a_coin_of_omega_is_won_as_often_as_phi_says() -> None:
    needed, phi = 50, 0.9
    chance = omega(phi, needed)
    runs = [any(coin(draw_key(s, 3, n)) < chance for n in range(needed)) for s in range(1000)]
    assert 0.86 < np.mean(runs) < 0.94


def test_draws_differ_by_seed_channel_and_number() -> None:
    keys = {draw_key(s, c, n) for s in range(8) for c in range(8) for n in range(8)}
    assert len(keys) == 512
    assert len({cluster_identity(m, n) for m in range(20) for n in range(20)}) == 400
