"""Section 4: where a user goes; section 5.1: when the network is changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_grpc.protocols.dynatops.planning import estimated_rates, is_worth_computing, reconfiguration_cost
from broker_grpc.protocols.dynatops.user_placement import BrokerState, best_broker, similarity, utility

TOPICS = st.frozensets(st.sampled_from("abcdef"), max_size=6)
STATES = st.builds(BrokerState, TOPICS, st.integers(0, 50))
CLUSTERS = st.dictionaries(st.sampled_from(["B1", "B2", "B3", "B4"]), STATES, min_size=1)


def test_similarity_is_the_normalized_size_of_the_intersection() -> None:
    assert similarity({"a", "b", "c"}, ["a", "b", "x", "y"]) == 0.5
    assert similarity(set(), ["a"]) == 0.0
    assert similarity({"a"}, []) == 1.0, "a user without topics is like everybody"


@given(cluster=CLUSTERS, wanted=TOPICS, weight=st.sampled_from([0.0, 0.5, 4.0]), data=st.data())
def test_nobody_has_a_larger_utility_than_the_chosen(
    cluster: dict[str, BrokerState], wanted: frozenset[str], weight: float, data: st.DataObject
) -> None:
    """Algorithm 1, step 3."""
    current = data.draw(st.sampled_from(sorted(cluster)))
    chosen = best_broker(wanted, current, cluster, weight)
    total = sum(state.subscriptions for state in cluster.values()) or 1
    worth = {
        broker: utility(similarity(state.topics, wanted), state.subscriptions / total, weight)
        for broker, state in cluster.items()
    }
    assert worth[chosen] == max(worth.values())
    assert chosen == current or worth[current] < worth[chosen], "a user stays where nobody is better"


def test_load_drives_users_apart() -> None:
    """ "Adjusting the weight for the load factor" (6.3.1): the full broker loses to an empty one that is as
    similar.
    """
    cluster = {"B1": BrokerState({"a"}, 90), "B2": BrokerState({"a"}, 10)}
    assert best_broker(["a"], "B1", cluster, 0.0) == "B1"
    assert best_broker(["a"], "B1", cluster, 0.1) == "B2"
    assert best_broker(["a"], "B1", cluster, 0.1, total=1_000_000) == "B2"


def test_the_filter_moves_three_tenths_towards_what_was_seen() -> None:
    """(8) with alpha_pub = 0.3."""
    rates = estimated_rates({"a": 10.0, "b": 4.0}, {"a": 20.0, "c": 1.0})
    assert rates == pytest.approx({"a": 13.0, "b": 2.8, "c": 0.3})


def test_the_cost_grows_with_the_brokers_that_move() -> None:
    """(7), section 5.1.2: |V| + (log² |V| + |P| log |V|) Γ."""
    assert reconfiguration_cost(64, 100, 0) == 0.0
    assert reconfiguration_cost(64, 100, 1) == 64 + 36 + 600
    assert reconfiguration_cost(64, 100, 2) == 64 + 2 * 636


def test_a_tenth_of_the_largest_cost_is_demand() -> None:
    """ "beta maxCst" with beta = 0.1: C has to be above it."""
    limit = 0.1 * reconfiguration_cost(64, 100, 64)
    assert not is_worth_computing(limit, 64, 100)
    assert is_worth_computing(limit + 1, 64, 100)
