"""Algorithms 1 to 3 of 4.2 as printed, with bit vectors remembered per link: the O(N²) procedure of G15.

The broker computes the same in O(N) (`selection.py`); a test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from broker_grpc.protocols.relocation.selection import BrokerStatistics, Estimate


class Printed:
    def __init__(self, brokers: Sequence[BrokerStatistics]) -> None:
        self._brokers = {b.id: b for b in brokers}
        self._links = {b.id: [n for n in b.neighbours if n in self._brokers] for b in brokers}
        self._vectors: dict[tuple[str, str], int] = {}  # getDownstreamBVTo, setDownstreamBVTo

    def estimates(self, candidates: Sequence[str], ping_us: Mapping[str, int]) -> list[Estimate]:
        found = []
        for candidate in candidates:
            self._delay = self._deliveries = 0
            self._calc_avg_delay(0, candidate, "")
            mean = self._delay / self._deliveries if self._deliveries else 0.0
            rate = self._calc_total_msg_rate(candidate, "")
            found.append(Estimate(candidate, rate, ping_us.get(candidate, 0) + mean))
        return found

    def _calc_avg_delay(self, cumulative: int, at: str, previous: str) -> None:
        broker = self._brokers[at]
        self._delay += broker.deliveries * (cumulative + broker.delay_to(""))
        self._deliveries += broker.deliveries
        for neighbour in self._links[at]:
            if neighbour != previous:
                self._calc_avg_delay(cumulative + broker.delay_to(neighbour), neighbour, at)

    def _calc_total_msg_rate(self, at: str, previous: str) -> int:
        local = self._calc_downstream_bv(at, previous).bit_count()
        return local + sum(self._calc_total_msg_rate(n, at) for n in self._links[at] if n != previous)

    def _calc_downstream_bv(self, at: str, previous: str) -> int:
        aggregated = self._brokers[at].delivered
        for neighbour in self._links[at]:
            if neighbour == previous:
                continue
            vector = self._vectors.get((at, neighbour))
            if vector is None:
                vector = self._vectors[at, neighbour] = self._calc_downstream_bv(neighbour, at)
            aggregated |= vector
        return aggregated
