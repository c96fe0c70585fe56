"""One broker's part in an exchange: how far it has come, and what waits for its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from broker_grpc.content.index import FilterIndex
from broker_grpc.core.links import Peer
from broker_grpc.machine import PeerKind
from broker_grpc.protocols.contentbased.newtree import NewTree
from broker_grpc.protocols.contentbased.swap import Swap
from protos.body import Body, Envelope
from protos.client_messages import Advertisement, Subscription, Unadvertisement, Unsubscription
from protos.contentbased_messages import DiscoveryRequest, SyncComplete

ROUTING = (Advertisement, Subscription, Unadvertisement, Unsubscription, SyncComplete, DiscoveryRequest)


class Waiting(NamedTuple):
    """Something that would change routes, or that stands behind such a thing, in the order of arrival."""

    what: Literal["up", "down", "message"]
    peer: Peer
    envelope: Envelope | None = None


class Held(NamedTuple):
    """A publication that came by the new link while others are still on the old way."""

    source: str
    envelope: Envelope
    at_us: int


class Part:
    def __init__(self, id_: str, number: int, swap: Swap, broker: str, now_us: int) -> None:
        self.id = id_
        self.number = number  # on publications that are routed by the new tree
        self.swap = swap
        self.detail = ""
        self.ordered = False
        self.started_us = self.asked_us = now_us
        self.tree: NewTree | None = None
        self.has_flipped = False
        self.link_is_up = False  # the new one, at its ends
        self.forth = self.back = False  # drained towards the path's end, towards its start
        self.sent_forth = self.sent_back = False
        self.finished: set[str] = set()  # neighbours that know only the new tree
        self.lost: set[str] = set()  # neighbours on the cycle whose link broke meanwhile
        self.waiting: list[Waiting] = []
        self._behind: dict[str, Peer] = {}  # clients with something that waits
        self.held: list[Held] = []
        self.unsent: list[Body] = []  # for the other end of the new link, which is not up yet
        at = swap.path.index(broker)
        self.broker = broker
        self.before, self.after = swap.before(broker), swap.after(broker)
        self.left, self.right = swap.left(broker), swap.right(broker)
        self.far_end, self.lost_end = swap.far_end(broker), swap.lost_end(broker)
        self.around = swap.around(broker)
        self.is_first, self.is_last = at == 0, at == len(swap.path) - 1
        self.decides = broker == swap.chain[0]

    # ------------------------------------------------------------ publications

    def is_new(self, source: str, kind: PeerKind | None, envelope: Envelope) -> bool:
        """Which tree routes it: where it entered the cycle decides, and every broker after that obeys."""
        if kind == "broker" and (source in self.around or source in (self.before, self.after)):
            return envelope.request == self.number or source in self.finished or source == self.far_end
        return self.has_flipped

    def keeps(self, source: str, kind: PeerKind | None, envelope: Envelope, now_us: int) -> bool:
        """Whether it waits: for the old way to be empty, or behind a request of its client that waits."""
        if kind == "broker" and source == self.far_end:
            self.held.append(Held(source, envelope, now_us))
            return True
        client = self._behind.get(source)
        if client is not None:
            self.waiting.append(Waiting("message", client, envelope))
        return client is not None

    def index(self) -> FilterIndex:
        assert self.tree is not None
        return self.tree.routing.prt.index

    def marked(self, neighbours: list[str]) -> Iterator[tuple[list[str], int]]:
        """Of the new tree: neighbours on the chain get the mark, others none."""
        chain = [name for name in neighbours if name in (self.left, self.right)]
        yield chain, self.number
        yield [name for name in neighbours if name not in chain], 0

    # ------------------------------------------------------------ what would change routes

    def defers(self, peer: Peer, body: Body) -> bool:
        """What enters the cycle waits. What is under way on it goes on, by the old tree, until its sender
        knows only the new one."""
        is_on_cycle = peer.name in (self.before, self.after) and peer.name not in self.finished
        return isinstance(body, ROUTING) and not is_on_cycle

    def wait(
        self, what: Literal["up", "down", "message"], peer: Peer, envelope: Envelope | None = None
    ) -> None:
        self.waiting.append(Waiting(what, peer, envelope))
        if peer.kind == "client":
            self._behind[peer.name] = peer
