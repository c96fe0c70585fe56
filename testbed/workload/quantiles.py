"""Distributions given by their quantiles, as measured on the data they stand for."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from statistics import NormalDist

_NORMAL = NormalDist()


class Quantiles:
    """Piecewise linear between (probability, value) points; probabilities run from 0 to 1."""

    def __init__(self, points: Sequence[tuple[float, float]]) -> None:
        self._p = [p for p, _ in points]
        self._v = [v for _, v in points]
        if self._p[0] != 0 or self._p[-1] != 1 or self._p != sorted(self._p) or self._v != sorted(self._v):
            raise ValueError("quantiles rise from probability 0 to 1")

    def at(self, probability: float) -> float:
        i = min(bisect.bisect_right(self._p, probability), len(self._p) - 1)
        low, high = self._p[i - 1], self._p[i]
        share = (probability - low) / (high - low)
        return self._v[i - 1] + share * (self._v[i] - self._v[i - 1])


def mix(common: float, own: float, share: float) -> float:
    """A uniform number from two standard normal ones, of which `common` has this correlation with the result.

    Drawn over all values of `common`, the result is exactly uniform: so symbols may differ from each other
    while all symbols together keep the measured distribution.
    """
    return _NORMAL.cdf(share * common + (1 - share * share) ** 0.5 * own)
