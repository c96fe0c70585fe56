"""From the tables of one run to the numbers of section 5.2.

"The plotted values are obtained at the end of the experiment": the last quarter of the publishing
time, so that one window's luck does not decide. All are averages over brokers or deliveries.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas

from testbed.runfolder import RunFolder

RELOCATION_TYPES = (
    "trace_result", "relocation_request", "relocation_answer", "trace_information_request",
    "trace_information_answer", "ping_request", "ping_answer", "probe", "probe_answer", "migration_order",
    "migration_advertisement", "migration_update", "migration_complete", "migration_abort",
    "migration_resume", "migration_paused",
)  # fmt: skip
AT_THE_END = 0.25


def read_table(run: RunFolder, name: str) -> pandas.DataFrame:
    return pandas.read_parquet(run.tables / f"{name}.parquet")


def measure(run: RunFolder) -> dict[str, Any]:
    """One row per run."""
    load, overhead = read_table(run, "load"), read_table(run, "overhead")
    deliveries = read_table(run, "deliveries")
    got = deliveries[deliveries.delay_us.notna()]
    last = got.published_us.max()
    begin = last - AT_THE_END * (last - got.published_us.min())
    end = got[got.published_us >= begin]
    late = load[load.window_s >= load.window_s.max() * (1 - AT_THE_END)]
    missing = int((deliveries.settled & deliveries.delay_us.isna()).sum())
    return {
        "message_rate": float(late.groupby("broker").received_per_s.mean().mean()),
        "input_utilisation": float(late.groupby("broker").input_utilisation.mean().mean()),
        "output_utilisation": float(late.groupby("broker").output_utilisation.mean().mean()),
        "overloaded": int((late.groupby("broker").input_utilisation.mean() > 1).sum()),
        "delay_ms": float(end.delay_us.mean()) / 1e3,
        "hops": float(end.overlay_hops.mean()),
        "overhead": overhead_ratio(overhead),
        "deliveries": len(got),
        "missing": missing,
        "duplicates": int((deliveries.copies > 1).sum()),
        "memory_mb": float(late.groupby("broker").memory_bytes.mean().mean()) / 1e6,
    }


def overhead_ratio(overhead: pandas.DataFrame) -> float:
    """Messages of the algorithm per message between brokers, over the whole run."""
    overlay = overhead[(overhead.link == "overlay") & (overhead.type != "all")]
    own = overlay[overlay.type.isin(RELOCATION_TYPES)].log_messages.sum()
    total = overlay.log_messages.sum()
    return float(own / total) if total else 0.0


def relocations(run: RunFolder) -> list[dict[str, Any]]:
    """Every selection and migration: path length, time, and the time that pings took."""
    rows = []
    for path in sorted(run.events.glob("*.jsonl")):
        rows += _relocations_of(path)
    return rows


def _relocations_of(path: Path) -> list[dict[str, Any]]:
    found = []
    with path.open("rb") as lines:
        for line in lines:
            if b'"SELECTED"' in line or b'"MIGRATED"' in line:
                event = json.loads(line)
                ping = re.search(r"ping_us=(\d+)", event.get("detail", ""))
                found.append(
                    {
                        "event": event["kind"].lower(),
                        "advertisement": event["message"],
                        "t_us": event["t_us"],
                        "from": event["node"],
                        "to": event.get("peer", ""),
                        "path": event.get("hops", 0),
                        "duration_s": event.get("duration_us", 0) / 1e6,
                        "ping_s": int(ping.group(1)) / 1e6 if ping else 0.0,
                    }
                )
    return found
