"""Exchanges of overlay links on a run's page: the tree before and after, and what happened when."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pandas

from testbed.report.charts import WIDE, Drawn
from testbed.report.svg import COLOURS, Axis, Chart
from testbed.report.topology_svg import overlay_picture
from testbed.run.overlay import Overlay
from testbed.topology.plan import Plan

COLUMNS = {
    "time_s": "time (s)", "exchange": "exchange", "outcome": "outcome", "new": "new link", "old": "old link",
    "cycle": "brokers on the cycle", "duration_ms": "took (ms)", "detail": "detail",
}  # fmt: skip


def trees(plan: Plan, exchanges: pandas.DataFrame) -> list[Drawn]:
    """The planned overlay, and the one that the exchanges that were done have made of it."""
    overlay = Overlay(plan.overlay)
    done = exchanges[exchanges.outcome == "done"]
    for row in done.itertuples(index=False):
        overlay.change(row.exchange, (row.added_a, row.added_b), (row.removed_a, row.removed_b))
    after = msgspec.structs.replace(plan, overlay=overlay.links)
    title = "planned one-way latency of its links"
    return [
        overlay_picture(plan, f"Tree before the first exchange: {title}"),
        overlay_picture(after, f"Tree after {len(done)} exchanges: {title}"),
    ]


def costs(table: pandas.DataFrame) -> Drawn:
    """What was paid per window: for notifications, and for all else that brokers sent each other."""
    by_window = table.groupby(["window_s", "purpose"]).cost.sum().unstack(fill_value=0.0)
    windows = list(by_window.index)
    width = min((b - a for a, b in pairwise(windows)), default=10)
    data = by_window.get("data", pandas.Series(0.0, index=by_window.index))
    all_ = by_window.sum(axis=1)
    share = 1 - data.sum() / (all_.sum() or 1.0)
    others = [purpose for purpose in by_window.columns if purpose != "data"]
    parts = ", ".join(f"{purpose} {by_window[purpose].sum() / (all_.sum() or 1.0):.1%}" for purpose in others)
    text = f"Sums of c and p: {all_.sum():,.0f}, of which {share:.1%} are not for notifications"
    text += f" ({parts})." if parts else "."
    x, y = Axis("run time (s)", 0, windows[-1] + width), Axis("cost", 0, float(all_.max()) or 1.0)
    chart = Chart("Costs over time", text, x, y, height=240, width=WIDE)
    for at in windows:
        chart.bar(at, at + width, all_[at], COLOURS[1], f"{at} s: {all_[at]:,.0f}, all messages")
        chart.bar(at, at + width, data[at], COLOURS[0], f"{at} s: {data[at]:,.0f}, notifications")
    chart.legend += [("notifications", COLOURS[0], ""), ("all else", COLOURS[1], "")]
    headings = {"window_s": "from (s)"} | {str(name): str(name) for name in by_window.columns}
    return Drawn("Costs over time", text, chart.svg(), by_window.reset_index(), headings)


def course(exchanges: pandas.DataFrame) -> pandas.DataFrame:
    """In order of time, with the columns of `COLUMNS`."""
    return exchanges.assign(
        new=exchanges.added_a + " - " + exchanges.added_b,
        old=exchanges.removed_a + " - " + exchanges.removed_b,
        duration_ms=exchanges.duration_us / 1e3,
    ).sort_values("time_s", kind="stable")
