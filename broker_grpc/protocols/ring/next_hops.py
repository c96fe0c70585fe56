"""The next hop from every broker of a settled ring to every other one, and the routes from a root to all of
them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from broker_grpc.protocols.ring.converged import NOBODY, Converged
from broker_grpc.protocols.ring.identifiers import BITS

Indices = NDArray[np.int64]


def next_hops(ring: Converged) -> Indices:
    """[u, v]: by index of members in the order of ids; u itself on the diagonal. Not for Pastry."""
    count = len(ring.members)
    found: Indices = np.tile(np.arange(count), (count, 1)).T
    ids = np.array([member.id for member in ring.members], np.uint64)
    index = {member.broker: at for at, member in enumerate(ring.members)}
    rule = {"chord": _by_fingers, "tapestry": _by_digits}[ring.settings.kind]
    for at, member in enumerate(ring.members):
        entries = {
            slot: index[chosen[0].broker] for slot, chosen in ring.tables(member.broker).entries.items()
        }
        if entries:
            found[at] = rule(at, ids, entries, ring.settings.base_bits)
            found[at, at] = at
    return found


def _by_fingers(at: int, ids: NDArray[np.uint64], entries: dict[int, int], base_bits: int) -> Indices:
    """The farthest that is not past the target."""
    fingers = np.array(list(entries.values()))
    far = ids[fingers] - ids[at]  # wraps around, as it should
    order = np.argsort(far)
    place = np.searchsorted(far[order], ids - ids[at], side="right") - 1
    return np.asarray(fingers[order][np.maximum(place, 0)])


def _by_digits(at: int, ids: NDArray[np.uint64], entries: dict[int, int], base_bits: int) -> Indices:
    """The entry of the first digit in which the target differs; somebody has it, the target at least."""
    levels = 1 + (max(entries) >> base_bits)
    by_slot = np.full(levels << base_bits, NOBODY)
    by_slot[list(entries)] = list(entries.values())
    found: Indices = np.full(ids.size, NOBODY)
    for level in range(levels):
        below = np.uint64(BITS - (level + 1) * base_bits)
        mine, theirs = ids[at] >> below, ids >> below
        open_ = (found == NOBODY) & (mine != theirs)
        column = (theirs & np.uint64((1 << base_bits) - 1)).astype(np.int64)
        found[open_] = by_slot[(level << base_bits) + column[open_]]
    return found


def top_down_parents(hops: Indices, root: int) -> Indices:
    """By member: the one before it on the route from the root; NOBODY for the root itself."""
    targets = np.arange(len(hops))
    parent: Indices = np.full(len(hops), NOBODY)
    at = np.full(len(hops), root)
    while (going := at != targets).any():
        parent[going] = at[going]
        at[going] = hops[at[going], targets[going]]
    return parent
