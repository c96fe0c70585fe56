"""The messages of one exchange of links, as `contentbased.exchange` sends them when nothing goes wrong."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

Hops = list[tuple[int, int]]  # (from, to)


def exchange_hops(cycle: Sequence[int], removed: int) -> Hops:
    """`cycle` as in `consensus`, and the place of the link that goes. Its last broker orders the exchange."""
    path = list(cycle[::-1])
    cut = len(path) - 2 - removed  # the link from path[cut] to path[cut + 1] goes
    chain = path[cut::-1] + path[:cut:-1]
    along, across = list(pairwise(path)), list(pairwise(chain))
    prepared = [*along, *_back(along)]  # Prepare, Ready
    told = [*across, *_back(across), *across]  # Routes, three times
    flipped = [*across, *along, *_back(along[: cut + 1])]  # Flip, Drained there and back
    done = [*across, *_back(across), along[cut], along[cut][::-1]]
    return [*prepared, *told, *flipped, *done]


def _back(hops: Hops) -> Hops:
    return [(b, a) for a, b in reversed(hops)]
