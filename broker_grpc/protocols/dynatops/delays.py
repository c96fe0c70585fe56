"""The delay of all topic trees (2, 4): from the rendezvous point to each subscribed broker, times the events.

With hops as delays a broker's cost at a position depends on nobody else: one matrix holds all of them. With
delays between brokers it is a quadratic assignment: flows over the edges between positions times delays
between the brokers that sit there. A swap first changes the delays under the old flows, then moves the two
brokers' own subscriptions.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from broker_grpc.protocols.dynatops.relays import Relays
from broker_grpc.protocols.dynatops.routes import NOWHERE
from broker_grpc.protocols.dynatops.situation import Floats, Seats, Situation


class Delays(Protocol):
    def cost(self) -> Floats:
        """[v]: the delay cost of whoever sits there (11)."""

    def change(self, v: int) -> Floats:
        """[w]: by how much D changes when the brokers at v and w change places."""

    def swapped(self, v: int, w: int) -> None:
        """The seats have changed, and the relays know it."""


def delays_of(situation: Situation, seats: Seats, relays: Relays) -> Delays:
    if situation.link_delay is None:
        return HopDelays(situation, seats)
    return LinkDelays(situation, seats, relays, situation.link_delay)


class HopDelays:
    def __init__(self, situation: Situation, seats: Seats) -> None:
        self.seats = seats
        weight = situation.subscribed * situation.events
        self._at: Floats = weight @ situation.routes.depth[situation.tree].astype(np.float64)  # [b, v]

    def cost(self) -> Floats:
        return np.asarray(self._at[self.seats.broker, np.arange(self.seats.broker.size)])

    def change(self, v: int) -> Floats:
        now = self.cost()
        there = self._at[self.seats.broker[v]]
        back = self._at[self.seats.broker, v]
        return np.asarray(there + back - now - now[v])

    def swapped(self, v: int, w: int) -> None:
        """Nothing to do: costs are looked up by seat."""


class LinkDelays:
    def __init__(self, situation: Situation, seats: Seats, relays: Relays, link_delay: Floats) -> None:
        self.situation, self.seats, self.relays = situation, seats, relays
        routes = situation.routes
        self._delay: Floats = link_delay[np.ix_(seats.broker, seats.broker)]  # between positions
        self._levels = [np.nonzero(routes.depth == d) for d in range(1, int(routes.depth.max(initial=0)) + 1)]
        self._path: Floats = np.zeros(routes.parent.shape)  # [k, v]: from the k-th root
        self._flow: Floats = np.zeros((situation.brokers, situation.brokers))  # events over [u, w], both ways
        self._counted = np.zeros_like(relays.below)  # what `_flow` was made of
        self._wanted: Floats = np.zeros(routes.parent.shape)  # [k, v]: events for v by the k-th root
        self._recount(np.arange(situation.topics))

    def cost(self) -> Floats:
        return np.asarray((self._wanted * self._path).sum(axis=0))

    # ------------------------------------------------------------ state

    def swapped(self, v: int, w: int) -> None:
        self._delay[[v, w]] = self._delay[[w, v]]
        self._delay[:, [v, w]] = self._delay[:, [w, v]]
        self._recount(np.nonzero((self._counted != self.relays.below).any(axis=1))[0])

    def _recount(self, topics: npt.NDArray[np.intp]) -> None:
        routes = self.situation.routes
        for topic in topics:
            parent = routes.parent[self.situation.tree[topic]]
            more = (self.relays.below[topic] - self._counted[topic]) * self.situation.events[topic]
            edge = (parent != NOWHERE) & (more != 0)
            # Each position has one parent, so no edge stands twice in a tree.
            self._flow[parent[edge], np.nonzero(edge)[0]] += more[edge]
            self._flow[np.nonzero(edge)[0], parent[edge]] += more[edge]
        self._counted[topics] = self.relays.below[topics]
        self._wanted[:] = 0
        np.add.at(self._wanted, self.situation.tree, self.relays.here * self.situation.events[:, None])
        for tree, node in self._levels:
            parent = routes.parent[tree, node]
            self._path[tree, node] = self._path[tree, parent] + self._delay[parent, node]

    # ------------------------------------------------------------ swaps

    def change(self, v: int) -> Floats:
        moving = self._wanted[:, v][:, None] - self._wanted
        moved = moving * (self._route_of_others(v) - self._own_route(v))
        change: Floats = self._old_flows(v) + moved.sum(axis=0)
        return change

    def _old_flows(self, v: int) -> Floats:
        """The quadratic assignment's change: the flow between v and w itself keeps its delay."""
        flow, delay = self._flow, self._delay
        ours = flow[v] @ delay[v]
        theirs = np.einsum("ij,ij->i", flow, delay)
        return np.asarray(delay @ flow[v] + flow @ delay[v] - ours - theirs + 2 * flow[v] * delay[v])

    def _route_of_others(self, v: int) -> Floats:
        """[k, w]: the route to w when the broker of v sits there, and that of w at v."""
        routes, delay = self.situation.routes, self._delay
        trees, everybody = np.arange(routes.parent.shape[0])[:, None], np.arange(routes.positions)
        parent = routes.parent
        found = np.where(parent == NOWHERE, 0.0, self._path[trees, parent] + delay[v][parent])
        depth = routes.depth[:, v].astype(np.intp)
        at_depth = np.take_along_axis(routes.ancestor, depth[:, None, None], axis=2)[:, :, 0]
        tree, w = np.nonzero((at_depth == v) & (everybody != v))  # v is on the route to w
        above = parent[tree, v]
        found[tree, w] += np.where(above == NOWHERE, 0.0, delay[above, w] - delay[above, v])
        child = routes.ancestor[tree, w, depth[tree] + 1]
        found[tree, w] += np.where(child == w, delay[v, w], delay[w, child] - delay[v, child])
        return np.asarray(found)

    def _own_route(self, v: int) -> Floats:
        """[k, w]: the route to v when the broker of w sits there, and that of v at w."""
        routes, delay = self.situation.routes, self._delay
        above = routes.parent[:, v]
        base = np.where(
            (above == NOWHERE)[:, None], 0.0, self._path[np.arange(above.size), above][:, None] + delay[above]
        )
        on_route = routes.ancestor[:, v, :]
        tree, level = np.nonzero((on_route != NOWHERE) & (on_route != v))
        w = on_route[tree, level]
        over = routes.parent[tree, w]
        base[tree, w] += np.where(over == NOWHERE, 0.0, delay[over, v] - delay[over, w])
        child = on_route[tree, level + 1]
        base[tree, w] += np.where(child == v, delay[v, w], delay[v, child] - delay[w, child])
        return np.asarray(base)
