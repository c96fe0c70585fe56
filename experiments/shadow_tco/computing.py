"""What one decision of the coordinator takes at a size that is deployed: what `charged: measured` stands on.

CPU seconds of this process, of the same churn for all three, side by side, as in `rounds.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas

from experiments.shadow_tco.rounds import play
from experiments.shadow_tco.systems import DUAL, LOW, NAIVE
from experiments.shadow_tco.workload import Setting

DECIDES = {"shadow": DUAL, "naive": NAIVE, "low-oda": LOW}


def computing(
    report: Callable[[str], None], setting: dict[str, Any], seed: int
) -> dict[str, pandas.DataFrame]:
    """A row per system and kind of round; LOW-ODA's does not hang on the kind."""
    rounds, _ = play(Setting(**setting), seed, [DUAL, NAIVE], 1, report)
    rows = []
    for system, name in DECIDES.items():
        own = rounds[(rounds.system == name) & (rounds["round"] > 0)]
        for kind, frame in own.groupby("kind"):
            rows.append(
                {
                    "system": system,
                    "kind": kind,
                    "rounds": len(frame),
                    "mean_us": 1e6 * float(frame.seconds.mean()),
                    "median_us": 1e6 * float(frame.seconds.median()),
                    "largest_us": 1e6 * float(frame.seconds.max()),
                }
            )
    return {"computing": pandas.DataFrame(rows)}
