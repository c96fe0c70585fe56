"""Where a user goes: similarity, load and utility (section 4), evaluated at every (un)subscription."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass


@dataclass(frozen=True)
class BrokerState:
    """What a broker tells the others of its cluster every T_update: S_b and its share of the load."""

    topics: Set[str]
    subscriptions: int  # of its users: one per user and topic


def similarity(subscribed: Set[str], wanted: Collection[str]) -> float:
    """Sim = |S_b ∩ s_u| / |s_u|; a user without topics is like everybody."""
    if not wanted:
        return 1.0
    return sum(topic in subscribed for topic in wanted) / len(wanted)


def load(subscriptions: int, total: int) -> float:
    """L_b: the share of all user subscriptions that the broker has."""
    return subscriptions / total if total else 0.0


def utility(similar: float, loaded: float, load_weight: float) -> float:
    """Util = Sim - w_l L_b."""
    return similar - load_weight * loaded


def best_broker(
    wanted: Collection[str],
    current: str,
    cluster: Mapping[str, BrokerState],
    load_weight: float,
    total: int | None = None,
) -> str:
    """Algorithm 1, steps 2 and 3: the broker of the largest utility.

    `cluster`: the visible brokers with what they told last, the current one among them. `total`:
    subscriptions of all users; the cluster's, when None. A user stays where nobody is better; else the
    smallest id of the best.
    """
    everybody = sum(state.subscriptions for state in cluster.values()) if total is None else total
    worth = {
        broker: utility(similarity(state.topics, wanted), load(state.subscriptions, everybody), load_weight)
        for broker, state in cluster.items()
    }
    best = max(worth.values())
    if worth.get(current) == best:
        return current
    return min(broker for broker, value in worth.items() if value == best)
