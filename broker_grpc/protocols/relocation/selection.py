"""GRAPE's broker selection: algorithms 1 to 3 of section 4.2, for all candidates at once.

The paper evaluates each candidate by a walk over the whole tree, with bit vectors remembered per
link. Here every directed link is looked at once: moving the publisher from a broker to its
neighbour turns round exactly one link, so the message rate and the delay there follow from those
at the broker by the two values of that link. The result is the paper's, in O(N) instead of O(N^2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Metric = Literal["load", "delay"]


@dataclass(frozen=True)
class BrokerStatistics:
    """What one broker's trace information says, in GRAPE's terms."""

    id: str
    neighbours: Sequence[str]
    delivered: int  # bit vector of publications delivered to local subscribers
    deliveries: int
    input_queueing_us: int = 0
    matching_us: int = 0
    output_queueing_us: Mapping[str, int] = field(default_factory=dict)  # "" = the client binding

    def delay_to(self, neighbour: str) -> int:
        """queueAndMatchDelaysTo"""
        return self.input_queueing_us + self.matching_us + self.output_queueing_us.get(neighbour, 0)


@dataclass
class Flow:
    """What goes over one directed link when the publisher is behind it."""

    vector: int = 0  # calcDownstreamBV
    rate: int = 0  # messages through all brokers beyond the link
    deliveries: int = 0
    delay: int = 0  # summed over the deliveries, from the arrival at the broker beyond the link


class Tree:
    """The brokers that answered; a neighbour that did not is not part of it."""

    def __init__(self, brokers: Sequence[BrokerStatistics]) -> None:
        self.brokers = {b.id: b for b in brokers}
        self.links = {b.id: [n for n in b.neighbours if n in self.brokers] for b in brokers}
        self._flows: dict[tuple[str, str], Flow] = {}

    def flow(self, source: str, target: str) -> Flow:
        """Everything at and beyond `target`, seen from `source`; iterative, for long chains."""
        wanted = [(source, target)]
        while wanted:
            link = wanted[-1]
            if link in self._flows:
                wanted.pop()
                continue
            beyond = [(link[1], n) for n in self.links[link[1]] if n != link[0]]
            missing = [b for b in beyond if b not in self._flows]
            if missing:
                wanted += missing
            else:
                self._flows[link] = self._join(link[1], [self._flows[b] for b in beyond], beyond)
                wanted.pop()
        return self._flows[source, target]

    def _join(self, at: str, flows: Sequence[Flow], links: Sequence[tuple[str, str]]) -> Flow:
        broker = self.brokers[at]
        vector, deliveries = broker.delivered, broker.deliveries
        delay = deliveries * broker.delay_to("")
        rate = 0
        for flow, (_, neighbour) in zip(flows, links, strict=True):
            vector |= flow.vector
            rate += flow.rate
            deliveries += flow.deliveries
            delay += flow.delay + flow.deliveries * broker.delay_to(neighbour)
        return Flow(vector, rate + vector.bit_count(), deliveries, delay)

    def total(self, at: str) -> Flow:
        """All of the tree, with the publisher at this broker."""
        links = [(at, n) for n in self.links[at]]
        return self._join(at, [self.flow(*link) for link in links], links)


@dataclass(frozen=True)
class Estimate:
    broker: str
    rate: int  # calcTotalMsgRate: messages through all brokers, per trace session
    delay_us: float  # calcAvgDelay: mean over deliveries


def estimates(tree: Tree, candidates: Sequence[str], ping_us: Mapping[str, int]) -> list[Estimate]:
    """Each candidate's message rate and average delivery delay; a missing ping counts as 0."""
    found = []
    for candidate in candidates:
        flow = tree.total(candidate)
        mean = flow.delay / flow.deliveries if flow.deliveries else 0.0
        found.append(Estimate(candidate, flow.rate, ping_us.get(candidate, 0) + mean))
    return found


def survivors(options: Sequence[Estimate], metric: Metric, weight: int) -> list[Estimate]:
    """Normalise the metric to 0..100 over the candidates and drop those past 100 - weight."""
    values = [_value(o, metric) for o in options]
    low, high = min(values), max(values)
    if high == low:
        return list(options)
    scale = 100.0 / (high - low)
    return [o for o, v in zip(options, values, strict=True) if (v - low) * scale <= 100 - weight]


def choose(options: Sequence[Estimate], prioritise: Metric, weight: int, current: str) -> str:
    """The selected broker: best secondary metric among the survivors of the primary one.

    Equal candidates: the publisher stays where it is if that is one of them (a migration that gains
    nothing costs messages), else the first by name.
    """
    other: Metric = "delay" if prioritise == "load" else "load"
    left = survivors(options, prioritise, weight)
    best = min(left, key=lambda o: (_value(o, other), _value(o, prioritise), o.broker != current, o.broker))
    return best.broker


def _value(option: Estimate, metric: Metric) -> float:
    return option.rate if metric == "load" else option.delay_us
