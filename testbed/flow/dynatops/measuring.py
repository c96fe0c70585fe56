"""What the events of a time slot take, with the subscriptions at its end ((1) and (2) of the paper)."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from broker_grpc.protocols.dynatops.routes import NOWHERE
from broker_grpc.protocols.dynatops.situation import Floats, Positions
from testbed.flow.dynatops.overlay import Delays, Overlay

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Slot:
    """`users[b, t]`: who are at a broker and want a topic. `published[b, t]`: events by their publishers'
    brokers; a share of an event where anybody may be the publisher. `access`: the delay between users and
    their brokers, summed over publishers and over deliveries."""

    users: npt.NDArray[np.int32]
    published: Floats
    access_up: float = 0.0
    access_down: float = 0.0

    @property
    def events(self) -> Floats:
        return np.asarray(self.published.sum(axis=0))


@dataclass
class Sums:
    """Of all events so far. Deliveries are to users, arrivals at subscribed brokers."""

    events: float = 0.0
    deliveries: float = 0.0
    arrivals: float = 0.0
    to_root: float = 0.0  # messages from the publisher's broker to the rendezvous point
    in_tree: float = 0.0  # messages down the trees
    relays: float = 0.0  # of them those that unrelated relays consume
    idle_roots: float = 0.0  # events whose rendezvous point does not subscribe
    delay: float = 0.0  # summed over deliveries, all legs
    up_delay: float = 0.0  # of it: from the publisher's broker to the rendezvous point
    down_delay: float = 0.0  # of it: from there to the user's broker
    model_delay: float = 0.0  # (2): summed over arrivals, from the rendezvous point

    def add(self, other: Sums) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


def measured(overlay: Overlay, position: Positions, delays: Delays, slot: Slot) -> Sums:
    """`position[b]`: where a broker sits."""
    events, tree = slot.events, overlay.tree
    broker, topic = np.nonzero(slot.users)
    place, root = position[broker], tree[topic]
    inside, edges = trees(overlay, place, topic, len(events))
    at_root = np.zeros(len(events), bool)
    at_root[topic[place == overlay.routes.root[root]]] = True
    wanted = np.bincount(topic, minlength=len(events))
    idle = (wanted > 0) & ~at_root
    found = Sums(float(events.sum()), idle_roots=float(events[idle].sum()))
    found.in_tree = float(events @ edges)
    found.relays = float(events @ (inside.sum(axis=1) - wanted - idle))
    found.to_root = float((slot.published * overlay.up[position][:, tree]).sum())
    down = delays.down[root, place]
    weight = slot.users[broker, topic] * events[topic]
    found.deliveries, found.arrivals = float(weight.sum()), float(events[topic].sum())
    found.model_delay = float(events[topic] @ down)
    up = (slot.published * delays.up[position][:, tree]).sum(axis=0)  # summed over the topic's events
    everybody = np.bincount(topic, weights=slot.users[broker, topic], minlength=len(events))
    found.up_delay, found.down_delay = float(up @ everybody), float(weight @ down)
    found.delay = found.up_delay + found.down_delay + slot.access_up + slot.access_down
    return found


def trees(
    overlay: Overlay, place: Positions, topic: npt.NDArray[np.int64], topics: int
) -> tuple[Flags, npt.NDArray[np.int64]]:
    """[t, v]: whether v is in the tree of t, and [t]: its edges. The tree of nobody is empty."""
    routes = overlay.routes
    inside = np.zeros((topics, overlay.positions), bool)
    for level in range(routes.ancestor.shape[2]):
        on_route = routes.ancestor[overlay.tree[topic], place, level]
        valid = on_route != NOWHERE
        inside[topic[valid], on_route[valid]] = True
    return inside, np.maximum(inside.sum(axis=1) - 1, 0)
