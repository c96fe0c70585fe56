"""The shape of a curve: what it does from its first point to its last."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Literal

from testbed.reproduction.claim import Finding

Shape = Literal["rises", "falls", "u", "saturates"]
FLAT = 0.05  # of the largest value: a last step that small has come to its end


def shape(values: Sequence[float], kind: Shape, slack: float = 0.0, strict: bool = False) -> Finding:
    """`slack`: a step the wrong way of at most this share is passed over. `strict`: equal values do not do.

    u: falls to a point between its ends and rises from it. saturates: rises, and its last step is flat.
    """
    if kind not in ("rises", "falls", "u", "saturates"):
        raise ValueError(f"no shape {kind!r}")
    known = [float(v) for v in values]
    if len(known) < 2 or (kind in ("u", "saturates") and len(known) < 3) or any(map(math.isnan, known)):
        return Finding(None, "", "too few points for a shape")
    text = f"{100 * slack:.0f} % slack" if slack else ""
    return Finding(_has(known, kind, slack, strict), ", ".join(f"{v:.3g}" for v in known), text)


def _has(values: list[float], kind: Shape, slack: float, strict: bool) -> bool:
    if kind == "rises":
        return _rises(values, slack, strict)
    if kind == "falls":
        return _falls(values, slack, strict)
    if kind == "u":
        lowest = values.index(min(values))
        inside = 0 < lowest < len(values) - 1
        return inside and _falls(values[: lowest + 1], slack, True) and _rises(values[lowest:], slack, True)
    last_step = abs(values[-1] - values[-2])
    grown = values[-1] > values[0] and _rises(values, max(slack, FLAT), False)
    return grown and last_step <= FLAT * max(map(abs, values))


def _rises(values: list[float], slack: float, strict: bool) -> bool:
    return all(b >= a * (1 - slack) and not (strict and b == a) for a, b in itertools.pairwise(values))


def _falls(values: list[float], slack: float, strict: bool) -> bool:
    return all(b <= a * (1 + slack) and not (strict and b == a) for a, b in itertools.pairwise(values))
