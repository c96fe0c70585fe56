"""Advertisements under way from one broker to another (POP 3.3), safe for what is still in flight.

The Migration Update runs from target to source, against the publications of the publisher, which
run from source to target. A broker that dropped subscriptions as the update passes would lose
publications that are still on their way to it. So each broker changes its tables in two steps:

- `begin`, as the update passes: the advertisement's last hop is the new one, and matching
  subscriptions are told to it (operations 1 and 3). Old publications still find their way.
- `finish`, as the completion passes. It runs from source to target behind the last publication, so
  subscriptions that matched only the moved advertisement can go (operation 2).

While an advertisement is between the two it counts at its old and at its new last hop, at both ends
of every link alike (links are FIFO), so two migrations over one link cannot make the ends disagree
about what is known.
"""

from __future__ import annotations

from broker_grpc.content.covering import intersects
from broker_grpc.content.filters import Filter
from broker_grpc.protocols.contentbased.routing import Routing, Told, messages
from broker_grpc.protocols.contentbased.tables import Route


class Moves:
    def __init__(self, routing: Routing) -> None:
        self._routing = routing
        self._old: dict[str, tuple[str, Filter]] = {}  # advertisement -> last hop before the update

    def __contains__(self, advertisement: str) -> bool:
        return advertisement in self._old

    def begin(self, id_: str, hop: str) -> list[Told]:
        """Operations 1 and 3. The old last hop knows the advertisement from us from now on."""
        routing = self._routing
        route = routing.srt.routes[id_]
        if route.hop == hop:
            return []
        self._old[id_] = route.hop, route.filter
        routing.srt.remove(id_)
        moved = Route(route.message, route.filter, hop, route.hops)
        routing.srt.add(moved)
        if route.hop in routing.advertisements_told:
            routing.advertisements_told[route.hop].note(moved)
        return routing._attract(moved)

    def finish(self, id_: str) -> list[Told]:
        """Operation 2, at this end of both links.

        If the advertisement was withdrawn on its way, the old last hop may or may not have dropped what
        it knows from here; it is told, and ignores what it does not know.
        """
        if id_ not in self._old:
            return []
        old, filter_ = self._old.pop(id_)
        route = self._routing.srt.get(id_)
        if route is None:
            return self._release(old, filter_, silent=False)
        return self._release(old, filter_, silent=True) + self._drop(id_, route.hop, filter_)

    def _release(self, neighbour: str, advertised: Filter, silent: bool) -> list[Told]:
        """Subscriptions that the old last hop needs no more."""
        export = self._routing.subscriptions_told.get(neighbour)
        told: list[Told] = []
        if export is None:
            return told
        for subscription in self._routing.prt.intersecting(advertised):
            if subscription.id in export and not self._wants(neighbour, subscription.filter):
                changes = export.forget(subscription.id) if silent else export.withdraw([subscription.id])
                told += messages(neighbour, changes)
        return told

    def _wants(self, neighbour: str, filter_: Filter) -> bool:
        """Some advertisement that came, or until now came, from this neighbour intersects."""
        routing = self._routing
        if routing.srt.hop_intersects(neighbour, filter_):
            return True
        return any(old == neighbour and intersects(moving, filter_) for old, moving in self._old.values())

    def _drop(self, id_: str, hop: str, advertised: Filter) -> list[Told]:
        """Subscriptions from the new last hop that no advertisement told to it needs."""
        routing = self._routing
        export = routing.advertisements_told.get(hop)
        if export is None:  # the target broker: its new last hop is the publisher
            return []
        told = messages(hop, export.forget(id_))
        for subscription in routing.prt.intersecting(advertised):
            if subscription.hop == hop and not export.intersects_any(subscription.filter):
                told += routing.unsubscribe(subscription.id, hop)
        return told
