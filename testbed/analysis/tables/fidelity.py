"""Fidelity: measured round trips against the plan, for the whole run."""

from __future__ import annotations

import pandas as pd

COLUMNS = {
    "source": "probing host, or all",
    "target": "probed host, or all",
    "probes": "round trips tried, also during faults of the network, which the verdict leaves out",
    "lost": "without answer",
    "planned_us": "round trip by the plan, us (mean over all in the row `all`)",
    "measured_p50_us": "median measured round trip, us",
    "error_p50_us": "median of |measured - planned|, us",
    "error_p95_us": "95th percentile, us",
    "error_p99_us": "99th percentile, us",
    "error_max_us": "largest, us",
}


def fidelity(probes: pd.DataFrame) -> pd.DataFrame:
    """`probes`: ProbeResult rows. One row per pair of hosts, and one for all; percentiles are exact."""
    probes = probes.astype({"measured_us": "float64", "planned_us": "float64"})  # none: no types either
    answered = probes["measured_us"] >= 0
    error = (probes["measured_us"] - probes["planned_us"]).abs().where(answered)
    each = probes.assign(error=error, lost=~answered, measured=probes["measured_us"].where(answered))
    both = pd.concat([each, each.assign(source="all", target="all")], ignore_index=True)
    groups = both.groupby(["run", "source", "target"])
    quantile = groups["error"].quantile
    made = {
        "probes": groups.size(),
        "lost": groups["lost"].sum(),
        "planned_us": groups["planned_us"].mean(),
        "measured_p50_us": groups["measured"].median(),
        "error_p50_us": quantile(0.5),
        "error_p95_us": quantile(0.95),
        "error_p99_us": quantile(0.99),
        "error_max_us": groups["error"].max(),
    }
    out = pd.DataFrame(made).reset_index().astype({"probes": "int64", "lost": "int64"})
    return out[["run", *COLUMNS]]
