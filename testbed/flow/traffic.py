"""Who publishes when, and who is subscribed: the clients of a plan, as arrays.

Times are those of the simulator: the same seeded schedule, from the same start of the clients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy
from numpy.typing import NDArray

from testbed.errors import InputError
from testbed.topology.plan import Client
from testbed.workload.schedule import offsets_us
from testbed.workload.topics import topic_filter

Times = NDArray[numpy.int64]


@dataclass(frozen=True)
class Stay:
    """Subscribers of a flow at a broker, from an instant to another (not included)."""

    broker: int
    begin_us: int
    end_us: int


@dataclass(frozen=True)
class Flow:
    """What one publisher publishes: from where, when, and to whom it goes."""

    publisher: int  # broker
    topic: str
    times_us: Times
    stays: tuple[Stay, ...]


@dataclass(frozen=True)
class Traffic:
    flows: tuple[Flow, ...]
    brokers: int
    end_us: int


def traffic_of(
    clients: Sequence[Client], brokers: Mapping[str, int], end_us: int, start_us: int = 0
) -> Traffic:
    """Of clients that all start at `start_us`. Only topics can be counted: one per publisher."""
    stays: dict[str, list[Stay]] = {}
    for client in clients:
        for one in client.subscriptions:
            end = min(end_us, start_us + one.until_us) if one.until_us else end_us
            stays.setdefault(one.filter, []).append(Stay(brokers[client.broker], start_us + one.at_us, end))
    publishers = [client for client in clients if client.publications is not None]
    flows = [_flow(client, stays, brokers[client.broker], start_us, end_us) for client in publishers]
    return Traffic(tuple(flows), len(brokers), end_us)


def _flow(client: Client, stays: Mapping[str, list[Stay]], broker: int, start_us: int, end_us: int) -> Flow:
    plan = client.publications
    assert plan is not None
    topic = plan.parameters.get("topic")
    if plan.source != "topic" or topic is None:
        raise InputError(
            f"{client.id}: flow counts publishers of one topic, not of the source {plan.source!r}",
            hint="publish: {source: topic, parameters: {topic: ...}}",
        )
    times = takewhile(lambda at: start_us + at < end_us, offsets_us(plan, client.seed))
    published = numpy.fromiter((start_us + at for at in times), dtype=numpy.int64)
    return Flow(broker, str(topic), published, tuple(stays.get(topic_filter(str(topic)), ())))
