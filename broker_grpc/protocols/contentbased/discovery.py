"""Floods on the tree: who is there (PANDA's phase-one check), and is it a tree at all.

A DiscoveryRequest crosses every link once; every broker answers with a BrokerInformation that goes
back the way the request came. A request whose id starts with `tree:` wants no answer: the broker with
the smaller id sends one over a link that came up, and if it returns by another link there is a cycle.
"""

from __future__ import annotations

from collections import OrderedDict

from broker_grpc.core.links import Links, Peer
from broker_grpc.core.outbox import Outbox
from broker_grpc.errors import DuplicateError, ProtocolError
from broker_grpc.machine import CloseLink
from broker_grpc.protocols.contentbased.routing import Routing
from protos.body import Envelope
from protos.contentbased_messages import BrokerInformation, DiscoveryRequest

REMEMBERED = 1024
TREE = "tree:"


class Discovery:
    """Which floods went through here, and from where."""

    def __init__(self, id_prefix: str, links: Links, routing: Routing, outbox: Outbox) -> None:
        self._id_prefix = id_prefix
        self._links = links
        self._routing = routing
        self._outbox = outbox
        self._source: OrderedDict[str, str] = OrderedDict()
        self._checks: dict[str, str] = {}  # link -> id of the check that was sent over it
        self._count = 0

    # ------------------------------------------------------------ is it a tree

    def link_up(self, neighbour: str) -> None:
        """Look for a second path to a broker behind this link."""
        if self._outbox.broker < neighbour:
            self._count += 1
            self._checks[neighbour] = f"{TREE}{self._id_prefix}:{neighbour}:{self._count}"
            self._outbox.send(neighbour, DiscoveryRequest(self._checks[neighbour]))

    def link_down(self, neighbour: str) -> None:
        self._checks.pop(neighbour, None)

    def _refuse_cycle(self, id_: str) -> None:
        for link, check in self._checks.items():
            if check == id_:
                self._outbox.effects.append(CloseLink(link, "the overlay is not a tree", forever=True))
                raise ProtocolError(f"the overlay is not a tree: a second path leads over the link to {link}")

    # ------------------------------------------------------------ floods

    def request(self, peer: Peer, envelope: Envelope, body: DiscoveryRequest) -> None:
        self._refuse_cycle(body.id)
        known = self._source.get(body.id)
        if known == peer.name or (known is not None and peer.kind == "client"):
            raise DuplicateError(f"discovery {body.id!r} was here before: every flood needs an id of its own")
        if known is not None:
            raise ProtocolError(f"the overlay is not a tree: discovery {body.id} came by two links")
        self._remember(body.id, peer.name)
        if not body.id.startswith(TREE):
            self._outbox.send(peer.name, self.information(body.id), envelope.request)
        for neighbour in self._routing.neighbours:
            if neighbour != peer.name:
                self._outbox.forward(neighbour, Envelope(body, envelope.hops + 1))

    def _remember(self, id_: str, source: str) -> None:
        self._source[id_] = source
        if len(self._source) > REMEMBERED:
            self._source.popitem(last=False)

    def answer(self, peer: Peer, envelope: Envelope, body: BrokerInformation) -> None:
        source = self._source.get(body.request)
        if source is None:
            raise ProtocolError(f"an answer to the unknown discovery {body.request!r}")
        crossed = envelope.hops + (source in self._links.brokers)
        self._outbox.forward(source, Envelope(body, crossed))

    def information(self, request: str) -> BrokerInformation:
        return BrokerInformation(
            request,
            self._outbox.broker,
            tuple(self._routing.neighbours),
            tuple(sorted(self._links.clients)),
            len(self._routing.srt),
            len(self._routing.prt),
        )
