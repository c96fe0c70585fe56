"""What an estimate is held against, for whoever looks on; the decision itself is the difference of costs."""

from __future__ import annotations

from broker_grpc.protocols.clustering.costs import Costs, gains
from broker_grpc.protocols.clustering.merging import Common, Side, merge_delta


def common_users_needed(
    costs: Costs, one: Side, other: Side, topics: int, frequency: float, most: int
) -> float:
    """The fewest common users with which two channels that share these topics merge; -1: not with `most`."""

    def enough(users: int) -> bool:
        return gains(merge_delta(costs, one, other, Common(users, topics, frequency)))

    if not enough(most):
        return -1.0
    low, high = -1, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(high)
