"""What a broadcast or a request must be before anything is decided by it. All raise ProtocolError."""

from __future__ import annotations

import math
from collections.abc import Iterable

from broker_grpc.errors import ProtocolError
from broker_grpc.protocols.selforganising.bloom import size_in_bytes
from protos.selforganising_messages import InterestBroadcast, LinkRequest

FARTHEST = 64  # hops of a broadcast, whatever a sender's eta is


def check_broadcast(broadcast: InterestBroadcast, peer: str, bits: int) -> None:
    path = broadcast.path
    if not path or path[-1].broker != peer:
        raise ProtocolError(f"a broadcast from {peer} whose path does not end there")
    if not 1 <= broadcast.ttl <= FARTHEST or len(path) > FARTHEST:
        raise ProtocolError(f"a broadcast of {path[0].broker} with a time to live of {broadcast.ttl}")
    if len(broadcast.filter) != size_in_bytes(bits):
        got, due = len(broadcast.filter), size_in_bytes(bits)
        raise ProtocolError(f"a filter of {path[0].broker} with {got} bytes, where {due} are due")
    _check_distinct([one.broker for one in path])
    _check_costs([cost for one in path for cost in (one.processing, one.link)])


def check_request(request: LinkRequest, peer: str, me: str) -> None:
    """It goes along the cycle from the proposer, and has come from the broker before this one."""
    brokers = request.brokers
    if not 3 <= len(brokers) <= FARTHEST or me not in brokers[1:]:
        raise ProtocolError(f"a request around a cycle that {me} is no part of")
    if brokers[brokers.index(me) - 1] != peer:
        raise ProtocolError(f"a request from {peer}, which is not before {me} on its cycle")
    if not len(request.processing) == len(request.links) == len(request.costs) == len(brokers):
        raise ProtocolError("a request without a cost for each broker and link of its cycle")
    _check_distinct(brokers)
    _check_costs((*request.processing, *request.links))
    if not all(map(math.isfinite, request.costs)):
        raise ProtocolError("a request with a sum that is no number")


def _check_distinct(brokers: Iterable[str]) -> None:
    names = list(brokers)
    if len(set(names)) < len(names) or "" in names:
        raise ProtocolError("a path that is none: a broker is on it twice")


def _check_costs(costs: Iterable[float]) -> None:
    for cost in costs:
        if not (math.isfinite(cost) and cost >= 0):
            raise ProtocolError(f"a cost of {cost}")
