"""Content-based routing on a tree: the rules of PADRES, as operations on SRT and PRT.

1. Advertisement: stored in the SRT and told to every neighbour but the one it came from; known
   subscriptions that intersect it are told to its last hop.
2. Subscription: stored in the PRT and told once to every neighbour that is the last hop of an
   intersecting advertisement, but not to the one it came from.
3. Publication: one copy per distinct last hop of matching subscriptions, never back to the broker it
   came from (back to a client is allowed).
4. Unsubscription follows the subscription; unadvertisement follows the advertisement, and
   subscriptions that were told to its last hop only because of it are taken back.
5. When a link comes up all advertisements are told; subscriptions follow by rule 1.

Every operation returns the messages for neighbours, in the order in which they must be sent.
Invariant, on a quiet network: the PRT's routes with last hop n are exactly what n's export to us
tells, and the same for the SRT. It needs FIFO links and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

from broker_grpc.content.covering import Covering
from broker_grpc.errors import ProtocolError
from broker_grpc.protocols.contentbased.tables import Change, Export, Route, Table
from protos.client_messages import Advertisement, Subscription, Unadvertisement, Unsubscription
from protos.content_messages import Value

RoutingMessage = Advertisement | Subscription | Unadvertisement | Unsubscription
Told = tuple[str, RoutingMessage, int]  # neighbour, message, links crossed when it arrives there


class Routing:
    """SRT, PRT and the exports of one broker. Hops are broker or client ids."""

    def __init__(
        self, subscription_covering: Covering = "off", advertisement_covering: Covering = "off"
    ) -> None:
        self.srt = Table()
        self.prt = Table()
        self._subscription_covering: Covering = subscription_covering
        self._advertisement_covering: Covering = advertisement_covering
        self.covers_advertisements = advertisement_covering != "off"
        self.advertisements_told: dict[str, Export] = {}
        self.subscriptions_told: dict[str, Export] = {}

    @property
    def neighbours(self) -> list[str]:
        """Of the tree, with a link that is up."""
        return sorted(self.advertisements_told)

    # ------------------------------------------------------------ rule 1 and its reverse

    def advertise(self, route: Route) -> list[Told]:
        """Raises ProtocolError if the id is known from another hop: a second path, or a duplicate."""
        if not self._is_new(self.srt, route):
            return self._attract(route)  # told again after a link came back
        self.srt.add(route)
        told: list[Told] = []
        for neighbour in self.neighbours:
            if neighbour != route.hop:
                told += messages(neighbour, self.advertisements_told[neighbour].offer(route))
        return told + self._attract(route)

    def _attract(self, route: Route) -> list[Told]:
        """Tell the advertisement's last hop the subscriptions that intersect it."""
        export = self.subscriptions_told.get(route.hop)
        if export is None:
            return []
        told: list[Told] = []
        for subscription in self.prt.intersecting(route.filter):
            if subscription.hop != route.hop:
                told += messages(route.hop, export.offer(subscription))
        return told

    def unadvertise(self, id_: str, hop: str) -> list[Told]:
        """Unknown ids, and ids of another hop, are nothing to do."""
        route = self.srt.get(id_)
        if route is None or route.hop != hop:
            return []
        self.srt.remove(id_)
        told: list[Told] = []
        for neighbour in self.neighbours:
            told += messages(neighbour, self.advertisements_told[neighbour].withdraw([id_]))
        return told + self._release(route)

    def _release(self, route: Route) -> list[Told]:
        """Take back the subscriptions that were told to the last hop only because of this advertisement."""
        export = self.subscriptions_told.get(route.hop)
        if export is None:
            return []
        told: list[Told] = []
        for subscription in self.prt.intersecting(route.filter):
            if subscription.id in export and not self.srt.hop_intersects(route.hop, subscription.filter):
                told += messages(route.hop, export.withdraw([subscription.id]))
        return told

    # ------------------------------------------------------------ rule 2 and its reverse

    def subscribe(self, route: Route) -> list[Told]:
        """Raises ProtocolError if the id is known from another hop."""
        if not self._is_new(self.prt, route):
            return []
        self.prt.add(route)
        told: list[Told] = []
        for neighbour in self.neighbours:
            if neighbour != route.hop and self.srt.hop_intersects(neighbour, route.filter):
                told += messages(neighbour, self.subscriptions_told[neighbour].offer(route))
        return told

    def unsubscribe(self, id_: str, hop: str) -> list[Told]:
        """Unknown ids, and ids of another hop, are nothing to do."""
        route = self.prt.get(id_)
        if route is None or route.hop != hop:
            return []
        self.prt.remove(id_)
        told: list[Told] = []
        for neighbour in self.neighbours:
            told += messages(neighbour, self.subscriptions_told[neighbour].withdraw([id_]))
        return told

    # ------------------------------------------------------------ rule 3

    def match(self, attributes: Mapping[str, Value]) -> set[str]:
        """Distinct last hops of matching subscriptions."""
        return self.prt.index.match_hops(attributes)

    @property
    def candidates(self) -> int:
        """Filters that the last match looked at."""
        return self.prt.index.candidates

    # ------------------------------------------------------------ rule 5: links

    def link_up(self, neighbour: str) -> list[Told]:
        """Tell a new neighbour all advertisements."""
        self.advertisements_told[neighbour] = Export(self._advertisement_covering)
        self.subscriptions_told[neighbour] = Export(self._subscription_covering)
        told: list[Told] = []
        for id_ in sorted(self.srt.routes):
            route = self.srt.routes[id_]
            if route.hop != neighbour:
                told += messages(neighbour, self.advertisements_told[neighbour].offer(route))
        return told

    def link_lost(self, neighbour: str) -> None:
        """Nothing can be told to this neighbour; what came from it stays until `hop_gone`."""
        self.advertisements_told.pop(neighbour, None)
        self.subscriptions_told.pop(neighbour, None)

    def hop_gone(self, hop: str) -> list[Told]:
        """A link or client is gone: withdraw all that came through it."""
        self.link_lost(hop)
        told = self._withdraw_all(self.prt, self.subscriptions_told, hop)
        return told + self._withdraw_all(self.srt, self.advertisements_told, hop)

    def _withdraw_all(self, table: Table, exports: dict[str, Export], hop: str) -> list[Told]:
        """In one go, so that covered routes that go as well are not told in between."""
        ids = table.of_hop(hop)
        for id_ in ids:
            table.remove(id_)
        told: list[Told] = []
        for neighbour in self.neighbours:
            told += messages(neighbour, exports[neighbour].withdraw(ids))
        return told

    # ------------------------------------------------------------ for relocation (content.moving)

    def place_advertisement(self, route: Route) -> None:
        """Store an advertisement that every neighbour knows already, as one that came from `route.hop`."""
        self.srt.add(route)
        for neighbour in self.neighbours:
            if neighbour != route.hop:
                self.advertisements_told[neighbour].note(route)

    # ------------------------------------------------------------ for the exchange of links (newtree)

    def like(self) -> Routing:
        """Empty tables under the same rules."""
        return Routing(self._subscription_covering, self._advertisement_covering)

    def become(self, other: Routing) -> None:
        self.srt, self.prt = other.srt, other.prt
        self.advertisements_told = other.advertisements_told
        self.subscriptions_told = other.subscriptions_told

    # ------------------------------------------------------------ detail

    @staticmethod
    def _is_new(table: Table, route: Route) -> bool:
        known = table.get(route.id)
        if known is None:
            return True
        if known.hop == route.hop and known.filter.key == route.filter.key:
            return False
        if known.hop == route.hop:
            raise ProtocolError(f"{route.message.type} {route.id} is known with another filter")
        raise ProtocolError(
            f"{route.message.type} {route.id} came from {route.hop} but is known from {known.hop}: "
            "a second path (the overlay must be a tree) or a duplicate id"
        )


def messages(neighbour: str, changes: list[Change]) -> list[Told]:
    """The changes of what one neighbour is told, as messages for it."""
    return [(neighbour, _message(c), c.route.hops + 1) for c in changes]


def _message(change: Change) -> RoutingMessage:
    message = change.route.message
    if not change.retract:
        return message
    if isinstance(message, Advertisement):
        return Unadvertisement(message.id)
    return Unsubscription(message.id)
