"""A system on a ring: its trees, its messages by purpose, and, with a manager, its reconfigurations."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log2

import numpy as np

from broker_grpc.protocols.dynatops.greedy import NotificationCost, Stopping, dynatops_greedy, moved
from broker_grpc.protocols.dynatops.planning import estimated_rates, is_worth_computing, reconfiguration_cost
from broker_grpc.protocols.dynatops.situation import Flags, Floats, Positions, Situation
from testbed.flow.dynatops.measuring import Slot, Sums, measured
from testbed.flow.dynatops.overlay import Overlay, delays_of


@dataclass(frozen=True)
class Manager:
    """How the reconfiguration manager decides; `period` in hours is T_free."""

    period: float
    delay_weight: float = 1.0
    stopping: Stopping = "first_worst"
    count_root: bool = False


@dataclass
class Reconfigured:
    """One look of the manager: nobody moves when it is not worth it."""

    hour: float
    cost: float  # C(X) as estimated
    worth_computing: bool
    moved: int = 0
    gain: float = 0.0  # Bft - Cst
    bound: float = 0.0  # (7)
    messages: float = 0.0


@dataclass
class Network:
    """`position[b]`: where a broker sits, at first by consistent hashing. `link`: delays between brokers."""

    overlay: Overlay
    position: Positions
    link: Floats | None = None
    manager: Manager | None = None
    sums: Sums = field(default_factory=Sums)
    tree_messages: float = 0.0
    looks: list[Reconfigured] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._joining = self.overlay.joining
        self._rates: dict[str, float] = {}
        self._observed: Floats = np.zeros(len(self.overlay.tree))
        self._seated()

    def _seated(self) -> None:
        broker = np.argsort(self.position).astype(np.int16)
        self._delays = delays_of(self.overlay, broker, self.link)

    # ------------------------------------------------------------ what happens

    def subscriptions_changed(self, changed: list[int]) -> None:
        """Brokers that joined or left trees: codes of `hosting`."""
        broker, topic = np.divmod(np.array(changed, np.int64) // 2, len(self.overlay.tree))
        self.tree_messages += float(self._joining[self.position[broker], topic].sum())

    def slot_over(self, slot: Slot) -> None:
        self.sums.add(measured(self.overlay, self.position, self._delays, slot))
        self._observed += slot.events

    # ------------------------------------------------------------ the manager (algorithm 2)

    def period_over(self, hour: float, subscribed: Flags) -> None:
        manager = self.manager
        assert manager is not None
        observed = {str(topic): float(n) for topic, n in enumerate(self._observed)}
        self._rates = estimated_rates(self._rates, observed)
        self._observed = np.zeros_like(self._observed)
        events = np.array([self._rates[str(topic)] for topic in range(len(self._observed))])
        situation = Situation(
            self.overlay.routes, self.overlay.tree, subscribed, events, manager.delay_weight,
            self._unit_link(), manager.count_root,
        )  # fmt: skip
        cost = NotificationCost(situation, self.position).total()
        look = Reconfigured(hour, cost, is_worth_computing(cost, situation.brokers, situation.topics))
        if look.worth_computing:
            best, look.gain = dynatops_greedy(situation, self.position, manager.stopping)
            self._move(look, best.position, subscribed)
        self.looks.append(look)

    def _unit_link(self) -> Floats | None:
        """In units of the mean, so that w_d = 1 weighs a hop as a message."""
        if self.link is None:
            return None
        between = self.link[~np.eye(len(self.link), dtype=bool)]
        return np.asarray(self.link / between.mean())

    def _move(self, look: Reconfigured, position: Positions, subscribed: Flags) -> None:
        look.moved = moved(self.position, position)
        brokers, topics = subscribed.shape
        look.bound = reconfiguration_cost(brokers, topics, look.moved)
        if look.moved:
            look.messages = self._protocol(position, subscribed)
            self.position = position.copy()
            self._seated()

    def _protocol(self, position: Positions, subscribed: Flags) -> float:
        """The messages of section 5.1.2: the manager's and their acknowledgements, log² |V| for each broker
        that leaves the ring and joins it elsewhere, topic tables by key to who sits at the old place, and the
        joins and leaves of trees by which that place differs from its new broker's subscriptions.
        """
        brokers = len(position)
        there = np.flatnonzero(position != self.position)
        before = np.argsort(self.position)[position[there]]  # who sat there
        tables = self.overlay.apart[position[there], self.position[there]].sum()
        differs = subscribed[there] != subscribed[before]
        repairs = (differs * self._joining[position[there]]).sum()
        return float(6 * brokers + (2 + log2(brokers) ** 2) * there.size + tables + repairs)
