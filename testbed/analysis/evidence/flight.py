"""How long a publication may be under way, and whether any still was when the run ended.

A publication that has not arrived is lost once it can no longer be under way. A multiple of the longest delay
seen is a bound for that, but a poor one where a fault or an overloaded broker held some up for long. So:

- delays in which a fault had a part say nothing about the others, and tell instead how long the fault lasted;
- a broker is never idle while its queue holds something, so where links lose nothing (neither at random nor
  from full queues), a run that was silent for longer than any single step takes had nothing under way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from testbed.analysis.evidence.runs import Run

MIN_FLIGHT_US = 1_000_000
TRAFFIC = ("PUBLISHED", "PROCESSED", "FORWARDED", "NOTIFIED", "DELIVERED")


@dataclass(frozen=True)
class Second:
    """The deliveries of what was published in one second."""

    from_us: int  # first publication
    until_us: int  # last publication
    delivered_us: int  # last delivery
    delay_us: int  # longest

    def touched(self, start_us: int, end_us: int) -> bool:
        return self.from_us <= end_us and start_us <= self.delivered_us


@dataclass(frozen=True)
class Motion:
    """What the logs of a run say about publications on their way."""

    longest_us: int = 0  # longest delay of all
    last_us: int = 0  # last event of a publication
    matching_us: int = 0  # longest time in a broker's matching
    bytes: int = 0  # largest message
    seconds: tuple[Second, ...] = ()  # only where the longest delay is long

    def flight_us(self, disturbed: list[tuple[int, int]]) -> int:
        """Twice the longest delay that no fault touched, and a second at least."""
        if not self.seconds:
            return max(MIN_FLIGHT_US, 2 * self.longest_us)
        free = [s.delay_us for s in self.seconds if not any(s.touched(*span) for span in disturbed)]
        return max(MIN_FLIGHT_US, 2 * max(free, default=0))

    def held_until_us(self, start_us: int, end_us: int) -> int:
        """When the last publication arrived that was under way during these times."""
        return max((s.delivered_us for s in self.seconds if s.touched(start_us, end_us)), default=end_us)


def motion_of(counted: pd.DataFrame) -> Motion:
    """`counted`: the run's part of `inventory`."""
    own = counted[(counted["bad"] == 0) & counted["kind"].isin(TRAFFIC)]
    most = own[["max_delay_us", "last_us", "max_matching_us", "max_bytes"]].max().fillna(0).astype("int64")
    return Motion(*most.tolist())


def with_seconds(motion: Motion, seconds: pd.DataFrame) -> Motion:
    """`seconds`: the run's part of `by_second`."""
    columns = ["from_us", "until_us", "delivered_us", "delay_us"]
    rows = [Second(*(int(value) for value in row)) for row in seconds[columns].itertuples(index=False)]
    return replace(motion, seconds=tuple(rows))


def is_long(delay_us: int) -> bool:
    """Longer than the least flight allows for, so that it matters which publications took so long."""
    return 2 * delay_us > MIN_FLIGHT_US


def drained(run: Run, motion: Motion, ended_us: int) -> bool:
    """Nothing was under way at the end: silence longer than any step, and no TCP that waits to try again."""
    network = run.plan.network
    lossy = any(link.loss or link.bandwidth_bps for link in network.links)
    lossy |= any(pair.loss for pair in network.pairs)
    reshaped = any(event.action == "reshape" for event in run.plan.events)
    # Other messages than publications leave no trace in a queue; their time in it cannot be allowed for.
    unseen = any(broker.options.get("control_us") for broker in run.plan.brokers)
    if lossy or reshaped or unseen:
        return False
    return ended_us - motion.last_us > max(MIN_FLIGHT_US, 2 * longest_step_us(run, motion))


def longest_step_us(run: Run, motion: Motion) -> float:
    """Between two events of a publication, waiting in queues apart: way, matching, and leaving a broker."""
    latency = run.routes.latency_us
    way = float(np.nanmax(latency)) if np.isfinite(latency).any() else 0.0
    jitter = sum(link.jitter_us for link in run.plan.network.links)
    rates = [broker.options.get("output_bandwidth", 0) for broker in run.plan.brokers]
    slowest = min((rate for rate in rates if rate), default=0)
    return way + jitter + motion.matching_us + (motion.bytes * 1e6 / slowest if slowest else 0)


def by_second(events: DataFrame) -> DataFrame:
    """run, second of publication -> the fields of `Second`."""
    delivered = events.where("kind = 'DELIVERED' and published_us > 0")
    delay = f.col("t_us") - f.col("published_us")
    return delivered.groupBy("run", f.floor(f.col("published_us") / 1_000_000).alias("second")).agg(
        f.min("published_us").alias("from_us"),
        f.max("published_us").alias("until_us"),
        f.max("t_us").alias("delivered_us"),
        f.max(delay).alias("delay_us"),
    )
