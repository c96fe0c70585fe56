"""How many notifications two brokers have in common, in every interval of either: I_ij without filters.

What clients publish and get does not hang on the overlay, so all of it is counted before a run begins.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy
from numpy.typing import NDArray

from testbed.flow.traffic import Flow, Traffic

Counts = NDArray[numpy.int32]


class Windows:
    """Interval n of broker j ends at `phases[j] + n interval`; the first may be a shorter one."""

    def __init__(self, traffic: Traffic, phases_us: Sequence[int], interval_us: int) -> None:
        self.interval_us = interval_us
        self._phases = numpy.asarray(phases_us, dtype=numpy.int64)
        size = traffic.end_us // interval_us + 2
        self._counts: Counts = numpy.zeros((size, traffic.brokers, traffic.brokers), dtype=numpy.int32)
        for flow in traffic.flows:
            self._count(flow, members(flow, traffic.brokers))

    def _count(self, flow: Flow, present: NDArray[numpy.bool_]) -> None:
        for j in numpy.flatnonzero(present.any(0)):
            seen = present[:, j]
            numbers = -(-(flow.times_us[seen] - self._phases[j]) // self.interval_us)
            ends, starts = numpy.unique(numbers, return_index=True)
            together = numpy.add.reduceat(present[seen], starts, axis=0, dtype=numpy.int32)
            self._counts[ends, j] += together

    def common(self, broker: int, number: int) -> list[int]:
        """Of this interval of the broker: with each other one, and in its own place all of its own."""
        found: list[int] = self._counts[number, broker].tolist()
        return found

    @property
    def most(self) -> int:
        """Notifications of one broker in one interval."""
        own = self._counts.diagonal(axis1=1, axis2=2)
        return int(own.max()) if own.size else 0


def members(flow: Flow, brokers: int) -> NDArray[numpy.bool_]:
    """By publication and broker: is it published or delivered there?"""
    present = numpy.zeros((len(flow.times_us), brokers), dtype=bool)
    present[:, flow.publisher] = True
    for stay in flow.stays:
        begin, end = numpy.searchsorted(flow.times_us, (stay.begin_us, stay.end_us))
        present[begin:end, stay.broker] = True
    return present
