"""What the measures of one run are taken from. Two readers make it, and a test holds them against each other:

`tables.py` from Spark's tables (`testbed analyze`), where a run is analysed anyway; `logs.py` from the event
logs in one pass, for sets of hundreds of runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import pandas

WINDOW_US = 10_000_000  # of the table `load`
DELIVERED = ["client", "published_us", "delay_us", "hops"]  # client: the subscriber
LOAD = ["broker", "window_s", "received", "publications", "input", "output", "memory"]


class Mark(msgspec.Struct, frozen=True, order=True):
    """A rare event of a kind that was asked for, as logged: a selection, a migration, a repair."""

    t_us: int
    kind: str
    node: str
    peer: str
    message: str
    hops: int
    duration_us: int
    detail: str


@dataclass(frozen=True)
class Evidence:
    brokers: int
    origin_us: int  # the run's first event: windows are counted from it
    begin_us: int  # first and last publication
    end_us: int
    delivered: pandas.DataFrame  # DELIVERED: the first copy of each delivery
    load: pandas.DataFrame  # LOAD: per broker and window; received and publications are numbers of messages
    overlay: dict[str, int]  # messages sent between brokers until the run's end, by type
    missing: int  # deliveries that should have been and were not
    duplicates: int  # deliveries that came more than once
    marks: list[Mark]  # in order of time

    def windows(self, since_us: int, until_us: int) -> range:
        """Starts (s) of the windows of the table that lie wholly in this time."""
        size = WINDOW_US // 1_000_000
        first = -(-(since_us - self.origin_us) // WINDOW_US)
        last = (until_us - self.origin_us) // WINDOW_US
        return range(first * size, last * size, size)
