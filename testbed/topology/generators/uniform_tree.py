"""A tree drawn evenly among all trees on n named nodes: by its Pruefer code, n - 2 free draws.

The tree of `random` grows node by node and so has short ways; under this law a path is about sqrt(n) long.
"""

from __future__ import annotations

import heapq

from testbed.topology.seeding import Draw


def uniform_tree(n: int, draw: Draw) -> list[tuple[int, int]]:
    """Edges (larger, smaller)."""
    return tree_of_code([draw.below(n) for _ in range(n - 2)], n)


def tree_of_code(code: list[int], n: int) -> list[tuple[int, int]]:
    """The one tree with this Pruefer code: again and again the least leaf hangs on its next node."""
    if n < 2:
        return []
    degree = [1] * n
    for node in code:
        degree[node] += 1
    leaves = [node for node in range(n) if degree[node] == 1]
    heapq.heapify(leaves)
    edges = []
    for node in code:
        edges.append((heapq.heappop(leaves), node))
        degree[node] -= 1
        if degree[node] == 1:
            heapq.heappush(leaves, node)
    edges.append((heapq.heappop(leaves), heapq.heappop(leaves)))
    return [(max(edge), min(edge)) for edge in edges]
