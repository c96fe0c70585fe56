"""Broker time per logged event, at the median: at most 3 microseconds.

python -m benchmarks.eventlog
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from broker_grpc.process.clock import RunClock
from broker_grpc.process.eventlog import EventLog
from protos.records import LogEvent

LIMIT_US = 3.0
EVENTS = 200_000


def event(number: int, message: str) -> LogEvent:
    return LogEvent(
        t_us=1_700_000_000_000_000 + number,
        kind="FORWARDED",
        type="publication",
        peer="B17",
        message=message,
        hops=3,
        bytes=312,
        published_us=1_700_000_000_000_000,
        sending_us=12,
    )


def measure(folder: Path) -> list[float]:
    """Microseconds per event: building the record, and writing it, the flushes included where they fall."""
    log = EventLog(folder / "bench.jsonl", "B1", RunClock(0))
    clock, times = time.perf_counter_ns, []
    for number in range(EVENTS):
        message = f"stock-YHOO:{number}"  # the broker has it already
        start = clock()
        log.write(event(number, message))
        times.append((clock() - start) / 1000)
    log.close()
    return times


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        times = measure(Path(folder))
    median, mean = statistics.median(times), statistics.fmean(times)
    p99 = sorted(times)[int(len(times) * 0.99)]
    figures = f"median {median:.2f} µs, mean {mean:.2f} µs, p99 {p99:.2f} µs"
    print(f"event log: {figures} per event (limit {LIMIT_US})")
    return 0 if median <= LIMIT_US else 1


if __name__ == "__main__":
    sys.exit(main())
