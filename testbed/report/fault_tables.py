"""What faults cost, on the page of a run."""

from __future__ import annotations

from typing import Any

import pandas

from testbed.report.html_table import html_table
from testbed.report.run_data import RunData

LOSS_COLUMNS = {
    "fault": "fault", "started_s": "from (s)", "ended_s": "until (s)", "group": "class", "cause": "cause",
    "expected": "expected", "delivered": "delivered", "lost": "lost", "late": "late", "doubled": "doubled",
    "delivery_ratio": "ratio",
}  # fmt: skip
RECOVERY_COLUMNS = {
    "fault": "fault", "started_s": "at (s)", "expected": "expected", "lost": "lost", "late": "late",
    "overlay_s": "overlay whole after (s)", "clients_s": "clients back after (s)",
    "recovery_s": "all arrives after (s)", "on_time_s": "all on time after (s)", "recovered": "recovered",
}  # fmt: skip
FAULTS_SHOWN = 100


def expected_deliveries(frame: pandas.DataFrame | None) -> Any:
    """The row about all deliveries; None when none was expected."""
    if frame is None:
        return None
    every = frame[(frame.fault == "all") & (frame.cause == "all")]
    return next(every.itertuples(), None)


def fault_costs(run: RunData) -> str:
    """Nothing for a run that had no fault and lost nothing."""
    losses, recoveries = run.table("fault_losses"), run.table("recoveries")
    every = expected_deliveries(losses)
    if losses is None or every is None or (recoveries is None and not every.lost + every.late):
        return ""
    times = ""
    if recoveries is not None:
        title = "Recovery: what was under way until the next fault, and when everything arrived again"
        times = html_table(recoveries.head(FAULTS_SHOWN), title, RECOVERY_COLUMNS)
    title = "Deliveries expected and lost, by fault, subscriber class and cause"
    return times + html_table(losses.head(FAULTS_SHOWN), title, LOSS_COLUMNS)
