"""CI, lMST and lMIT: what each proposes, and which link of the cycle it takes away.

They share broadcasts and requests (section 5). Each adds to the request's vector a number per link of the
cycle; the link with the least sum goes, unless that is the new one. Section 3.1.2 describes MST and MIT with
global knowledge; how they decide with what a broker hears is our reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from broker_grpc.protocols.selforganising.consensus import removal_costs
from broker_grpc.protocols.selforganising.evaluation import prefers_direct


class Sight(NamedTuple):
    """What a broker B_i knows when a broadcast of B_j has reached it. Paths go from B_i outwards to B_j."""

    direct: float  # c_ij, of the link that is not there
    links: Sequence[float]  # costs of the path's links
    processing: Sequence[float]  # of the path's brokers, the last is B_j
    shared: Sequence[int]  # I of B_i with each of them
    along: Sequence[int]  # I of the two ends of each link of the path; -1 = its ends do not know it yet
    phi: float


class Place(NamedTuple):
    """A broker on a cycle that a new link would close, in place `at`; see `consensus`."""

    at: int
    links: Sequence[float]
    processing: Sequence[float]
    shared: Sequence[int]
    phi: float


class Heuristic(Protocol):
    def proposes(self, sight: Sight) -> bool:
        """Shall B_i ask for a direct link to B_j?"""

    def judges(self, place: Place) -> list[float]:
        """What this broker adds to the vector: for each link of the cycle, what is left without it."""


class CostAndInterest:
    """CI: equations 5 and 8."""

    def proposes(self, sight: Sight) -> bool:
        return prefers_direct(sight.direct, sight.shared, sight.links, sight.processing, sight.phi)

    def judges(self, place: Place) -> list[float]:
        return removal_costs(*place)


class LocalMinimumSpanningTree:
    """lMST: a link in place of a dearer one of the path; the dearest of the cycle goes."""

    def proposes(self, sight: Sight) -> bool:
        return len(sight.links) > 1 and sight.direct < max(sight.links)

    def judges(self, place: Place) -> list[float]:
        return _only(place, -place.links[place.at])


class LocalMaximumInterestTree:
    """lMIT: a link between two that share more than the ends of some link of the path; the least goes."""

    def proposes(self, sight: Sight) -> bool:
        least = min(sight.along)
        return len(sight.links) > 1 and 0 <= least < sight.shared[-1]

    def judges(self, place: Place) -> list[float]:
        following = (place.at + 1) % len(place.links)
        return _only(place, float(place.shared[following]))


def _only(place: Place, value: float) -> list[float]:
    """Each broker answers for the link that leads on from it."""
    vector = [0.0] * len(place.links)
    vector[place.at] = value
    return vector
