"""Section 5: notification cost, swaps and the two greedy algorithms, against a transcription of the paper."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from broker_grpc.protocols.dynatops.greedy import NotificationCost, dynatops_greedy, moved, ssbr_greedy
from broker_grpc.protocols.dynatops.planning import reconfiguration_cost
from broker_grpc.protocols.dynatops.routes import NOWHERE, Routes
from broker_grpc.protocols.dynatops.situation import Situation
from tests.dynatops import transcription


def random_routes(random: np.random.Generator, trees: int, positions: int) -> Routes:
    """Recursive trees, each with positions in an order of its own."""
    parent = np.full((trees, positions), NOWHERE)
    for row in parent:
        order = random.permutation(positions)
        for place in range(1, positions):
            row[order[place]] = order[random.integers(place)]
    return Routes(parent)


def random_situation(
    seed: int,
    brokers: int = 7,
    topics: int = 5,
    *,
    delays: bool = False,
    weight: float = 1.0,
    count_root: bool = False,
) -> Situation:
    """Whole numbers only, so that sums are equal to the last bit."""
    random = np.random.default_rng(seed)
    trees = int(random.integers(1, topics + 1))
    links = random.integers(1, 9, (brokers, brokers)).astype(float)
    links = np.triu(links, 1) + np.triu(links, 1).T
    return Situation(
        routes=random_routes(random, trees, brokers),
        tree=random.integers(trees, size=topics).astype(np.int16),
        subscribed=random.random((brokers, topics)) < random.uniform(0.1, 0.9),
        events=random.integers(0, 6, topics).astype(float),
        delay_weight=weight,
        link_delay=links if delays else None,
        count_root=count_root,
    )


SEEDS = st.integers(0, 2**32 - 1)
VARIANTS = {"delays": st.booleans(), "count_root": st.booleans(), "weight": st.sampled_from([0.0, 1.0, 2.0])}


@given(seed=SEEDS, brokers=st.integers(1, 9), topics=st.integers(1, 8), **VARIANTS)
@settings(max_examples=150, deadline=None)
def test_the_cost_is_the_papers(
    seed: int, brokers: int, topics: int, delays: bool, count_root: bool, weight: float
) -> None:
    """Equations 3 to 5, and 12: the brokers' costs add up to C."""
    situation = random_situation(seed, brokers, topics, delays=delays, weight=weight, count_root=count_root)
    position = np.random.default_rng(seed + 1).permutation(brokers)
    ours = NotificationCost(situation, position.astype(np.int16))
    judged = transcription.judge(situation, position.tolist())
    assert ours.relays.total() == judged.relays
    assert ours.total() == judged.cost == sum(judged.by_broker)
    assert ours.by_position()[position].tolist() == judged.by_broker


@given(seed=SEEDS, brokers=st.integers(2, 9), topics=st.integers(1, 8), **VARIANTS)
@settings(max_examples=150, deadline=None)
def test_all_swaps_of_a_broker_are_judged_at_once(
    seed: int, brokers: int, topics: int, delays: bool, count_root: bool, weight: float
) -> None:
    situation = random_situation(seed, brokers, topics, delays=delays, weight=weight, count_root=count_root)
    random = np.random.default_rng(seed + 1)
    state = NotificationCost(situation, random.permutation(brokers).astype(np.int16))
    for _ in range(4):  # also after swaps, when the counts have been kept and not made
        v, w = random.choice(brokers, 2, replace=False).tolist()
        broker, before = state.seats.broker, state.seats.position.tolist()
        changes = [
            transcription.judge(situation, transcription.swapped(before, int(broker[v]), int(other))).cost
            - transcription.judge(situation, before).cost
            for other in broker
        ]
        assert state.change(v).tolist() == changes
        state.swap(v, w)
        assert state.total() == transcription.judge(situation, state.seats.position.tolist()).cost


@given(seed=SEEDS, brokers=st.integers(1, 10), topics=st.integers(1, 8), **VARIANTS)
@settings(max_examples=80, deadline=None)
def test_the_path_of_ssbr_greedy_is_that_of_algorithm_3(
    seed: int, brokers: int, topics: int, delays: bool, count_root: bool, weight: float
) -> None:
    situation = random_situation(seed, brokers, topics, delays=delays, weight=weight, count_root=count_root)
    position = np.random.default_rng(seed + 1).permutation(brokers)
    ours = list(ssbr_greedy(situation, position.astype(np.int16)))
    theirs = transcription.ssbr_greedy(situation, position.tolist())
    assert [(one.position.tolist(), one.cost) for one in ours] == theirs


