"""The evaluation phase (section 4.1): is a direct link cheaper than the path there is?

Pure. A path is told from the broker that evaluates, B_i, outwards: `shared[k]` is I with the k-th broker of
it, `links[k]` the cost of the link that leads there, `processing[k]` that broker's own cost.
"""

from __future__ import annotations

from collections.abc import Sequence


def phi(total: int, own: int, others: int, counts_itself: bool) -> float:
    """Equation 6: notifications that B_i shares with another broker of its neighbourhood, on the average.

    `total` is the sum of I_ij over the `others`, `own` is I_i. Does the neighbourhood contain B_i, which is
    no hop away from itself? Then the sum holds I_ii = I_i as well, and phi is the mean of the others' I_ij.
    """
    if counts_itself:
        return total / others if others else 0.0
    return max(0.0, (total - own) / (others - 1)) if others > 1 else 0.0


def indirect_costs(
    shared: Sequence[int], links: Sequence[float], processing: Sequence[float], phi: float
) -> list[float]:
    """Equation 7: C_ij of each broker of the path. What B_i shares with nobody costs the whole way."""
    cost, before = links[0], shared[0]
    costs = [cost]
    for common, link, passed in zip(shared[1:], links[1:], processing, strict=False):
        cost += passed
        if common:
            all_three: float = before if before < common else common
            if phi < all_three:
                all_three = phi
            cost *= (common - all_three) / common
        cost += link
        costs.append(cost)
        before = common
    return costs


def prefers_direct(
    direct: float, shared: Sequence[int], links: Sequence[float], processing: Sequence[float], phi: float
) -> bool:
    """Equation 5, for a path of any length: B_i and the last broker share something, and c_ij < C_ij."""
    if len(links) < 2 or not shared[-1]:
        return False
    return direct < indirect_costs(shared, links, processing, phi)[-1]
