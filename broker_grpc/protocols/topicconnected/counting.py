"""Counting, for all nodes at once, in how many sets each of them is.

Sets are the bits of Python integers. The counts stand in planes: bit v of the plane for 2^k is bit k
of node v's count. Three sets are added in all their nodes together by one full adder of five
operations on whole integers, so a set more costs a handful of operations and not one per node.
"""

from __future__ import annotations

from collections.abc import Iterable


def counts(sets: Iterable[int]) -> list[int]:
    """The planes of the counts, highest power first."""
    planes = []
    weighing = list(sets)  # all of the same power of two
    while weighing:
        carries = []
        rest = iter(weighing)
        total = next(rest)
        for a in rest:
            either = total ^ a
            b = next(rest, None)
            if b is None:
                carries.append(total & a)
                total = either
            else:
                carries.append(total & a | either & b)
                total = either ^ b
        planes.append(total)
        weighing = carries
    planes.reverse()
    return planes


def most(planes: Iterable[int], among: int) -> tuple[int, int]:
    """The largest count of a node of `among`, and the nodes of `among` that have it."""
    count = 0
    for plane in planes:
        count += count
        having = among & plane
        if having:
            among = having
            count += 1
    return count, among
