"""Planned one-way delay and number of network links between hosts, as matrices.

The paths are those of `testbed.topology.paths`, which the controller installs and the probes are held
against. This is what stretch and the delay budget compare with.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from testbed.topology.paths import Routing
from testbed.topology.plan import Plan

Floats = npt.NDArray[np.float64]


class Routes:
    """Latency and links between the hosts that matter (those of brokers and clients); NaN = no path."""

    def __init__(self, plan: Plan, hosts: Iterable[str] | None = None) -> None:
        wanted = _placed(plan) if hosts is None else set(hosts)
        self.index = {host: number for number, host in enumerate(sorted(wanted))}
        self.latency_us = np.full((len(wanted), len(wanted)), np.nan)
        self.links = self.latency_us.copy()
        self._fill(plan)

    def _fill(self, plan: Plan) -> None:
        routing = Routing(plan.network)
        latencies = _latencies(plan)
        for target, column in self.index.items():
            if target not in routing.order:
                continue
            known = {target: (0.0, 0.0)}
            for source, row in self.index.items():
                if source in routing.order:
                    self.latency_us[row, column], self.links[row, column] = _follow(
                        source, target, routing, latencies, known
                    )
        for pair in plan.network.pairs:
            if pair.a in self.index and pair.b in self.index:
                self.latency_us[self.index[pair.a], self.index[pair.b]] += pair.latency_us

    def latency(self, a: str, b: str) -> float:
        """One way, in microseconds."""
        if a not in self.index or b not in self.index:
            return float("nan")
        return float(self.latency_us[self.index[a], self.index[b]])


def _placed(plan: Plan) -> set[str]:
    return {broker.node for broker in plan.brokers} | {client.node for client in plan.clients}


def _latencies(plan: Plan) -> dict[tuple[str, str], float]:
    """Latency between neighbours; of parallel links, the cheapest, as in `Routing`."""
    cheapest: dict[tuple[str, str], tuple[int, int]] = {}
    for link in plan.network.links:
        cost = (link.latency_us + link.penalty_us, link.latency_us)
        for ends in ((link.a, link.b), (link.b, link.a)):
            cheapest[ends] = min(cost, cheapest.get(ends, cost))
    return {ends: float(latency) for ends, (_, latency) in cheapest.items()}


def _follow(
    source: str,
    target: str,
    routing: Routing,
    latencies: dict[tuple[str, str], float],
    known: dict[str, tuple[float, float]],
) -> tuple[float, float]:
    """Latency and links from `source` to `target`; what is found on the way is kept in `known`."""
    trail = []
    at: str | None = source
    while at is not None and at not in known:
        trail.append(at)
        at = routing.next_hop(at, target)
    latency, links = known[at] if at is not None else (np.nan, np.nan)
    following = at
    for node in reversed(trail):
        if following is not None:
            latency, links = latency + latencies[node, following], links + 1
        known[node] = (latency, links)
        following = node
    return known[source]
