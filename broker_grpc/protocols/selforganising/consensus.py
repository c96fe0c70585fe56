"""The consensus phase (section 4.2): which link of the cycle goes?

Pure. A cycle R begins with the broker that proposes the new link and ends with the one it proposes it to:
`links[k]` joins the k-th broker and the next one, the last of them is the new link.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import mul

from broker_grpc.protocols.selforganising.evaluation import indirect_costs


def removal_costs(
    at: int, links: Sequence[float], processing: Sequence[float], shared: Sequence[int], phi: float
) -> list[float]:
    """Equation 8 for the broker in place `at`: for each link e of R, the sum of I_ij C_ij on R without e.

    `shared[k]` is its I with the k-th broker. Both ways around the cycle are priced once: without the k-th
    link, brokers up to it are reached one way, those behind it the other.
    """
    own_first = [[*column[at:], *column[:at]] for column in (links, processing, shared)]
    links, processing, shared = own_first
    far = _priced(shared[1:], links, processing[1:], phi)
    near = _priced(shared[:0:-1], links[::-1], processing[:0:-1], phi)
    sums = [one + other for one, other in zip(far, reversed(near), strict=True)]
    return [*sums[len(sums) - at :], *sums[: len(sums) - at]]


def _priced(
    shared: Sequence[int], links: Sequence[float], processing: Sequence[float], phi: float
) -> list[float]:
    """Sums of I_ij C_ij over the first 0, 1, 2, ... brokers of one way around."""
    return list(accumulate(map(mul, shared, indirect_costs(shared, links, processing, phi)), initial=0.0))


def cheapest(costs: Sequence[float]) -> int:
    """Equation 10: the link to remove. The new link, the last one, when nothing is cheaper than without it
    (then nothing is exchanged); else, of equal ones, the first from the proposer."""
    least = min(costs)
    return len(costs) - 1 if costs[-1] == least else list(costs).index(least)
