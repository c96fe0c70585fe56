"""Two systems that share seeds: is the one below the other, seed by seed?"""

from __future__ import annotations

from collections.abc import Mapping

from testbed.reproduction.claim import Finding
from testbed.reproduction.interval import paired_difference


def below(a: Mapping[int, float], b: Mapping[int, float], confidence: float = 0.95) -> Finding:
    """seed -> value of each. Holds when the whole interval of a - b lies below zero, fails when it lies at or
    above it; an interval on both sides, or of a single seed, cannot tell."""
    found = paired_difference(a, b, confidence)
    text = f"{found.mean:+.3g} ({found.low:+.3g} to {found.high:+.3g}), {found.n} seed(s)"
    reason = f"paired, {100 * confidence:.0f} % interval"
    if found.n < 2:
        return Finding(None, text if found.n else "", "one pair of seeds has no interval")
    if found.low < 0 < found.high:
        return Finding(None, text, f"{reason} on both sides of zero")
    return Finding(found.mean < 0, text, reason)
