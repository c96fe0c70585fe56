"""What a broker knows (SRT, PRT) and what it has told each neighbour.

SRT and PRT are both a `Table`: advertisements, or subscriptions, with their last hop. `Export` is the
other side of the same coin: what one neighbour was told out of a table, with covering.
"""

from __future__ import annotations

from collections.abc import Iterable

from broker_grpc.content.covering import Covering, intersects
from broker_grpc.content.filters import Filter
from broker_grpc.content.index import FilterIndex
from protos.client_messages import Advertisement, Subscription


class Route:
    """One advertisement or subscription and the hop (broker or client) it came from."""

    __slots__ = ("filter", "hop", "hops", "id", "message")

    def __init__(self, message: Advertisement | Subscription, filter_: Filter, hop: str, hops: int) -> None:
        self.id = message.id
        self.message = message
        self.filter = filter_
        self.hop = hop
        self.hops = hops  # overlay links crossed by the message when it came here


class Ids:
    """In place of an index where nobody asks which filters relate to another: a tenth of its memory."""

    __slots__ = ("_ids",)

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, id_: str) -> bool:
        return id_ in self._ids

    def ids(self) -> list[str]:
        return list(self._ids)

    def add(self, id_: str, filter_: Filter) -> None:
        self._ids.add(id_)

    def remove(self, id_: str) -> None:
        """Raises KeyError if `id_` is unknown."""
        self._ids.remove(id_)

    def covered(self, filter_: Filter) -> bool:
        return False

    def covered_by(self, filter_: Filter) -> list[str]:
        return []


class Table:
    """Routes by id and by last hop."""

    def __init__(self) -> None:
        self.routes: dict[str, Route] = {}
        self.index = FilterIndex()
        self._by_hop: dict[str, set[str]] = {}

    def __len__(self) -> int:
        return len(self.routes)

    def get(self, id_: str) -> Route | None:
        return self.routes.get(id_)

    def add(self, route: Route) -> None:
        self.routes[route.id] = route
        self.index.add(route.id, route.filter, route.hop)
        self._by_hop.setdefault(route.hop, set()).add(route.id)

    def remove(self, id_: str) -> Route:
        route = self.routes.pop(id_)
        self.index.remove(id_)
        self._by_hop[route.hop].remove(id_)
        if not self._by_hop[route.hop]:
            del self._by_hop[route.hop]
        return route

    def of_hop(self, hop: str) -> list[str]:
        """Ids with this last hop, sorted."""
        return sorted(self._by_hop.get(hop, ()))

    def intersecting(self, filter_: Filter) -> list[Route]:
        """Sorted by id."""
        return [self.routes[id_] for id_ in sorted(self.index.intersecting(filter_))]

    def hop_intersects(self, hop: str, filter_: Filter) -> bool:
        """Whether any route with this last hop intersects the filter."""
        return hop in self._by_hop and self.index.hop_intersects(hop, filter_)


class Change:
    """A message for one neighbour: tell it of a route, or take one back."""

    __slots__ = ("retract", "route")

    def __init__(self, route: Route, retract: bool = False) -> None:
        self.route = route
        self.retract = retract


class Export:
    """What one neighbour was told of one table.

    off     every route is told.
    lazy    a route that a told one covers is held back; it is told when the last such is taken back.
    active  and a newly told route takes back those it covers.
    New routes are told before covered ones are taken back, so the neighbour never misses one.
    """

    def __init__(self, covering: Covering) -> None:
        self.covering: Covering = covering
        self.told: FilterIndex | Ids = Ids() if covering == "off" else FilterIndex()
        self.held: FilterIndex | Ids = Ids() if covering == "off" else FilterIndex()
        self._routes: dict[str, Route] = {}

    def __contains__(self, id_: str) -> bool:
        return id_ in self._routes

    def __len__(self) -> int:
        return len(self._routes)

    def offer(self, route: Route) -> list[Change]:
        """The neighbour needs to know this route."""
        if route.id in self._routes:
            return []
        self._routes[route.id] = route
        if self.covering == "off":
            self.told.add(route.id, route.filter)
            return [Change(route)]
        if self.told.covered(route.filter):
            self.held.add(route.id, route.filter)
            return []
        return self._tell(route)

    def _tell(self, route: Route) -> list[Change]:
        changes = [Change(route)]
        if self.covering == "active":
            for id_ in sorted(self.told.covered_by(route.filter)):
                covered = self._routes[id_]
                self.told.remove(id_)
                self.held.add(id_, covered.filter)
                changes.append(Change(covered, retract=True))
        self.told.add(route.id, route.filter)
        return changes

    def withdraw(self, ids: Iterable[str]) -> list[Change]:
        """The neighbour need not know these routes any more; unknown ones are nothing to do."""
        gone: list[Route] = []
        for id_ in ids:
            route = self._routes.pop(id_, None)
            if route is None:
                continue
            if id_ in self.held:
                self.held.remove(id_)
            else:
                self.told.remove(id_)
                gone.append(route)
        changes = [change for route in gone for change in self._uncover(route.filter)]
        return changes + [Change(route, retract=True) for route in gone]

    def _uncover(self, filter_: Filter) -> list[Change]:
        """Tell what was held back because of this filter and is covered by no other."""
        changes: list[Change] = []
        if len(self.held):
            for id_ in sorted(self.held.covered_by(filter_)):
                route = self._routes[id_]
                if id_ in self.held and not self.told.covered(route.filter):
                    self.held.remove(id_)
                    changes += self._tell(route)
        return changes

    def intersects_any(self, filter_: Filter) -> bool:
        """Whether a route that the neighbour was told intersects the filter."""
        if isinstance(self.told, FilterIndex):
            return self.told.intersects_any(filter_)
        return any(intersects(route.filter, filter_) for route in self._routes.values())

    def note(self, route: Route) -> None:
        """The neighbour knows this route already."""
        if route.id not in self._routes:
            self._routes[route.id] = route
            self.told.add(route.id, route.filter)

    def forget(self, id_: str) -> list[Change]:
        """The neighbour drops this route by itself: no message but for what it covered."""
        return [change for change in self.withdraw([id_]) if change.route.id != id_]

    def ids(self) -> list[str]:
        return sorted(self._routes)

    def told_routes(self) -> list[Route]:
        """What the neighbour knows, sorted by id; what is held back is not among it."""
        return [self._routes[id_] for id_ in sorted(self.told.ids())]
