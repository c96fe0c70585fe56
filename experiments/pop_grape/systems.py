"""The systems that are compared: how each is said in a topology file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Algorithm = dict[str, Any]

BASELINE = "baseline"
POP = "POP"
LOAD100 = "load100"
DELAY100 = "delay100"
DELAY1 = "delay1"

SYSTEMS: dict[str, Algorithm] = {
    BASELINE: {},
    POP: {"name": "pop"},
    LOAD100: {"name": "grape", "prioritise": "load", "weight": 100},
    DELAY100: {"name": "grape", "prioritise": "delay", "weight": 100},
}
WEIGHTS = (1, 25, 50, 75, 100)
WEIGHTED: dict[str, Algorithm] = {
    f"{metric}{weight}": {"name": "grape", "prioritise": metric, "weight": weight}
    for metric in ("load", "delay")
    for weight in WEIGHTS
}
# 5.2 names 10 and 100 only. The metric that was minimised in figures 6d to 6g is not given: both are run.
GRAPE_THRESHOLDS = (10, 50, 100, 200)
POP_THRESHOLDS = (20, 100, 200)


def grape_threshold(metric: str, threshold: int) -> str:
    """The label of one threshold; the default one is the plain system."""
    return f"{metric}100" if threshold == 100 else f"{metric}100-T{threshold}"


def pop_threshold(threshold: int) -> str:
    return POP if threshold == 100 else f"POP-T{threshold}"


THRESHOLDS: dict[str, Algorithm] = {
    **{
        grape_threshold(metric, n): {**WEIGHTED[f"{metric}100"], "threshold": n}
        for metric in ("load", "delay")
        for n in GRAPE_THRESHOLDS
        if n != 100
    },
    # 5.2: N is half of P_threshold; that is the default for 100.
    **{
        pop_threshold(n): {"name": "pop", "threshold": n, "traced_per_window": n // 2}
        for n in POP_THRESHOLDS
        if n != 100
    },
}
ALL_SYSTEMS: Mapping[str, Algorithm] = {**SYSTEMS, **WEIGHTED, **THRESHOLDS}
