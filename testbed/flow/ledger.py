"""What a run costs and how many messages it takes, by purpose and by sample."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy

from testbed.flow.traffic import Flow
from testbed.flow.tree import Bools, Deliveries, Prices

DATA = "data"


class Ledger:
    """Messages and costs since the last sample; `rows` has a row per sample and purpose."""

    def __init__(self) -> None:
        self.rows: list[dict[str, float | int | str]] = []
        self._messages: dict[str, int] = defaultdict(int)
        self._costs: dict[str, float] = defaultdict(float)

    def add(self, purpose: str, messages: int, cost: float) -> None:
        self._messages[purpose] += messages
        self._costs[purpose] += cost

    def close(self, at_us: int) -> None:
        """A sample ends here."""
        for purpose in sorted(self._messages):
            row = {"messages": self._messages[purpose], "cost": self._costs[purpose]}
            self.rows.append({"at_us": at_us, "purpose": purpose, **row})
        self._messages.clear()
        self._costs.clear()


class Notifications:
    """Prices the publications of all flows. Between two changes one of a flow costs the same as the next."""

    def __init__(self, flows: Iterable[Flow], brokers: int, ledger: Ledger) -> None:
        flows = list(flows)
        times = numpy.concatenate([flow.times_us for flow in flows] or [numpy.empty(0, numpy.int64)])
        whose = numpy.repeat(numpy.arange(len(flows)), [len(flow.times_us) for flow in flows])
        order = numpy.argsort(times, kind="stable")
        self._times, self._whose = times[order], whose[order]
        self._done = 0
        self._ledger = ledger
        self._present = numpy.zeros(
            (len(flows), brokers), dtype=numpy.int16
        )  # subscribers, and the publisher
        for f, flow in enumerate(flows):
            self._present[f, flow.publisher] = 1
        self._prices: Prices | None = None
        self._each = Deliveries(numpy.zeros(len(flows)), numpy.zeros(len(flows), numpy.int64))

    def until(self, at_us: int) -> None:
        """Accounts for all publications before this instant; then something may change."""
        begin, self._done = self._done, int(numpy.searchsorted(self._times, at_us))
        if begin < self._done:
            many = numpy.bincount(self._whose[begin : self._done], minlength=len(self._each.costs))
            self._ledger.add(DATA, int(many @ self._each.links), float(many @ self._each.costs))

    def reprice(self, prices: Prices) -> None:
        """Another tree, or other costs."""
        self._prices = prices
        self._each = prices.of(self._present > 0)

    def change(self, flow: int, broker: int, by: int) -> None:
        """So many subscribers of the flow more at this broker."""
        self._present[flow, broker] += by

    def reprice_flow(self, flow: int) -> None:
        if self._prices is not None:
            one: Bools = self._present[flow : flow + 1] > 0
            costs, links = self._prices.of(one)
            self._each.costs[flow], self._each.links[flow] = costs[0], links[0]
