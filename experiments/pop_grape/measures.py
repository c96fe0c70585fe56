"""What section 5 measures, from the tables of one run.

"Obtained at the end of the experiment": the last quarter of the publishing time, so that one window's
luck does not decide. All are averages over all brokers or over all deliveries; a broker that received
nothing counts as zero.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
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
LOAD_WINDOW_S = 10  # of the load table
MINUTE_S = 60  # of the time series


def read_table(run: RunFolder, name: str) -> pandas.DataFrame:
    return pandas.read_parquet(run.tables / f"{name}.parquet")


class Measured:
    """The tables of one run, and when it published."""

    def __init__(self, run: RunFolder) -> None:
        self.run = run
        self.brokers = len(run.read_plan().brokers)
        self.overhead = read_table(run, "overhead")
        self.deliveries = read_table(run, "deliveries")
        self.got = self.deliveries[self.deliveries.delay_us.notna()]
        self.start_us = run.read_manifest().first_us  # the load table counts from here
        first, last = self.got.published_us.min(), self.got.published_us.max()
        self.begin_s = (int(first) - self.start_us) // 1_000_000
        self.end_s = (int(last) - self.start_us) // 1_000_000
        load = read_table(run, "load")
        self.load = load[load.window_s + LOAD_WINDOW_S <= self.end_s]

    def message_rate(self, load: pandas.DataFrame, seconds: float) -> float:
        """Messages per second and broker; brokers and windows without a row received nothing."""
        return float(load.received_per_s.sum()) * LOAD_WINDOW_S / seconds / self.brokers

    def row(self) -> dict[str, Any]:
        since_s = self.end_s - AT_THE_END * (self.end_s - self.begin_s)
        end = self.got[self.got.published_us >= self.start_us + since_s * 1e6]
        first_window = -(-int(since_s) // LOAD_WINDOW_S) * LOAD_WINDOW_S
        late = self.load[self.load.window_s >= first_window]
        seconds = float(late.window_s.max() + LOAD_WINDOW_S - first_window)
        by_broker = late.groupby("broker")
        utilisation = self.load.groupby("broker").input_utilisation.max()
        return {
            "message_rate": self.message_rate(late, seconds),
            "publication_rate": float(late.publications_per_s.sum()) * LOAD_WINDOW_S / seconds / self.brokers,
            "input_utilisation": float(by_broker.input_utilisation.mean().mean()),
            "output_utilisation": float(by_broker.output_utilisation.mean().mean()),
            "overloaded": int((utilisation > 1).sum()),
            "busiest": float(utilisation.max()),
            "delay_ms": float(end.delay_us.mean()) / 1e3,
            "hops": float(end.overlay_hops.mean()),
            "overhead": overhead_ratio(self.overhead),
            "deliveries": len(self.got),
            "missing": int((self.deliveries.settled & self.deliveries.delay_us.isna()).sum()),
            "duplicates": int((self.deliveries.copies > 1).sum()),
            "memory_mb": float(by_broker.memory_bytes.mean().mean()) / 1e6,
        }

    def timeline(self) -> Iterator[dict[str, Any]]:
        """Minute by minute of publishing, for the figures with time as x axis."""
        minute_of = (self.got.published_us - self.start_us) // 1_000_000 - self.begin_s
        deliveries = self.got.groupby(minute_of // MINUTE_S)
        loads = dict(iter(self.load.groupby((self.load.window_s - self.begin_s) // MINUTE_S)))
        for minute, got in deliveries:
            load = loads.get(minute)
            if load is not None and minute < (self.end_s - self.begin_s) // MINUTE_S:
                received = float(load.received_per_s.sum())
                own = received - float(load.publications_per_s.sum())
                yield {
                    "minute": int(minute),
                    "delay_ms": float(got.delay_us.mean()) / 1e3,
                    "hops": float(got.overlay_hops.mean()),
                    "message_rate": self.message_rate(load, MINUTE_S),
                    "control_share": own / received if received else 0.0,
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