@given(seed=SEEDS, brokers=st.integers(2, 10), topics=st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_dynatops_greedy_takes_the_best_after_its_cost(seed: int, brokers: int, topics: int) -> None:
    """Algorithm 4, step two."""
    situation = random_situation(seed, brokers, topics)
    position = np.random.default_rng(seed + 1).permutation(brokers).astype(np.int16)
    chosen, gain = dynatops_greedy(situation, position)
    path = transcription.ssbr_greedy(situation, position.tolist())
    gains = [
        path[0][1] - cost - reconfiguration_cost(brokers, topics, moved(position, np.array(one)))
        for one, cost in path
    ]
    assert gain == max(*gains, 0.0)
    assert gain > 0 or chosen.position.tolist() == position.tolist(), "nothing moves for nothing"


@given(seed=SEEDS)
@settings(max_examples=30, deadline=None)
def test_the_next_worst_is_never_worse(seed: int) -> None:
    """The reading goes on where algorithm 3 stops."""
    situation = random_situation(seed, 9, 6)
    position = np.arange(9, dtype=np.int16)
    stopped = list(ssbr_greedy(situation, position))
    further = list(ssbr_greedy(situation, position, "next_worst"))
    assert [one.cost for one in further[: len(stopped)]] == [one.cost for one in stopped]
    assert further[-1].cost <= stopped[-1].cost


@given(seed=SEEDS, brokers=st.integers(2, 8))
@settings(max_examples=40, deadline=None)
def test_with_delays_alone_it_is_never_below_the_optimum(seed: int, brokers: int) -> None:
    """Section 5.1.1: w_d = infinite and hops as delays is a linear assignment with an exact solution."""
    situation = random_situation(seed, brokers, 5)
    weight = situation.subscribed * situation.events
    costs = weight @ situation.routes.depth[situation.tree]
    rows, columns = linear_sum_assignment(costs)
    state = NotificationCost(situation, columns.astype(np.int16))
    assert state.delays.cost().sum() == costs[rows, columns].sum()
    for one in ssbr_greedy(situation, np.arange(brokers, dtype=np.int16), "next_worst"):
        assert NotificationCost(situation, one.position).delays.cost().sum() >= costs[rows, columns].sum()


# ---------------------------------------------------------------- figure 2


def chord_routes(positions: int, roots: list[int]) -> Routes:
    """Ids 0 to n - 1, n a power of two; the farthest finger not past the target, or the target itself."""
    parent = np.full((len(roots), positions), NOWHERE)
    for row, root in zip(parent, roots, strict=True):
        for target in set(range(positions)) - {root}:
            at = root
            while at != target:
                step = 1 << (((target - at) % positions).bit_length() - 1)
                at, before = (at + step) % positions, at
            row[target] = before
    return Routes(parent)


def figure_2(first_topic: set[int], weight: float) -> Situation:
    likes = np.array([[v in first_topic, v not in first_topic] for v in range(8)])
    return Situation(chord_routes(8, [1, 4]), np.array([0, 1], np.int16), likes, np.ones(2), weight)


def relays_and_hops(situation: Situation, position: np.ndarray, topic: int) -> tuple[float, int]:
    """Of the tree of one topic."""
    alone = Situation(
        situation.routes,
        situation.tree[[topic]],
        situation.subscribed[:, [topic]],
        np.ones(1),
        situation.delay_weight,
    )
    depth = situation.routes.depth[topic]
    members = position[situation.subscribed[:, topic]]
    return NotificationCost(alone, position).relays.total(), int(depth[members].max())


@pytest.mark.parametrize("first_topic", [{0, 1, 2, 4}, {0, 1, 4, 6}, {0, 2, 4, 6}])
def test_figure_2(first_topic: set[int]) -> None:
    """Before: 3 unrelated relays, at most 3 hops for t1; after: none and 1 hop. That needs w_d > 0."""
    situation = figure_2(first_topic, 1.0)
    start = np.arange(8, dtype=np.int16)
    assert relays_and_hops(situation, start, 0) == (3, 3)
    path = list(ssbr_greedy(situation, start))
    assert relays_and_hops(situation, path[-1].position, 0) == (0, 1)
    assert relays_and_hops(situation, path[-1].position, 1) == (0, 2)
    assert len(path) - 1 in (2, 3), "swaps"
    unweighted = list(ssbr_greedy(figure_2(first_topic, 0.0), start))
    assert relays_and_hops(situation, unweighted[-1].position, 0) == (0, 2)


# ---------------------------------------------------------------- bad cases


def test_one_broker_has_nobody_to_change_places_with() -> None:
    situation = random_situation(1, 1, 3)
    (only,) = ssbr_greedy(situation, np.zeros(1, np.int16))
    assert only.cost == 0.0


def test_what_is_no_tree_and_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="no tree"):
        Routes([[1, 0, NOWHERE]])
    with pytest.raises(ValueError, match="no tree"):
        Routes([[NOWHERE, NOWHERE]])
    routes = Routes([[NOWHERE, 0]])
    with pytest.raises(ValueError, match="3 brokers on 2 positions"):
        Situation(routes, np.zeros(1, np.int16), np.ones((3, 1), bool), np.ones(1))
    with pytest.raises(ValueError, match="1 topics"):
        Situation(routes, np.zeros(2, np.int16), np.ones((2, 1), bool), np.ones(1))
    situation = Situation(routes, np.zeros(1, np.int16), np.ones((2, 1), bool), np.ones(1))
    with pytest.raises(ValueError, match="one broker"):
        NotificationCost(situation, np.array([1, 1], np.int16))
