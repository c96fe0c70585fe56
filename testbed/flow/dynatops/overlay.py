"""A settled ring as arrays: the trees from all rendezvous points, and the ways to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from broker_grpc.protocols.dynatops.routes import NOWHERE, Routes
from broker_grpc.protocols.dynatops.situation import Floats, Positions
from broker_grpc.protocols.ring.converged import Converged
from broker_grpc.protocols.ring.next_hops import next_hops, top_down_parents

Hops = npt.NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class Overlay:
    """Positions are numbered by id. `routes`: from each distinct root. `tree[t]`: which of them is the
    topic's. `toward[v, k]`: the next hop from v to the k-th root; `NOWHERE` at the root. `apart[v, w]`: hops
    from v to w.
    """

    routes: Routes
    tree: Positions
    toward: Hops
    apart: Hops

    @property
    def positions(self) -> int:
        return self.routes.positions

    @property
    def up(self) -> Hops:
        """[v, k]: hops from v to the k-th root."""
        return self._up

    def __post_init__(self) -> None:
        object.__setattr__(self, "_up", _lengths(self.toward))

    @property
    def joining(self) -> npt.NDArray[np.int32]:
        """[v, t]: messages of a join or a leave (top-down trees): to the root, and from it to v."""
        both = self._up + self.routes.depth.T.astype(np.int32)
        return np.asarray(both[:, self.tree], dtype=np.int32)

    _up: Hops = None  # type: ignore[assignment]


def overlay_of(ring: Converged, keys: Sequence[int]) -> Overlay:
    """Not for Pastry."""
    hops = next_hops(ring)
    index = {member.broker: at for at, member in enumerate(ring.members)}
    roots = np.array([index[ring.responsible(key)] for key in keys])
    distinct, tree = np.unique(roots, return_inverse=True)
    routes = Routes([top_down_parents(hops, int(root)) for root in distinct])
    toward = np.stack([_toward(hops, int(root), ring.settings.kind == "chord") for root in distinct], axis=1)
    return Overlay(routes, tree.astype(np.int16), toward.astype(np.int16), _apart(hops))


def _toward(hops: npt.NDArray[np.int64], root: int, chord: bool) -> npt.NDArray[np.int64]:
    """With prefixes the way to a key is that to its root. On Chord it is that to the last broker before the
    key, and from there one hop: the root itself is past the key.
    """
    count = len(hops)
    before = (root - 1) % count if chord else root
    found = hops[:, before].copy()
    found[before] = root
    found[root] = NOWHERE
    return found


def _apart(hops: npt.NDArray[np.int64]) -> Hops:
    count = len(hops)
    target = np.broadcast_to(np.arange(count), (count, count))
    at = np.broadcast_to(np.arange(count)[:, None], (count, count))
    found: Hops = np.zeros((count, count), np.int16)
    while (going := at != target).any():
        found += going
        at = hops[at, target]
    return found


def _lengths(toward: Hops) -> Hops:
    columns = np.arange(toward.shape[1])
    found: Hops = np.zeros(toward.shape, np.int16)
    at = toward.copy()
    while (going := at != NOWHERE).any():
        found += going
        at = np.where(going, toward[at, columns], NOWHERE).astype(np.int16)
    return found


@dataclass(frozen=True, eq=False)
class Delays:
    """Of one delivery, with the brokers where they sit: `up[v, k]` to a root and `down[k, v]` from it."""

    up: Floats
    down: Floats


def delays_of(overlay: Overlay, broker: Positions, link: Floats | None) -> Delays:
    """`broker[v]`: who sits at v. `link[a, b]`: between brokers; None counts hops."""
    if link is None:
        return Delays(overlay.up.astype(np.float64), overlay.routes.depth.astype(np.float64))
    between = link[np.ix_(broker, broker)]
    return Delays(_up_delays(overlay, between), _down_delays(overlay.routes, between))


def _up_delays(overlay: Overlay, between: Floats) -> Floats:
    columns = np.arange(overlay.toward.shape[1])
    found = np.zeros(overlay.toward.shape)
    at = np.broadcast_to(np.arange(overlay.positions)[:, None], found.shape)
    for _ in range(int(overlay.up.max(initial=0))):
        onward = overlay.toward[at, columns]
        found += np.where(onward == NOWHERE, 0.0, between[at, onward])
        at = np.where(onward == NOWHERE, at, onward)
    return found


def _down_delays(routes: Routes, between: Floats) -> Floats:
    found = np.zeros(routes.parent.shape)
    for depth in range(1, int(routes.depth.max(initial=0)) + 1):
        tree, node = np.nonzero(routes.depth == depth)
        parent = routes.parent[tree, node]
        found[tree, node] = found[tree, parent] + between[parent, node]
    return found
