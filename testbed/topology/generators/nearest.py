"""The overlay of least latency: a minimum spanning tree over the brokers' planned round trips.

On a transit-stub network it follows the hierarchy by itself: brokers of one stub domain are linked to each
other first, and only one link leaves the domain for each part it joins.
"""

from __future__ import annotations

from collections.abc import Callable


def nearest_tree(count: int, distance: Callable[[int, int], int]) -> list[tuple[int, int]]:
    """(new, old) edges, after Prim: the nearest broker joins next; ties go to the one that comes first."""
    best = {new: (distance(new, 0), 0) for new in range(1, count)}
    edges = []
    while best:
        joining = min(best, key=lambda new: (*best[new], new))
        edges.append((joining, best.pop(joining)[1]))
        for new, (far, _) in best.items():
            here = distance(new, joining)
            if here < far:
                best[new] = (here, joining)
    return edges
