"""Tables of a run that goes on, from its event logs: what the page can show before Spark has seen anything.

Only first copies and plain counts: checks, the wire and everything exact come with `testbed analyze`.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas

WINDOW_S = 10
GOT = ("RECEIVED", "PROCESSED")
SENT = ("SENT", "FORWARDED")
QUANTILES = {"p50_us": 0.5, "p90_us": 0.9, "p95_us": 0.95, "p99_us": 0.99}


@dataclass
class Tail:
    """What is new in a folder of event logs since the last look; an unfinished line waits for its end."""

    folder: Path
    offsets: dict[str, int] = field(default_factory=dict)

    def lines(self) -> list[bytes]:
        found: list[bytes] = []
        for path in sorted(self.folder.glob("*.jsonl")):
            with path.open("rb") as file:
                file.seek(self.offsets.get(path.name, 0))
                text = file.read()
            whole = text[: text.rfind(b"\n") + 1]
            self.offsets[path.name] = self.offsets.get(path.name, 0) + len(whole)
            found += whole.splitlines()
        return found


@dataclass
class LiveTables:
    first_us: int = 0
    last_us: int = 0
    deliveries: list[tuple[int, int, str, int]] = field(default_factory=list)
    received: Counter[tuple[str, int]] = field(default_factory=Counter)
    sent: Counter[str] = field(default_factory=Counter)
    sent_bytes: Counter[str] = field(default_factory=Counter)

    def take(self, event: dict[str, Any]) -> None:
        at, kind = event["t_us"], event["kind"]
        self.first_us = min(self.first_us or at, at)
        self.last_us = max(self.last_us, at)
        if kind == "DELIVERED":
            delay = at - event.get("published_us", at)
            self.deliveries.append((at, delay, event.get("group", ""), event.get("hops", 0)))
        elif kind in GOT:
            self.received[event["node"], (at - self.first_us) // (WINDOW_S * 1_000_000) * WINDOW_S] += 1
        elif kind in SENT:
            self.sent[event.get("type", "")] += 1
            self.sent_bytes[event.get("type", "")] += event.get("bytes", 0)

    def tables(self) -> dict[str, pandas.DataFrame]:
        got = pandas.DataFrame(self.deliveries, columns=["delivered_us", "delay_us", "group", "hops"])
        return {
            "deliveries": got,
            "delay": delay_table(got),
            "hop_distribution": hop_table(got),
            "load": pandas.DataFrame(
                [
                    {"broker": broker, "window_s": window, "received_per_s": count / WINDOW_S}
                    for (broker, window), count in self.received.items()
                ]
            ),
            "overhead": pandas.DataFrame(
                [
                    {
                        "link": "overlay",
                        "type": kind,
                        "log_messages": count,
                        "log_bytes": self.sent_bytes[kind],
                    }
                    for kind, count in self.sent.most_common()
                ]
            ).assign(wire_messages=float("nan"), difference=float("nan")),
        }


def delay_table(got: pandas.DataFrame) -> pandas.DataFrame:
    groups = {("all", "all"): got} | {("class", str(name)): rows for name, rows in got.groupby("group")}
    return pandas.DataFrame(
        [
            {
                "group_by": by,
                "group": name,
                "count": len(rows),
                "mean_us": rows.delay_us.mean(),
                **{column: rows.delay_us.quantile(q) for column, q in QUANTILES.items()},
                "max_us": rows.delay_us.max(),
            }
            for (by, name), rows in groups.items()
            if len(rows)
        ]
    )


def hop_table(got: pandas.DataFrame) -> pandas.DataFrame:
    counts = got.groupby("hops").size().reset_index(name="count")
    return counts.assign(measure="overlay", share=counts["count"] / max(1, len(got)))


def decode(lines: list[bytes]) -> list[dict[str, Any]]:
    """Events; a line that is none is left to the analysis, which names it."""
    found = []
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and "t_us" in event and "kind" in event:
            found.append(event)
    return found
