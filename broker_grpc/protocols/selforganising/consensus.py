"""The consensus phase (section 4.2): which link of the cycle goes?

Pure. A cycle R begins with the broker that proposes the new link and ends with the one it proposes it to:
`links[k]` joins the k-th broker and the next one, the last of them is the new link.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from broker_grpc.protocols.selforganising.evaluation import indirect_costs


def removal_costs(
    at: int, links: Sequence[float], processing: Sequence[float], shared: Sequence[int], phi: float
) -> list[float]:
    """Equation 8 for the broker in place `at`: for each link e of R, the sum of I_ij C_ij on R without e.

    `shared[k]` is its I with the k-th broker. Both ways around the cycle are priced once: without the k-th
    link, brokers up to it are reached one way, those behind it the other.
    """
    n = len(links)
    onward = [(at + k) % n for k in range(1, n)]
    back = [(at - k) % n for k in range(1, n)]
    far = _priced(onward, [(k - 1) % n for k in onward], links, processing, shared, phi)
    near = _priced(back, back, links, processing, shared, phi)
    reached = ((e - at) % n for e in range(n))
    return [far[one] + near[n - 1 - one] for one in reached]


def _priced(
    brokers: Sequence[int], crossed: Sequence[int], links: Sequence[float], processing: Sequence[float],
    shared: Sequence[int], phi: float,
) -> list[float]:  # fmt: skip
    """Sums of I_ij C_ij over the first 0, 1, 2, ... brokers of one way around."""
    common = [shared[k] for k in brokers]
    costs = indirect_costs(common, [links[k] for k in crossed], [processing[k] for k in brokers], phi)
    return list(accumulate((i * c for i, c in zip(common, costs, strict=True)), initial=0.0))


def cheapest(costs: Sequence[float]) -> int:
    """Equation 10: the link to remove. The new link, the last one, when nothing is cheaper than without it
    (then nothing is exchanged); else, of equal ones, the first from the proposer."""
    least = min(costs)
    return len(costs) - 1 if costs[-1] == least else list(costs).index(least)
