"""What section 5 measures, from the evidence of one run.

"Obtained at the end of the experiment": the last quarter of the publishing time, so that one minute's luck
does not decide. "All graphs use average values across all brokers or clients" (5.2): a broker that received
nothing counts as zero, and a client counts once, however much it gets (`client_delay_ms`, `client_hops`).
`delay_ms` and `hops` are averages over deliveries: there a high-rated subscriber weighs as ten others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas

from protos.catalogue import types_for
from protos.records import Catalogue
from testbed.reproduction.evidence import logs, tables
from testbed.reproduction.evidence.evidence import WINDOW_US, Evidence
from testbed.reproduction.measured import Measures
from testbed.reproduction.rows import Rows
from testbed.run.folder import RunFolder

OVERHEAD = ("relocation", "migration")  # purposes of the messages of the algorithm
MOVES = ("SELECTED", "MIGRATED")
AT_THE_END = 0.25
SHARES = tuple(round(0.05 * step, 2) for step in range(21))  # of a distribution
MINUTE_US = 60_000_000
PER_MINUTE = MINUTE_US // WINDOW_US


def measure(run: Evidence, known: Catalogue) -> dict[str, Any]:
    """One row per run. `known`: its messages, and what they are for."""
    since = at_the_end(run)
    got = run.delivered[run.delivered.published_us >= since]
    windows = run.windows(since, run.end_us)
    late = run.load[run.load.window_s.isin(windows)]
    sampled = late.assign(memory=late.memory.where(late.memory > 0)).groupby("broker")
    input_at_end = sampled.input.mean()
    publishing = run.windows(run.begin_us, run.end_us).start
    busiest = run.load[run.load.window_s >= publishing].groupby("broker").input.max()
    return {
        "message_rate": per_second_and_broker(int(late.received.sum()), len(windows), run.brokers),
        "publication_rate": per_second_and_broker(int(late.publications.sum()), len(windows), run.brokers),
        "input_utilisation": float(input_at_end.mean()),
        "output_utilisation": float(sampled.output.mean().mean()),
        "overloaded": int((busiest > 1).sum()),
        "busiest": float(busiest.max()),
        "overloaded_at_end": int((input_at_end > 1).sum()),
        "busiest_at_end": float(input_at_end.max()),
        **averages(got),
        "overhead": overhead_ratio(run.overlay, known),
        "deliveries": len(run.delivered),
        "missing": run.missing,
        "duplicates": run.duplicates,
        "memory_mb": float(sampled.memory.mean().mean()) / 1e6,
    }


def averages(got: pandas.DataFrame) -> dict[str, float]:
    """Of deliveries: every client counts once, or every delivery."""
    clients = got.groupby("client")[["delay_us", "hops"]].mean()
    return {
        "client_delay_ms": float(clients.delay_us.mean()) / 1e3,
        "client_hops": float(clients.hops.mean()),
        "delay_ms": float(got.delay_us.mean()) / 1e3,
        "hops": float(got.hops.mean()),
    }


def delays(run: Evidence) -> Iterator[dict[str, Any]]:
    """The distribution of delays at the end: over clients (each with its average) and over deliveries."""
    got = run.delivered[run.delivered.published_us >= at_the_end(run)]
    clients = got.groupby("client").delay_us.mean()
    for share in SHARES:
        yield {
            "share": share,
            "client_delay_ms": float(clients.quantile(share)) / 1e3,
            "delay_ms": float(got.delay_us.quantile(share)) / 1e3,
        }


def at_the_end(run: Evidence) -> int:
    return run.end_us - int(AT_THE_END * (run.end_us - run.begin_us))


def per_second_and_broker(messages: int, windows: int, brokers: int) -> float:
    return messages * 1e6 / (windows * WINDOW_US) / brokers


def overhead_ratio(overlay: Mapping[str, int], known: Catalogue) -> float:
    """Messages of the algorithm per message between brokers, over the whole run."""
    total, own = sum(overlay.values()), types_for(known, OVERHEAD)
    return sum(count for type_, count in overlay.items() if type_ in own) / total if total else 0.0


def timeline(run: Evidence) -> Iterator[dict[str, Any]]:
    """Minute by minute of publishing, for the figures with time as x axis."""
    windows = run.windows(run.begin_us, run.end_us)
    minutes = len(windows) // PER_MINUTE
    begin_us = run.origin_us + windows.start * 1_000_000
    delivered = dict(iter(run.delivered.groupby((run.delivered.published_us - begin_us) // MINUTE_US)))
    load = dict(iter(run.load.groupby((run.load.window_s - windows.start) // 60)))
    for minute in range(minutes):
        got, messages = delivered.get(minute), load.get(minute)
        if got is not None and messages is not None:
            received = int(messages.received.sum())
            yield {
                "minute": minute,
                **averages(got),
                "message_rate": per_second_and_broker(received, PER_MINUTE, run.brokers),
                "control_share": 1 - int(messages.publications.sum()) / received if received else 0.0,
            }


def relocations(run: Evidence) -> list[dict[str, Any]]:
    """Every selection and migration: path length, time, and the time that pings took."""
    rows = []
    for event in run.marks:
        ping = re.search(r"ping_us=(\d+)", event.detail)
        rows.append(
            {
                "event": event.kind.lower(),
                "advertisement": event.message,
                "t_us": event.t_us,
                "from": event.node,
                "to": event.peer,
                "path": event.hops,
                "duration_s": event.duration_us / 1e6,
                "ping_s": int(ping.group(1)) / 1e6 if ping else 0.0,
            }
        )
    return rows


def rows_of(run: RunFolder, evidence: Evidence) -> Rows:
    row = {"engine": run.read_manifest().engine, **measure(evidence, run.read_catalogue())}
    return {
        "runs": [row],
        "relocations": relocations(evidence),
        "timeline": list(timeline(evidence)),
        "delays": list(delays(evidence)),
    }


def from_logs(run: RunFolder) -> Rows:
    return rows_of(run, logs.evidence(run, MOVES))


def from_tables(runs: Sequence[RunFolder], master: str, say: Callable[[str], None]) -> list[Rows]:
    found = tables.evidences(runs, MOVES, master, say)
    return [rows_of(run, evidence) for run, evidence in zip(runs, found, strict=True)]


MEASURES = Measures(from_logs, (__name__,), from_tables)
