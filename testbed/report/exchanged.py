"""Exchanges of overlay links on a run's page: the tree before and after, and what happened when."""

from __future__ import annotations

import msgspec
import pandas

from testbed.report.charts import Drawn
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


def course(exchanges: pandas.DataFrame) -> pandas.DataFrame:
    """In order of time, with the columns of `COLUMNS`."""
    return exchanges.assign(
        new=exchanges.added_a + " - " + exchanges.added_b,
        old=exchanges.removed_a + " - " + exchanges.removed_b,
        duration_ms=exchanges.duration_us / 1e3,
    ).sort_values("time_s", kind="stable")
