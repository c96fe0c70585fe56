"""The routes from each rendezvous point to every position of the overlay.

With settled routing tables the routes from one root form a tree, whoever subscribes. So every topic's tree is
a part of its root's, and parents, depths and ancestors are computed once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int16]
NOWHERE = -1  # the parent of a root; an ancestor below a node's depth


class Routes:
    """`parent[k, v]`: the position before v on the route from the k-th root; `NOWHERE` for the root itself.

    `depth[k, v]`: hops from the root. `ancestor[k, v, d]`: the position at depth d on that route, v itself
    last. Raises ValueError when parents form no tree.
    """

    def __init__(self, parent: npt.ArrayLike) -> None:
        self.parent: Indices = np.asarray(parent, dtype=np.int16)
        positions = self.parent.shape[1]
        if positions > np.iinfo(np.int16).max:
            raise ValueError(f"{positions} positions; at most {np.iinfo(np.int16).max}")
        self.depth = _depths(self.parent)
        self.root: Indices = np.argmin(self.depth, axis=1).astype(np.int16)
        self.ancestor = _ancestors(self.parent, self.depth)

    @property
    def positions(self) -> int:
        return int(self.parent.shape[1])


def _depths(parent: Indices) -> npt.NDArray[np.int8]:
    trees, positions = parent.shape
    depth = np.zeros(parent.shape, dtype=np.int16)
    above, rows = parent.copy(), np.arange(trees)[:, None]
    for _ in range(positions):
        going = above != NOWHERE
        if not going.any():
            break
        depth += going
        above = np.where(going, parent[rows, above], NOWHERE).astype(np.int16)
    if (above != NOWHERE).any() or not ((parent == NOWHERE).sum(axis=1) == 1).all():
        raise ValueError("the parents form no tree")
    if depth.max(initial=0) > np.iinfo(np.int8).max:
        raise ValueError("a route of more than 127 hops")
    return depth.astype(np.int8)


def _ancestors(parent: Indices, depth: npt.NDArray[np.int8]) -> Indices:
    trees, positions = parent.shape
    found = np.full((trees, positions, int(depth.max(initial=0)) + 1), NOWHERE, dtype=np.int16)
    rows, columns = np.arange(trees)[:, None], np.arange(positions)
    at = np.broadcast_to(columns.astype(np.int16), parent.shape).copy()
    level = depth.astype(np.intp)
    while (here := level >= 0).any():
        tree, node = np.nonzero(here)
        found[tree, node, level[here]] = at[here]
        at = np.where(here, parent[rows, at], at).astype(np.int16)
        level -= 1
    return found
