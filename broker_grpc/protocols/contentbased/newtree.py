"""The routing tables of the tree that an exchange is making, beside those of the tree that still carries.

Three rounds along the chain make them, by the rules of `routing`: advertisements rightward; advertisements,
and subscriptions that the first round asked for, leftward; the other subscriptions rightward. What a broker
has from its clients and from neighbours beside the cycle is the same in both trees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from broker_grpc.content.filters import Filter
from broker_grpc.errors import ProtocolError
from broker_grpc.protocols.contentbased.routing import Routing, Told, messages
from broker_grpc.protocols.contentbased.tables import Export, Route, Table
from protos.client_messages import Advertisement, Subscription
from protos.exchange_messages import AdvertisedRoute, ExchangeRoutes, SubscribedRoute

BATCH = 500  # routes in one message


class NewTree:
    """`left`, `right`: neighbours on the chain, "" = none; `cycle`: those on the path."""

    def __init__(
        self, old: Routing, cycle: Sequence[str], left: str, right: str, max_predicates: int
    ) -> None:
        self.routing = old.like()
        self._cycle = set(cycle)
        self._max_predicates = max_predicates
        for mine, theirs in ((self.routing.srt, old.srt), (self.routing.prt, old.prt)):
            for id_ in sorted(theirs.routes):
                if theirs.routes[id_].hop not in self._cycle:
                    mine.add(theirs.routes[id_])
        for side in (left, right):
            if side:
                self.routing.link_up(side)

    # ------------------------------------------------------------ the three rounds

    def take(self, side: str, body: ExchangeRoutes) -> list[str]:
        """What a neighbour on the chain tells; returns what is wrong with it."""
        wrong: list[str] = []
        for advertised in body.advertisements:
            if advertised.advertisement is not None:
                self._try(wrong, self.routing.advertise, advertised.advertisement, side, advertised.hops)
        for subscribed in body.subscriptions:
            if subscribed.subscription is not None:
                self._try(wrong, self.routing.subscribe, subscribed.subscription, side, subscribed.hops)
        return wrong

    def _try(self, wrong, learn, message: Advertisement | Subscription, side: str, hops: int) -> None:  # type: ignore[no-untyped-def]
        try:
            learn(Route(message, Filter.shared(message.predicates, self._max_predicates), side, hops))
        except ProtocolError as error:
            wrong.append(str(error))

    def told(self, exchange: str, round_: int, side: str) -> Iterator[ExchangeRoutes]:
        """What this side has to know after the round that has just come by, in messages of bounded size."""
        advertised = [
            AdvertisedRoute(route.message, route.hops + 1)  # type: ignore[arg-type]
            for route in (self.routing.advertisements_told[side].told_routes() if round_ < 3 else ())
        ]
        subscribed = [
            SubscribedRoute(route.message, route.hops + 1)  # type: ignore[arg-type]
            for route in (self.routing.subscriptions_told[side].told_routes() if round_ > 1 else ())
        ]
        while len(advertised) + len(subscribed) > BATCH:
            some, advertised = advertised[:BATCH], advertised[BATCH:]
            more, subscribed = subscribed[: BATCH - len(some)], subscribed[BATCH - len(some) :]
            yield ExchangeRoutes(exchange, round_, False, tuple(some), tuple(more))
        yield ExchangeRoutes(exchange, round_, True, tuple(advertised), tuple(subscribed))

    # ------------------------------------------------------------ the end

    def replace(self, old: Routing) -> list[Told]:
        """From now on `old` is the new tree; returns what neighbours beside the cycle have to be told."""
        new, told = self.routing, []
        for neighbour in old.neighbours:
            if neighbour not in self._cycle:
                told += _retold(new.srt, old.advertisements_told[neighbour], neighbour, None)
                told += _retold(new.prt, old.subscriptions_told[neighbour], neighbour, new.srt)
                new.advertisements_told[neighbour] = old.advertisements_told[neighbour]
                new.subscriptions_told[neighbour] = old.subscriptions_told[neighbour]
        old.become(new)
        return told


def _retold(table: Table, export: Export, neighbour: str, asked_by: Table | None) -> list[Told]:
    """Bring what this neighbour was told to what it has to know; `asked_by`: whose routes ask for it."""
    wanted = {
        id_: route
        for id_, route in sorted(table.routes.items())
        if route.hop != neighbour and (asked_by is None or asked_by.hop_intersects(neighbour, route.filter))
    }
    told: list[Told] = []
    for id_, route in wanted.items():
        if id_ not in export:
            told += messages(neighbour, export.offer(route))
    return told + messages(neighbour, export.withdraw([id_ for id_ in export.ids() if id_ not in wanted]))
