"""What faults cost, on the terminal: one line about all deliveries, one row per fault."""

from __future__ import annotations

import pandas as pd
from rich.table import Table

from testbed.analysis.evidence.runs import Run
from testbed.analysis.result import Analysis

MOST_FAULTS = 12


def losses_line(analysis: Analysis, run: Run) -> str:
    """How many of the expected deliveries came, and why others did not."""
    frame = analysis.frame("fault_losses", run.key)
    every = frame[(frame["fault"] == "all") & (frame["cause"] == "all")].to_dict("records")
    if not every:
        return "No delivery was expected."
    row = every[0]
    text = f"Delivered {row['delivered']:,} of {row['expected']:,} expected ({row['delivery_ratio']:.2%})"
    return text + "".join(
        f"; {row[what]:,} {what}{_causes(frame, what)}" for what in ("lost", "late") if row[what]
    )


def _causes(frame: pd.DataFrame, what: str) -> str:
    own = frame[(frame["group"] == "all") & (frame["cause"] != "all")]
    sums = own.groupby("cause")[what].sum().sort_values(ascending=False, kind="stable")
    named = ", ".join(f"{cause} {number:,}" for cause, number in sums.items() if number)
    return f" ({named})" if named else ""


def faults_table(analysis: Analysis, run: Run) -> Table | None:
    """None when the run had no fault."""
    faults = analysis.frame("recoveries", run.key)
    if not len(faults):
        return None
    title = "Faults: what was under way until the next one, and seconds until all was well again"
    table = Table(
        title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 1, 0, 0)
    )
    for name in (
        "at (s)",
        "fault",
        "expected",
        "lost",
        "late",
        "overlay",
        "clients",
        "all arrives",
        "on time",
    ):
        table.add_column(name, justify="left" if name == "fault" else "right", no_wrap=True)
    worst = faults.assign(harm=faults["lost"] + faults["late"]).nlargest(MOST_FAULTS, "harm", keep="first")
    for row in worst.sort_values("started_s", kind="stable").to_dict("records"):
        counts = [f"{row[name]:,}" for name in ("expected", "lost", "late")]
        times = [_seconds(row[f"{name}_s"]) for name in ("overlay", "clients", "recovery", "on_time")]
        table.add_row(f"{row['started_s']:.1f}", row["fault"], *counts, *times)
    if len(faults) > MOST_FAULTS:
        table.caption = f"{len(faults) - MOST_FAULTS} more faults in tables/recoveries.csv"
        table.caption_justify = "left"
    return table


def _seconds(value: float | None) -> str:
    return "-" if value is None or pd.isna(value) else f"{value:.3f}"
