"""When to reconfigure (section 5.1): the estimate of the next period, the test, and the cost."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2

PUBLICATION_FILTER = 0.3  # alpha_pub of (8)
DEMAND = 0.1  # beta: below this share of the largest cost of a reconfiguration none is computed


def estimated_rates(
    estimated: Mapping[str, float], observed: Mapping[str, float], alpha: float = PUBLICATION_FILTER
) -> dict[str, float]:
    """(8): each topic's events of the next period from those of this one; unknown topics start at 0."""
    return {
        topic: (1 - alpha) * estimated.get(topic, 0.0) + alpha * observed.get(topic, 0.0)
        for topic in estimated.keys() | observed.keys()
    }


def reconfiguration_cost(brokers: int, topics: int, moved: int) -> float:
    """(7) in the form of section 5.1.2: |V| + (log² |V| + |P| log |V|) Γ messages; 0 when nobody moves."""
    if not moved:
        return 0.0
    logarithm = log2(brokers)
    return brokers + (logarithm**2 + topics * logarithm) * moved


def is_worth_computing(cost: float, brokers: int, topics: int, demand: float = DEMAND) -> bool:
    """The reconfigurability test: C(X) against the cost of moving everybody."""
    return cost > demand * reconfiguration_cost(brokers, topics, brokers)
