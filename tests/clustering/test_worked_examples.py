"""The paper's own numbers, each by its sentence."""

from __future__ import annotations

import math

import pytest

from broker_grpc.protocols.clustering.adding import add_delta, holders_needed, omega, threshold
from broker_grpc.protocols.clustering.costs import PAPER, Channel, overall
from broker_grpc.protocols.clustering.merging import Common, Side, common_needed, merge_delta
from broker_grpc.protocols.clustering.subscribing import freed, join_delta, overlap_needed
from broker_grpc.protocols.clustering.surveys import cochran, estimate, sample_size


def test_section_3_1_as_soon_as_the_number_of_interested_users_passes_910_the_update_is_profitable() -> None:
    assert threshold(0.1, 10_000) == pytest.approx(910.09, abs=0.005)
    assert holders_needed(PAPER, 0.1, 5000, 10_000, 20) == 911


def test_section_3_1_coin_tossing_with_winning_omega_above_0_005() -> None:
    assert omega(0.99, 911) == pytest.approx(0.005042, abs=5e-7)
    assert 1 - (1 - omega(0.99, 911)) ** 911 == pytest.approx(0.99)


def test_section_3_2_the_merge_is_profitable_if_common_subscribers_are_more_than_79() -> None:
    assert common_needed(0.1, (20, 20), (200, 200), 80) == pytest.approx(79.11, abs=0.005)


def test_section_3_2_with_7_common_topics_only_above_466() -> None:
    assert common_needed(0.1, (20, 20), (200, 200), 7) == pytest.approx(466.06, abs=0.005)


@pytest.mark.parametrize(("topics", "turn"), [(80, 79), (7, 466)])
def test_section_3_2_the_decision_turns_where_the_example_says(topics: int, turn: int) -> None:
    def delta(users: int) -> float:
        side = Side(topics + 20, 0.1 * (topics + 20), 200 + users)
        return merge_delta(PAPER, side, side, Common(users, topics, 0.1 * topics))

    assert delta(turn) > 0 > delta(turn + 1)


def test_section_4_subscribe_to_the_cluster_above_1_plus_alpha_t_by_1_plus_alpha() -> None:
    alpha, topics = 0.3, 12
    needed = overlap_needed(alpha, topics)
    for overlap in range(1, topics + 1):
        delta = join_delta(PAPER, 50, alpha * topics, overlap * freed(PAPER, alpha, 9))
        assert delta == pytest.approx(1 - overlap + alpha * (topics - overlap))
        assert (delta < 0) == (overlap > needed)


def test_section_3_1_delta_is_as_printed() -> None:
    frequency, members, holders = 0.2, 70, 30
    printed = frequency * (members + 1 - holders) + 1 - holders
    assert add_delta(PAPER, frequency, 44, members, holders, 5) == pytest.approx(printed)


def test_a_single_topic_in_a_merge_costs_1_plus_f_more() -> None:
    one, other = Side(1, 0.1, 50), Side(1, 0.4, 70)
    singles = (one._replace(single=True), other._replace(single=True))
    plain = merge_delta(PAPER, one, other, Common(30))
    assert merge_delta(PAPER, *singles, Common(30)) - plain == pytest.approx(2 + 0.1 + 0.4)
    expected = 0.1 * (40 + 1) + 0.4 * (20 + 1) + 2 - 30
    assert merge_delta(PAPER, *singles, Common(30)) == pytest.approx(expected)


def test_section_2_costs() -> None:
    found = overall(PAPER, [Channel(0.5, 3), Channel(0.25, 0), Channel(0.75, 10, topics=2)])
    assert found.maintenance == 3 + 0 + 10 + 2
    assert found.dissemination == 0.5 * 4 + 0.25 * 1 + 0.75 * 11
    assert found.cost == found.maintenance + found.dissemination


def test_cochran() -> None:
    assert cochran(0.05) == 384
    assert sample_size(3000, 0.05) == math.ceil(384 / (1 + 384 / 3000)) == 341
    assert [sample_size(n, 0.05) for n in (0, 1, 2, 10)] == [0, 1, 2, 10]
    assert sample_size(3000, 0) == 3000


def test_nobody_answers() -> None:
    assert estimate(0, 0, 40) == 0
    assert estimate(3, 12, 40) == 10
