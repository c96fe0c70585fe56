"""Topic popularity laws and interests."""

from __future__ import annotations

from collections import Counter

import pytest

from testbed.errors import InputError
from testbed.topology.seeding import Draw
from testbed.workload.topics import Popularity, interests, weights

DRAWS = 40_000


def shares(law: str, topics: int, **parameters: float) -> list[float]:
    popularity, draw = Popularity(weights(law, topics, **parameters)), Draw(1, law)
    seen = Counter(popularity.draw(draw) for _ in range(DRAWS))
    assert set(seen) <= set(range(topics))
    return [seen[topic] / DRAWS for topic in range(topics)]


def test_uniform() -> None:
    assert all(share == pytest.approx(0.05, abs=0.006) for share in shares("uniform", 20))


def test_zipf_falls_with_the_power_of_the_rank() -> None:
    found = shares("zipf", 100, exponent=1.0)
    assert found[0] == pytest.approx(1 / 5.187, rel=0.05)  # the 100th harmonic number
    assert found[0] / found[9] == pytest.approx(10, rel=0.2)
    steeper = shares("zipf", 100, exponent=2.0)
    assert steeper[0] / steeper[3] == pytest.approx(16, rel=0.2)


def test_exponential_falls_by_a_constant_factor() -> None:
    found = shares("exponential", 10, rate=5.0)
    assert found[0] / found[2] == pytest.approx(2.718, rel=0.1)
    assert found[2] / found[4] == pytest.approx(2.718, rel=0.15)


@pytest.mark.parametrize("modes", [2, 3, 5])
def test_multimodal_has_so_many_hills(modes: int) -> None:
    law = weights("multimodal", 101, modes=modes, width=0.03)
    peaks = [n for n in range(1, 100) if law[n - 1] < law[n] >= law[n + 1]]
    assert len(peaks) == modes
    assert min(law[peak] for peak in peaks) > 0.9
    assert min(law) < 0.5


def test_interests_are_distinct_sorted_and_popular_topics_have_more() -> None:
    law = weights("zipf", 50, exponent=1.0)
    chosen = interests(500, 5, law, Draw(3, "interests"))
    assert all(len(set(topics)) == 5 and topics == sorted(topics) for topics in chosen)
    seen = Counter(topic for topics in chosen for topic in topics)
    assert seen[0] > 3 * seen[20] > 0


def test_unknown_laws_and_parameters_are_named() -> None:
    with pytest.raises(InputError, match="zipff") as caught:
        weights("zipff", 3)
    assert "zipf" in str(caught.value.hint)
    with pytest.raises(InputError, match="exponant"):
        weights("zipf", 3, exponant=1)
    with pytest.raises(InputError, match="at least one"):
        weights("uniform", 0)
    with pytest.raises(InputError, match="5 of 3"):
        interests(1, 5, [1, 1, 1], Draw(1))
