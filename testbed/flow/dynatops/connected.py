"""TCO: an overlay in which the subscribers of every topic are connected, mended after every slot.

Our reading of "DCB-M for partitions of nodes having changed subscriptions": when a topic is in pieces, the
links between brokers that have changed are taken away and LOW-ODA's links are added until all topics are
connected. What changes are links; a control message each.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from broker_grpc.protocols.topicconnected.components import is_topic_connected
from broker_grpc.protocols.topicconnected.defaults import RHO
from broker_grpc.protocols.topicconnected.overlay import Overlay
from broker_grpc.protocols.topicconnected.repair import join_pieces, pieces_of
from testbed.flow.dynatops.measuring import Flags, Slot, Sums

Link = tuple[int, int]


class Connected:
    """`renew`: whether links between changed brokers are taken away first."""

    def __init__(
        self, brokers: int, topics: int, random: np.random.Generator, renew: bool = True, rho: float = RHO
    ) -> None:
        self._random, self._renew, self._rho = random, renew, rho
        self.links: set[Link] = set()
        self._before: Flags = np.zeros((brokers, topics), bool)
        self.changed_links = 0
        self.reconfigurations = 0
        self.sums = Sums()

    def found(self, subscribed: Flags) -> None:
        """The first links cost nothing."""
        self.adapt(subscribed)
        self.changed_links = self.reconfigurations = 0

    # ------------------------------------------------------------ links

    def adapt(self, subscribed: Flags) -> None:
        changed = set(np.flatnonzero((subscribed != self._before).any(axis=1)).tolist())
        self._before = subscribed.copy()
        old = self.links
        overlay = linked(subscribed, old)
        if is_topic_connected(overlay):
            return
        if self._renew:
            overlay = linked(subscribed, (link for link in old if not set(link) <= changed))
        everybody = overlay.alive
        pieces = {t: pieces_of(overlay, t, everybody) for t in range(len(overlay.subscribers))}
        top = max(overlay.degree, default=0)
        join_pieces(overlay, pieces, everybody, top, self._rho)
        self.links = {(min(a, b), max(a, b)) for a, b in overlay.edges()}
        self.changed_links += len(self.links ^ old)
        self.reconfigurations += 1

    # ------------------------------------------------------------ events

    def slot_over(self, slot: Slot, publishers: npt.NDArray[np.int64]) -> None:
        """One publisher's broker per topic: from it over the links between subscribers, the shortest ways."""
        self.adapt(slot.users > 0)
        wanted = slot.users.T > 0  # [t, b]
        inside = wanted[np.arange(len(wanted)), publishers]
        distance = self._distances(wanted, self._entered(wanted, publishers, inside))
        reached = np.where(wanted & (distance >= 0), distance + ~inside[:, None], 0)
        events = slot.events
        one = Sums(float(events.sum()))
        members = wanted.sum(axis=1)
        one.to_root = float(events[(members > 0) & ~inside].sum())
        one.in_tree = float(events @ np.maximum(members - 1, 0))
        weight = slot.users.T * events[:, None]
        one.deliveries, one.arrivals = float(weight.sum()), float(events @ members)
        one.delay = float((weight * reached).sum())
        one.down_delay = one.delay - float((weight.sum(axis=1) * ~inside).sum())
        one.up_delay = one.delay - one.down_delay
        one.model_delay = float(events @ np.where(wanted, np.maximum(distance, 0), 0).sum(axis=1))
        self.sums.add(one)

    def _entered(
        self, wanted: Flags, publishers: npt.NDArray[np.int64], inside: Flags
    ) -> npt.NDArray[np.int64]:
        """Where the event comes into the topic's part: at the publisher, or one hop away at any member."""
        drawn = np.where(wanted, self._random.random(wanted.shape), -1.0).argmax(axis=1)
        return np.where(inside, publishers, drawn)

    def _distances(self, wanted: Flags, start: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """[t, b]: hops within the topic's part; -1 where it is not reached."""
        near = np.zeros((wanted.shape[1],) * 2, np.float32)
        for a, b in self.links:
            near[a, b] = near[b, a] = 1
        topics = np.arange(len(wanted))
        distance = np.full(wanted.shape, -1)
        front = np.zeros(wanted.shape, bool)
        front[topics, start] = wanted[topics, start]
        hops = 0
        while front.any():
            distance[front] = hops
            hops += 1
            front = (front.astype(np.float32) @ near > 0) & wanted & (distance < 0)
        return distance


def linked(subscribed: Flags, links: Iterable[Link]) -> Overlay[int, int]:
    overlay: Overlay[int, int] = Overlay()
    for broker, row in enumerate(subscribed):
        overlay.add_node(broker, np.flatnonzero(row).tolist())
    for a, b in links:
        overlay.add_edge(a, b)
    return overlay
