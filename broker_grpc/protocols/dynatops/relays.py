"""Unrelated relays of all topic trees (1, 3), and what each possible swap of one broker would make of them.

`below[p, v]` counts the subscribed positions at or below v on the routes of topic p. A position belongs to
the tree when it is not zero. Moving a subscription from x to y changes it on the two routes but not on their
common part, so that

    positions gained = those on the route of y with below = 0,
    positions lost   = those on the route of x with below = 1 that are not on the route of y;

the former end the route of y, the latter end that of x: two counts per position and topic say it all.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from broker_grpc.protocols.dynatops.routes import NOWHERE
from broker_grpc.protocols.dynatops.situation import Floats, Seats, Situation

Counts = npt.NDArray[np.int32]


class Relays:
    def __init__(self, situation: Situation, seats: Seats) -> None:
        self.situation, self.seats = situation, seats
        shape = (situation.topics, situation.brokers)
        self.here = situation.subscribed[seats.broker].T.copy()  # [p, v]: who sits at v subscribes to p
        self.below = np.zeros(shape, dtype=np.int32)
        self.zeros = np.zeros(shape, dtype=np.int8)  # on the route to v, the root left out: below = 0 ...
        self.ones = np.zeros(shape, dtype=np.int8)  # ... and below = 1
        self.cost = np.zeros(situation.brokers)  # [v]: what whoever sits there relays for others
        for topic in range(situation.topics):
            self._count(topic)

    def total(self) -> float:
        """O_relay."""
        return float(self.cost.sum())

    # ------------------------------------------------------------ a topic's tree

    def _count(self, topic: int) -> None:
        ancestor = self.situation.routes.ancestor[self.situation.tree[topic]]
        on_routes = ancestor[self.here[topic]]
        self.below[topic] = np.bincount(on_routes[on_routes != NOWHERE], minlength=self.situation.brokers)
        below = self.below[topic][ancestor[:, 1:]]
        valid = ancestor[:, 1:] != NOWHERE
        self.zeros[topic] = ((below == 0) & valid).sum(axis=1)
        self.ones[topic] = ((below == 1) & valid).sum(axis=1)
        self.cost += self._relayed(topic)

    def _relayed(self, topic: int) -> Floats:
        relays = (self.below[topic] > 0) & ~self.here[topic]
        if not self.situation.count_root:
            relays[self.situation.root[topic]] = False
        return np.asarray(relays * self.situation.events[topic], dtype=np.float64)

    # ------------------------------------------------------------ swaps

    def change(self, v: int) -> Floats:
        """[w]: by how much O_relay changes when the brokers at v and w change places."""
        return self._moved_out(v) + self._moved_in(v)

    def _moved_out(self, v: int) -> Floats:
        """Subscriptions of the broker at v that the one at w has not: from v to w."""
        situation = self.situation
        topics = np.nonzero(self.here[:, v])[0]
        trees = situation.tree[topics]
        own = situation.routes.depth[trees, v][:, None] - self._common(trees[:, None], v, slice(None))
        lost = np.minimum(self.ones[topics, v][:, None], own)
        gained = self.zeros[topics].astype(np.int16)
        if not situation.count_root:  # a root that begins to subscribe was no relay before
            np.add.at(gained, (np.arange(topics.size), situation.root[topics]), 1)
            gained -= (situation.root[topics] == v)[:, None]
        moving = ~self.here[topics] * situation.events[topics][:, None]
        return np.asarray(((gained - lost) * moving).sum(axis=0))

    def _moved_in(self, v: int) -> Floats:
        """Subscriptions of the broker at w that the one at v has not: from w to v."""
        situation = self.situation
        topics, other = np.nonzero(self.here & ~self.here[:, v][:, None])
        trees = situation.tree[topics]
        own = situation.routes.depth[trees, other] - self._common(trees, v, other)
        lost = np.minimum(self.ones[topics, other], own)
        gained = self.zeros[topics, v].astype(np.int16)
        if not situation.count_root:
            gained += situation.root[topics] == v
            gained -= situation.root[topics] == other
        moving = (gained - lost) * situation.events[topics]
        return np.bincount(other, moving, minlength=situation.brokers).astype(np.float64)

    def _common(self, trees: npt.NDArray[np.int16], v: int, other: slice | npt.NDArray[np.intp]) -> Counts:
        """How many hops the routes to v and to the others have in common."""
        ancestor = self.situation.routes.ancestor
        if isinstance(other, slice):
            ours, theirs = ancestor[trees[:, 0], v][:, None], ancestor[trees[:, 0]]
        else:
            ours, theirs = ancestor[trees, v], ancestor[trees, other]
        same = (ours == theirs) & (ours != NOWHERE)
        return np.asarray(same.sum(axis=-1, dtype=np.int32) - 1)

    def swapped(self, v: int, w: int) -> None:
        """The seats have changed: only topics to which one of the two subscribes move."""
        changed = np.nonzero(self.here[:, v] != self.here[:, w])[0]
        for topic in changed.tolist():
            self.cost -= self._relayed(topic)
        self.here[:, [v, w]] = self.here[:, [w, v]]
        for topic in changed.tolist():
            self._count(topic)
