"""The paper's sentences and numbers (sections 3.1.2 and 4), and the decisions against slow transcriptions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_grpc.protocols.selforganising.consensus import cheapest, removal_costs
from broker_grpc.protocols.selforganising.evaluation import indirect_costs, phi, prefers_direct
from broker_grpc.protocols.selforganising.heuristics import (
    CostAndInterest,
    LocalMaximumInterestTree,
    LocalMinimumSpanningTree,
    Place,
    Sight,
)
from broker_grpc.protocols.selforganising.neighbourhood import Neighbourhood

# Figure 2: p = 1 everywhere, c12 = 2, c13 = 5, c23 = 6 give the costs that section 3.1.2 states.
C12, C13, C23 = 2.0, 5.0, 6.0


def sight(shared: Sequence[int], along: Sequence[int] = (0, 0), phi: float = 0.0) -> Sight:
    """B2 has heard B3 by way of B1."""
    return Sight(C23, [C12, C13], [1.0, 1.0], shared, along, phi)


# ---------------------------------------------------------------- evaluation (4.1)


def test_a_direct_link_is_preferred_when_the_broker_between_is_not_interested() -> None:
    assert indirect_costs([0, 10], [C12, C13], [1, 1], phi(10, 10, 2, False)) == [2.0, 8.0]
    assert prefers_direct(C23, [0, 10], [C12, C13], [1, 1], 0.0)


@pytest.mark.parametrize("counts_itself", [True, False])
def test_the_path_stays_when_the_broker_between_shares_nine_of_ten(counts_itself: bool) -> None:
    common = phi(9 + 10, 10, 2, counts_itself)
    costs = indirect_costs([9, 10], [C12, C13], [1, 1], common)
    assert costs[-1] == pytest.approx(5.3)
    assert not prefers_direct(C23, [9, 10], [C12, C13], [1, 1], common)


def test_without_common_interest_the_evaluation_is_aborted() -> None:
    """'If B_i and B_j do not share any interest (i.e., I_ij = 0), the evaluation phase is aborted.'"""
    assert not prefers_direct(0.0, [5, 0], [C12, C13], [1, 1], 0.0)


def test_a_neighbour_needs_no_link() -> None:
    """'that is more than one hop away'"""
    assert not prefers_direct(0.0, [5], [9.0], [1.0], 0.0)


def test_phi_is_never_negative_and_nothing_without_others() -> None:
    assert phi(3, 10, 2, False) == 0.0
    assert phi(10, 3, 1, False) == 0.0
    assert phi(0, 3, 0, True) == 0.0
    assert phi(12, 100, 4, True) == 3.0


def recursion(k: int, shared: Sequence[int], links: Sequence[float], p: Sequence[float], f: float) -> float:
    """Equation 7 as it is printed."""
    if k == 0:
        return links[0]
    triple = min(f, shared[k], shared[k - 1])
    factor = (shared[k] - triple) / shared[k] if shared[k] else 1.0
    return factor * (recursion(k - 1, shared, links, p, f) + p[k - 1]) + links[k]


COSTS = st.floats(0, 10)
LINE = st.integers(1, 7).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 40), min_size=n, max_size=n),
        st.lists(COSTS, min_size=n, max_size=n),
        st.lists(COSTS, min_size=n, max_size=n),
        st.floats(0, 50),
    )
)


@given(LINE)
def test_the_loop_is_the_recursion(line: tuple[list[int], list[float], list[float], float]) -> None:
    shared, links, processing, f = line
    expected = [recursion(k, shared, links, processing, f) for k in range(len(links))]
    assert indirect_costs(shared, links, processing, f) == pytest.approx(expected)


@given(LINE)
def test_an_indirect_connection_costs_at_most_its_path(
    line: tuple[list[int], list[float], list[float], float],
) -> None:
    """Flow looks at nothing else when a direct link is dearer than the whole path."""
    shared, links, processing, f = line
    whole = links[0]
    for k in range(1, len(links)):
        whole = whole + processing[k - 1] + links[k]
    assert indirect_costs(shared, links, processing, f)[-1] <= whole


# ---------------------------------------------------------------- consensus (4.2)


def summed(interests: Sequence[Sequence[int]], phis: Sequence[float]) -> list[float]:
    """The vector when B2, B1, B3 have added theirs: links 12, 13, and the new link 23."""
    links, processing = [C12, C13, C23], [1.0, 1.0, 1.0]
    vectors = [removal_costs(at, links, processing, interests[at], phis[at]) for at in range(3)]
    return [math.fsum(column) for column in zip(*vectors, strict=True)]


def test_a_proposed_link_that_only_the_proposer_wants_is_aborted() -> None:
    """'If this is the proposed new link between B_i and B_j, B_j discards the reconfiguration.'"""
    shared = [[0, 9, 10], [9, 0, 9], [10, 9, 0]]
    costs = summed(shared, [phi(19, 10, 2, False), phi(18, 9, 2, False), phi(19, 10, 2, False)])
    assert costs == pytest.approx([309, 228, 205])
    assert cheapest(costs) == 2


def test_the_new_link_stays_when_the_broker_between_is_not_interested() -> None:
    shared = [[0, 0, 10], [0, 0, 0], [10, 0, 0]]
    costs = summed(shared, [0.0, 0.0, 0.0])
    assert costs == pytest.approx([120, 120, 160])
    assert cheapest(costs) == 0  # a tie: the first from the proposer


def test_nothing_is_exchanged_when_all_costs_are_equal() -> None:
    assert cheapest([4.0, 4.0, 4.0]) == 2


def on_the_line(at: int, gone: int, place: Place) -> float:
    """Equation 8 by walking the cycle without one link, link by link."""
    n, total = len(place.links), 0.0
    for step in (1, -1):
        shared: list[int] = []
        links: list[float] = []
        processing: list[float] = []
        here = at
        while (crossed := here if step == 1 else (here - 1) % n) != gone and len(links) < n:
            here = (here + step) % n
            shared.append(place.shared[here])
            links.append(place.links[crossed])
            processing.append(place.processing[here])
            k = len(links) - 1
            total += shared[k] * recursion(k, shared, links, processing, place.phi)
    return total


@given(LINE.filter(lambda line: len(line[1]) > 2), st.integers(0, 6))
def test_every_link_is_priced_as_if_it_were_gone(
    line: tuple[list[int], list[float], list[float], float], where: int
) -> None:
    shared, links, processing, f = line
    at = where % len(links)
    place = Place(at, links, processing, shared, f)
    expected = [on_the_line(at, gone, place) for gone in range(len(links))]
    assert removal_costs(*place) == pytest.approx(expected)


# ---------------------------------------------------------------- the rivals (3.1.2)


def test_lmst_prefers_cheap_links() -> None:
    heuristic = LocalMinimumSpanningTree()
    assert not heuristic.proposes(sight([0, 10]))  # 23 is the dearest, whatever is shared
    assert heuristic.proposes(sight([0, 0])._replace(direct=4.9))
    vectors = [heuristic.judges(Place(at, [C12, C13, 4.9], [1, 1, 1], [0, 0, 0], 0.0)) for at in range(3)]
    assert cheapest([sum(column) for column in zip(*vectors, strict=True)]) == 1


def test_lmit_connects_brokers_with_similar_interests_whatever_it_costs() -> None:
    """Figure 2 (b): B2 and B3 share 10 notifications, of which B1 shares 9."""
    heuristic = LocalMaximumInterestTree()
    assert heuristic.proposes(sight([9, 10], along=[9, 9])._replace(direct=1000.0))
    assert not heuristic.proposes(sight([9, 10], along=[10, 10]))
    assert not heuristic.proposes(sight([9, 10], along=[-1, 9])), "what nobody knows decides nothing"
    shared = [[0, 9, 10], [9, 0, 8], [10, 8, 0]]
    vectors = [heuristic.judges(Place(at, [C12, C13, C23], [1, 1, 1], shared[at], 0.0)) for at in range(3)]
    assert cheapest([sum(column) for column in zip(*vectors, strict=True)]) == 1


def test_ci_takes_both_into_account() -> None:
    assert CostAndInterest().proposes(sight([0, 10]))
    assert not CostAndInterest().proposes(sight([9, 10], phi=9.0))


# ---------------------------------------------------------------- the neighbourhood (4.3.1)


def test_stale_information_is_removed_at_the_second_chance() -> None:
    known: Neighbourhood[str] = Neighbourhood()
    known.heard("B2", 5)
    known.heard("B3", 7)
    assert known.age() == []  # the first chance
    known.heard("B3", 1)
    assert known.age() == ["B2"]
    assert known.shared_with(["B3"]) == [1]
    assert known.shared_with(["B2"]) is None
    assert known.phi == 1.0


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), st.booleans())))
def test_phi_is_that_of_the_brokers_that_are_known(steps: list[tuple[int, int, bool]]) -> None:
    known: Neighbourhood[int] = Neighbourhood()
    for broker, shared, over in steps:
        known.heard(broker, shared)
        if over:
            known.age()
    kept = [known.shared_with([broker]) for broker in range(6)]
    values = [value[0] for value in kept if value is not None]
    assert known.phi == pytest.approx(sum(values) / len(values) if values else 0.0)
