"""Algorithm 2, constructLowEdges: greedy links until the topics are connected.

The pseudo-code re-evaluates every potential edge after every addition. Three facts save that work:

- a contribution only ever falls, so what was once the best of a row (the edges from one node to
  later ones) is an upper bound of what is. Rows stand in buckets by that bound; the first of the highest
  bucket is counted anew, and is either the answer or moves to a lower bucket;
- the contributions of a whole row are counted together, with bit sets: an edge (u, v) contributes
  for topic t when v is among the subscribers of t outside of u's component (`counting.py`);
- a component is one object that all its nodes share, so a merge is one union, and a new entry for
  each node of the smaller side.

Ties go to the edge that comes first by (lower node, higher node).
"""

from __future__ import annotations

from collections.abc import Sequence

from broker_grpc.protocols.topicconnected.buckets import Buckets
from broker_grpc.protocols.topicconnected.counting import counts, most
from broker_grpc.protocols.topicconnected.overlay import bits


class Component:
    """Nodes that a topic has connected, and its other subscribers."""

    __slots__ = ("members", "others", "size")

    def __init__(self, members: int, others: int) -> None:
        self.members = members
        self.others = others
        self.size = members.bit_count()


class LowEdges:
    """Chooses edges among local nodes 0..n-1; sets of them are bits.

    `groups` holds, for each topic to connect, the components of its subscribers among the local
    nodes (nodes joined through nodes outside count as one component).
    `potential[u]` are the later nodes that u may be linked to, `degrees` are those in the whole overlay.
    `max_degree` is that of the pseudo-code's V, of which the local nodes may be a part.
    """

    def __init__(
        self,
        groups: Sequence[Sequence[int]],
        potential: Sequence[int],
        degrees: Sequence[int],
        max_degree: int,
        rho: float,
    ) -> None:
        self.rho = rho
        self.potential = list(potential)
        self.degrees = list(degrees)
        self.max_degree = max_degree
        self.open_pairs = 0  # components still to be merged, over all topics
        # node -> topic -> its component; topics that are connected are taken out
        self.components: list[dict[int, Component]] = [{} for _ in degrees]
        for topic, members in enumerate(groups):
            self._start(topic, members)
        bound = [self._best_of_row(u, after)[0] for u, after in enumerate(self.potential)]
        self.all = Buckets(bound, range(len(bound)))
        self._reset_low()

    def _start(self, topic: int, groups: Sequence[int]) -> None:
        if len(groups) < 2:
            return
        self.open_pairs += len(groups) - 1
        subscribers = 0
        for members in groups:
            subscribers |= members
        for members in groups:
            component = Component(members, subscribers & ~members)
            for v in bits(members):
                self.components[v][topic] = component

    def _reset_low(self) -> None:
        """All nodes below the maximum degree may take a link without raising it."""
        below = [v for v, degree in enumerate(self.degrees) if degree < self.max_degree]
        self.low = sum(1 << v for v in below)
        self.low_rows = Buckets(self.all.bound, below)

    # ------------------------------------------------------------ choosing

    def _best_of_row(self, u: int, among: int) -> tuple[int, int]:
        """The largest contribution of an edge from u to one of `among`, and whom it leads to."""
        return most(counts([component.others for component in self.components[u].values()]), among)

    def _find_low_edge(self) -> tuple[int, int]:
        """findLowEdge(rho). e1, the best of all edges, need not be known where its bound decides.

        Where every edge raises the maximum degree, e2 is e1.
        """
        low, e2 = self._best_low()
        rows = self.all
        while (row := rows.first()) >= 0:
            if rows.top <= self.rho * low:
                return e2
            best, partners = self._best_of_row(row, self.potential[row])
            if best == rows.top:
                return row, _lowest(partners)
            rows.lower(row, best)
        raise ValueError("the potential edges cannot connect the topics")

    def _best_low(self) -> tuple[int, tuple[int, int]]:
        """Contribution of e2, and e2: the best among edges that do not raise the maximum degree."""
        rows = self.low_rows
        while (row := rows.first()) >= 0:
            best, partners = self._best_of_row(row, self.potential[row] & self.low)
            if best == rows.top:
                return best, (row, _lowest(partners))
            rows.lower(row, best)
        return 0, (-1, -1)

    # ------------------------------------------------------------ adding

    def _merge(self, u: int, v: int) -> None:
        theirs = self.components[v]
        for topic, one in list(self.components[u].items()):
            other = theirs.get(topic)
            if other is None or other is one:
                continue
            self.open_pairs -= 1
            outside = one.others & ~other.members
            if not outside:
                for w in bits(one.members | other.members):
                    del self.components[w][topic]
                continue
            larger, smaller = (one, other) if one.size >= other.size else (other, one)
            for w in bits(smaller.members):
                self.components[w][topic] = larger
            larger.members |= smaller.members
            larger.size += smaller.size
            larger.others = outside

    def _raise_degrees(self, u: int, v: int) -> None:
        for node in (u, v):
            self.degrees[node] += 1
        top = max(self.degrees[u], self.degrees[v])
        if top > self.max_degree:
            self.max_degree = top
            self._reset_low()
            return
        for node in (u, v):
            if self.degrees[node] == self.max_degree:
                self.low &= ~(1 << node)
                self.low_rows.remove(node)

    def choose(self) -> list[tuple[int, int]]:
        """The new edges, in the order in which they were chosen."""
        chosen = []
        while self.open_pairs:
            u, v = self._find_low_edge()
            chosen.append((u, v))
            self._merge(u, v)
            self.potential[u] &= ~(1 << v)
            self._raise_degrees(u, v)
        return chosen


def _lowest(nodes: int) -> int:
    return (nodes & -nodes).bit_length() - 1


def later_nodes(n: int) -> list[int]:
    """All pairs, each at its lower node."""
    return [(1 << n) - (2 << u) for u in range(n)]
