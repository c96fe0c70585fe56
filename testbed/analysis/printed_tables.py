"""The first three tables on the terminal, what faults cost, the fidelity line and the verdicts."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table

from testbed.analysis.evidence.runs import Run
from testbed.analysis.printed_faults import faults_table, losses_line
from testbed.analysis.result import Analysis
from testbed.run.fidelity import told

GROUPS = ("all", "class", "publisher", "broker")  # of the delay table; windows are for figures
MOST_ROWS = 12
COLOURS = {"pass": "green", "fail": "bold red", "unknown": "yellow"}


def show(analysis: Analysis, console: Console) -> None:
    for run in analysis.runs:
        console.print(f"\n[bold]{run.provenance['name']}[/bold] {_provenance(run)}", highlight=False)
        console.print(delay_table(analysis, run))
        console.print(budget_line(analysis, run), highlight=False)
        console.print(losses_line(analysis, run), highlight=False)
        if (faults := faults_table(analysis, run)) is not None:
            console.print()
            console.print(faults)
        console.print()
        console.print(hops_table(analysis, run))
        console.print()
        console.print(overhead_table(analysis, run))
        console.print()
        console.print(fidelity_line(run), markup=False, highlight=False)
        show_verdicts(analysis, run, console)


def _provenance(run: Run) -> str:
    about = run.provenance
    return f"run {about['run']}, engine {about['engine']}, clock {about['clock']}, seed {about['seed']}"


def delay_table(analysis: Analysis, run: Run) -> Table:
    frame = analysis.frame("delay", run.key)
    table = _table("Delay per delivery (ms)", ["", "count", "mean", "p50", "p95", "p99", "max", "stretch"])
    shown = frame[frame["group_by"].isin(GROUPS)].copy()
    shown["order"] = shown["group_by"].map(GROUPS.index)
    shown = shown.sort_values(["order", "group"], kind="stable")
    # Of delays beyond a second fewer decimals: all must fit on a terminal.
    digits = 1 if len(shown) and shown["max_us"].max() >= 1_000_000 else 3
    for row in shown.head(MOST_ROWS).to_dict("records"):
        label = "all" if row["group_by"] == "all" else f"{row['group_by']} {row['group'] or '-'}"
        times = [_ms(row[f"{name}_us"], digits) for name in ("mean", "p50", "p95", "p99", "max")]
        table.add_row(label, f"{row['count']:,}", *times, _number(row["stretch_mean"], 2))
    return _more(table, len(shown))


def budget_line(analysis: Analysis, run: Run) -> str:
    """Where the time of an average delivery went."""
    frame = analysis.frame("delay", run.key)
    rows = frame[frame["group_by"] == "all"].to_dict("records")
    if not rows:
        return "No delivery was logged."
    parts = [
        f"{name} {_ms(rows[0][f'{name}_us'])}" for name in ("propagation", "processing", "queueing", "rest")
    ]
    return f"Mean delay {_ms(rows[0]['mean_us'])} ms = " + " + ".join(parts)


def hops_table(analysis: Analysis, run: Run) -> Table:
    frame = analysis.frame("hops", run.key)
    table = _table("Hops", ["", "of", "mean", "p50", "p95", "max"])
    names = {"overlay": "overlay links per delivery", "network": "network links per delivery"}
    names["relays"] = "unrelated relays per publication"
    names |= {"relays_to_root": "  on the way to the root", "relays_in_tree": "  in the tree"}
    for measure, name in names.items():
        for row in frame[frame["measure"] == measure].to_dict("records"):
            digits = {"mean": 2, "p50": 1, "p95": 1, "max": 0}
            table.add_row(name, f"{row['count']:,}", *[_number(row[key], n) for key, n in digits.items()])
    return table


def overhead_table(analysis: Analysis, run: Run) -> Table:
    frame = analysis.frame("overhead", run.key)
    frame = frame[~((frame["class"] == "data") & (frame["type"] == "all"))]
    title = "Messages and bytes sent by brokers: logged, on the wire, and per delivered notification"
    table = _table(title, ["link", "type", "logged", "wire", "differ", "bytes", "wire", "each", "bytes"])
    for row in frame.to_dict("records"):
        name = (
            type_name(row)
            if row["type"] != "all"
            else "all"
            if row["class"] == "all"
            else f"all {row['class']}"
        )
        counts = [
            _count(row[c]) for c in ("log_messages", "wire_messages", "difference", "log_bytes", "wire_bytes")
        ]
        each = [_number(row["messages_per_delivery"], 2), _number(row["bytes_per_delivery"], 1)]
        table.add_row(row["link"], name, *counts, *each, style="bold" if name == "all" else None)
    return table


def type_name(row: dict[Hashable, Any]) -> str:
    return f"{row['type']} to root" if row["purpose"] == "data_to_root" else str(row["type"])


def fidelity_line(run: Run) -> str:
    """As `testbed deploy` and the page say it."""
    if run.broken_fidelity:
        return "fidelity unknown: fidelity.json cannot be read"
    return told(run.fidelity) if run.fidelity is not None else "fidelity unknown: no fidelity.json"


def show_verdicts(analysis: Analysis, run: Run, console: Console) -> None:
    verdicts = analysis.verdicts[run.key]
    passed = [v for v in verdicts if v.verdict == "pass"]
    console.print(f"Checks: {len(passed)} of {len(verdicts)} pass", highlight=False)
    for v in verdicts:
        if v.verdict != "pass":
            console.print(f"  [{COLOURS[v.verdict]}]{v.verdict}[/] {v.name}: ", end="", highlight=False)
            console.print(v.reason, markup=False, highlight=False)
            for item in v.evidence[:3]:
                console.print(f"       {item}", markup=False, highlight=False)
    for warning in dict.fromkeys(run.warnings):
        console.print(f"  warning: {warning}", markup=False, highlight=False, style="yellow")


def _table(title: str, columns: list[str]) -> Table:
    table = Table(
        title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 1, 0, 0)
    )
    for number, column in enumerate(columns):
        left = number == 0 or column in ("link", "type")
        table.add_column(column, justify="left" if left else "right", no_wrap=True)
    return table


def _more(table: Table, rows: int) -> Table:
    if rows > MOST_ROWS:
        table.caption = f"{rows - MOST_ROWS} more rows in tables/delay.csv"
        table.caption_justify = "left"
    return table


def _ms(value: float, digits: int = 3) -> str:
    return _number(value / 1000 if value is not None else value, digits)


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:,.{digits}f}"


def _count(value: float | None) -> str:
    return "-" if value is None or pd.isna(value) else f"{int(value):,}"
