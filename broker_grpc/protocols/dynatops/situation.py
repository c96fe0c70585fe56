"""What a configuration is judged by: who subscribes to what, the events of each topic, who sits where."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from broker_grpc.protocols.dynatops.routes import Routes

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Positions = npt.NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class Situation:
    """`subscribed[b, p]`, `events[p]`: N_p of the period, `tree[p]`: the topic's root as an index into
    `routes`.

    `link_delay[a, b]`: symmetric, between brokers wherever they sit; None counts every hop as 1.
    `count_root`: whether a rendezvous point that does not subscribe is an unrelated relay (the paper counts
    consumed messages).
    """

    routes: Routes
    tree: Positions
    subscribed: Flags
    events: Floats
    delay_weight: float = 1.0
    link_delay: Floats | None = None
    count_root: bool = False
    root: Positions = field(init=False)  # of each topic

    def __post_init__(self) -> None:
        brokers, topics = self.subscribed.shape
        if brokers != self.routes.positions:
            raise ValueError(f"{brokers} brokers on {self.routes.positions} positions")
        if self.tree.shape != (topics,) or self.events.shape != (topics,):
            raise ValueError(
                f"{topics} topics, but {self.tree.size} roots and {self.events.size} event counts"
            )
        object.__setattr__(self, "root", self.routes.root[self.tree])

    @property
    def brokers(self) -> int:
        return int(self.subscribed.shape[0])

    @property
    def topics(self) -> int:
        return int(self.subscribed.shape[1])


class Seats:
    """Who sits where: X of the paper, changed by swaps."""

    def __init__(self, position: npt.ArrayLike) -> None:
        self.position: Positions = np.array(position, dtype=np.int16)  # of each broker
        self.broker: Positions = np.argsort(self.position).astype(np.int16)  # at each position
        if not np.array_equal(self.position[self.broker], np.arange(self.position.size)):
            raise ValueError("every position is for one broker")

    def swap(self, v: int, w: int) -> None:
        self.broker[[v, w]] = self.broker[[w, v]]
        self.position[self.broker[[v, w]]] = v, w
