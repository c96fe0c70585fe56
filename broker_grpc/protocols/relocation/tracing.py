"""GRAPE's phase 1: what a broker remembers of a trace session (section 4.1)."""

from __future__ import annotations

import msgspec

from broker_grpc.protocols.contentbased.layer import LayerHost
from broker_grpc.protocols.relocation.selection import BrokerStatistics
from protos.relocation_messages import BrokerTrace, NeighbourDelay


class Session(msgspec.Struct):
    """One publisher's trace session at one broker."""

    advertisement: str
    upstream: str  # "" at the publisher's first broker
    downstream: set[str]
    delivered: int = 0  # bit vector
    deliveries: int = 0
    # retrieval
    waiting: set[str] = msgspec.field(default_factory=set)
    answers: list[BrokerTrace] = msgspec.field(default_factory=list)
    asked_us: int = -1  # -1 = not asked yet
    deadline_us: int = 0

    def record(self, index: int, neighbours: list[str], subscribers: int) -> None:
        self.downstream.update(neighbours)
        self.deliveries += subscribers
        if subscribers:
            self.delivered |= 1 << index


def own_trace(host: LayerHost, session: Session, link_latency: bool = False) -> BrokerTrace:
    """The seven items of 4.1; the last three from the monitor.

    `link_latency`: the time to a neighbour contains the link to it, as long as a heartbeat has measured it.
    """
    monitor = host.monitor
    clients = [monitor.output_queueing_us(c) for c in host.clients()]
    binding = sum(clients) // len(clients) if clients else 0
    on_link = {n: (host.rtt_us(n) or 0) // 2 if link_latency else 0 for n in host.neighbours()}
    outputs = [NeighbourDelay(n, monitor.output_queueing_us(n) + on_link[n]) for n in on_link]
    return BrokerTrace(
        broker=host.id,
        neighbours=tuple(host.neighbours()),
        delivered=session.delivered.to_bytes((session.delivered.bit_length() + 7) // 8, "little"),
        deliveries=session.deliveries,
        input_queueing_us=monitor.input_queueing.mean,
        matching_us=monitor.matching.mean,
        outputs=(*outputs, NeighbourDelay("", binding)),
    )


def statistics(trace: BrokerTrace) -> BrokerStatistics:
    return BrokerStatistics(
        trace.broker,
        trace.neighbours,
        int.from_bytes(trace.delivered, "little"),
        trace.deliveries,
        trace.input_queueing_us,
        trace.matching_us,
        {o.neighbour: o.output_queueing_us for o in trace.outputs},
    )
