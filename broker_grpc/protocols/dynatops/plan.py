"""What the manager decides once a period (algorithm 2, steps 2 and 3). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Literal

import numpy as np

from broker_grpc.protocols.dynatops.configuration import Configuration, members
from broker_grpc.protocols.dynatops.greedy import NotificationCost, dynatops_greedy, moved
from broker_grpc.protocols.dynatops.planning import is_worth_computing, reconfiguration_cost
from broker_grpc.protocols.dynatops.routes import Routes
from broker_grpc.protocols.dynatops.settings import ManagerSettings
from broker_grpc.protocols.dynatops.situation import Floats, Situation
from broker_grpc.protocols.ring.converged import Converged
from broker_grpc.protocols.ring.identifiers import key_of
from broker_grpc.protocols.ring.next_hops import next_hops, top_down_parents

Outcome = Literal["planned", "low_demand", "not_worth_it"]
RoundTrip = tuple[str, str]


@dataclass(frozen=True)
class Known:
    """Of a period: X, S_b, N_p of the next period, and round trips where they were measured."""

    configuration: Configuration
    subscribed: Mapping[str, Set[str]]
    events: Mapping[str, float]
    rtts_us: Mapping[RoundTrip, int]


@dataclass(frozen=True)
class Decision:
    outcome: Outcome
    configuration: Configuration  # X', or X
    brokers: int
    topics: int
    moved: int = 0  # Γ
    cost: float = 0.0  # C(X)
    after: float = 0.0  # C(X')
    price: float = 0.0  # Cst(X, X')

    @property
    def benefit(self) -> float:
        return self.cost - self.after


def decide(known: Known, settings: ManagerSettings) -> Decision:
    brokers = sorted(known.configuration)
    topics = sorted(set(known.events).union(*known.subscribed.values()))
    if not topics:
        return Decision("low_demand", known.configuration, len(brokers), 0)
    situation, position = situation_of(known, settings, brokers, topics)
    cost = NotificationCost(situation, position).total()
    size = len(brokers), len(topics)
    if not is_worth_computing(cost, *size, settings.demand):
        return Decision("low_demand", known.configuration, *size, 0, cost, cost)
    best, gain = dynatops_greedy(situation, position, settings.stopping)
    changes = moved(position, best.position)
    if gain <= 0:
        return Decision("not_worth_it", known.configuration, *size, 0, cost, cost)
    ids = sorted(known.configuration.values())
    seats = {name: ids[int(at)] for name, at in zip(brokers, best.position, strict=True)}
    price = reconfiguration_cost(*size, changes)
    return Decision("planned", seats, *size, changes, cost, best.cost, price)


def situation_of(
    known: Known, settings: ManagerSettings, brokers: list[str], topics: list[str]
) -> tuple[Situation, np.ndarray[tuple[int], np.dtype[np.int16]]]:
    """Positions are ids in their order; routes between them do not depend on who is where."""
    ring = Converged(members(known.configuration), settings.ring)
    at = {member.broker: index for index, member in enumerate(ring.members)}
    roots = [at[ring.responsible(key_of(topic))] for topic in topics]
    distinct = sorted(set(roots))
    hops = next_hops(ring)
    routes = Routes(np.stack([top_down_parents(hops, root) for root in distinct]))
    subscribed = np.array([[topic in known.subscribed.get(name, ()) for topic in topics] for name in brokers])
    events = np.array([known.events.get(topic, 0.0) for topic in topics], dtype=np.float64)
    tree = np.array([distinct.index(root) for root in roots], dtype=np.int16)
    delay = link_delay(brokers, known.rtts_us) if settings.delays == "measured" else None
    situation = Situation(routes, tree, subscribed, events, settings.delay_weight, delay)
    return situation, np.array([at[name] for name in brokers], dtype=np.int16)


def link_delay(brokers: list[str], rtts_us: Mapping[RoundTrip, int]) -> Floats:
    """Of one hop in units of the mean, the same both ways; a pair that nobody measured is like the mean."""
    measured = np.full((len(brokers), len(brokers)), np.nan)
    index = {name: at for at, name in enumerate(brokers)}
    for (one, other), rtt in rtts_us.items():
        if one in index and other in index:
            measured[index[one], index[other]] = rtt
    both = np.where(
        np.isnan(measured), measured.T, np.where(np.isnan(measured.T), measured, (measured + measured.T) / 2)
    )
    mean = np.nanmean(both) if not np.isnan(both).all() else 1.0
    found = np.where(np.isnan(both), 1.0, both / (mean or 1.0))
    np.fill_diagonal(found, 0.0)
    return np.asarray(found)
