"""What section 5 measures, from the event logs of one run.

"Obtained at the end of the experiment": the last quarter of the publishing time, so that one minute's luck
does not decide. All are averages over all brokers or over all deliveries; a broker that received nothing
counts as zero.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pandas

from experiments.pop_grape.logs import Logs

RELOCATION_TYPES = (
    "trace_result", "relocation_request", "relocation_answer", "trace_information_request",
    "trace_information_answer", "ping_request", "ping_answer", "probe", "probe_answer", "migration_order",
    "migration_advertisement", "migration_update", "migration_complete", "migration_abort",
    "migration_resume", "migration_paused",
)  # fmt: skip
AT_THE_END = 0.25
MINUTE_US = 60_000_000


def measure(logs: Logs) -> dict[str, Any]:
    """One row per run."""
    times = [e.t_us for e in logs.published.values()]
    begin, end = min(times), max(times)
    since = end - int(AT_THE_END * (end - begin))
    got = logs.delivered[logs.delivered.published_us >= since]
    received = logs.received[(logs.received.t_us >= since) & (logs.received.t_us < end)]
    late = logs.samples[logs.samples.t_us >= since].groupby("broker")
    busiest = logs.samples[logs.samples.t_us > begin].groupby("broker").input.max()
    return {
        "message_rate": per_second_and_broker(len(received), end - since, len(logs.brokers)),
        "publication_rate": per_second_and_broker(
            int(received.publication.sum()), end - since, len(logs.brokers)
        ),
        "input_utilisation": float(late.input.mean().mean()),
        "output_utilisation": float(late.output.mean().mean()),
        "overloaded": int((busiest > 1).sum()),
        "busiest": float(busiest.max()),
        "delay_ms": float(got.delay_us.mean()) / 1e3,
        "hops": float(got.hops.mean()),
        "overhead": overhead_ratio(logs.overlay),
        "deliveries": len(logs.delivered) - logs.duplicates,
        "missing": logs.missing,
        "duplicates": logs.duplicates,
        "memory_mb": float(late.memory.mean().mean()) / 1e6,
    }


def per_second_and_broker(messages: int, duration_us: int, brokers: int) -> float:
    return messages * 1e6 / duration_us / brokers


def overhead_ratio(overlay: Mapping[str, int]) -> float:
    """Messages of the algorithm per message between brokers, over the whole run."""
    total = sum(overlay.values())
    return sum(overlay.get(type_, 0) for type_ in RELOCATION_TYPES) / total if total else 0.0


def timeline(logs: Logs) -> Iterator[dict[str, Any]]:
    """Minute by minute of publishing, for the figures with time as x axis."""
    times = [e.t_us for e in logs.published.values()]
    begin, minutes = min(times), (max(times) - min(times)) // MINUTE_US
    received = dict(iter(logs.received.groupby((logs.received.t_us - begin) // MINUTE_US)))
    for minute, got in logs.delivered.groupby((logs.delivered.published_us - begin) // MINUTE_US):
        messages: pandas.DataFrame | None = received.get(minute)
        if messages is not None and minute < minutes:
            yield {
                "minute": int(minute),
                "delay_ms": float(got.delay_us.mean()) / 1e3,
                "hops": float(got.hops.mean()),
                "message_rate": per_second_and_broker(len(messages), MINUTE_US, len(logs.brokers)),
                "control_share": float(1 - messages.publication.mean()),
            }


def relocations(logs: Logs) -> list[dict[str, Any]]:
    """Every selection and migration: path length, time, and the time that pings took."""
    rows = []
    for event in logs.moves:
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
