"""Exchange of one overlay link for another while publications flow: none is lost, doubled or out of order.

    a ... c, d ... b   the path of the old tree from one end of the new link to the other (`swap`)
    c ... a, b ... d   the chain: the same brokers in the new tree

    Prepare  a -> b along the path    each takes part in no other exchange; what would change routes waits
    Ready    b -> a along the path    then a opens the new link
    Routes   c -> d along the chain, d -> c, c -> d: the new tree's tables (`newtree`), beside the old ones
    Flip     c -> d, with the third round: what enters the cycle here is from now on routed by the new tree,
             and marked while it is on the cycle; what is unmarked goes on by the old one
    Drained  a -> b along the path, and d -> a: behind the last unmarked publication of each side
    Done     when both have passed; the old tables go, what waited is done, c and d close the old link

What comes by the new link waits at its end until the old way is empty: only publications that cross wait.
Nothing is decided before c has the second round back; from then on it ends with the new tree.

Failures. Whoever loses a neighbour on the cycle and has not flipped asks around the cycle, away from the
loss. c answers by an abort, or by a flip if that is what it has decided; so does everyone who has flipped.
Where the question can go no further, nobody has flipped: abort. After the flip a lost neighbour counts as
drained.
`docs/self-organising.md` states the guarantee; `tests/exchange` tries it.
"""

from __future__ import annotations

import zlib
from collections import ChainMap, OrderedDict
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from broker_grpc.core.links import Links, Peer
from broker_grpc.core.node import Action
from broker_grpc.core.outbox import Outbox
from broker_grpc.errors import ProtocolError
from broker_grpc.machine import CloseLink, OpenLink, OverlayChanged
from broker_grpc.protocols.contentbased.kinds import EXCHANGED
from broker_grpc.protocols.contentbased.layer import ExchangeEnded
from broker_grpc.protocols.contentbased.newtree import NewTree
from broker_grpc.protocols.contentbased.part import Part
from broker_grpc.protocols.contentbased.routing import Routing, Told
from broker_grpc.protocols.contentbased.swap import Swap, checked, swap_of
from protos.body import Body, Envelope
from protos.exchange_messages import (
    ExchangeAbort,
    ExchangeDone,
    ExchangeDrained,
    ExchangeFlip,
    ExchangePrepare,
    ExchangeReady,
    ExchangeRoutes,
    ExchangeSearch,
)
from protos.records import LogEvent

REMEMBERED = 256
Outcome = Literal["done", "aborted", "refused"]


class Seat(Protocol):
    """What the broker does for its exchanges."""

    def objection(self) -> str: ...

    def tell(self, told: list[Told]) -> None: ...

    def go_on(self, part: Part, is_done: bool) -> None:
        """The part has ended: what was held and what waited goes its way."""

    def exchange_ended(self, ended: ExchangeEnded) -> None: ...


class Search(msgspec.Struct):
    """An exchange whose path is being looked for."""

    to: str
    remove: tuple[str, str]
    detail: str
    started_us: int


class Exchanges:
    """`addresses`: of the brokers that this one may have links with; empty = the driver knows them."""

    def __init__(
        self, id_prefix: str, links: Links, routing: Routing, outbox: Outbox, seat: Seat,
        addresses: Mapping[str, str], patience_us: int, max_predicates: int,
    ) -> None:  # fmt: skip
        self._id_prefix = id_prefix
        self._links = links
        self._routing = routing
        self._outbox = outbox
        self._seat = seat
        self._addresses: ChainMap[str, str] = ChainMap({}, addresses)  # type: ignore[arg-type]
        self._patience_us = patience_us
        self._max_predicates = max_predicates
        self.part: Part | None = None
        self._count = 0
        self._searches: dict[str, Search] = {}
        self._refused: list[ExchangeEnded] = []  # here and now; told when the order's call is over
        self._past: OrderedDict[str, bool] = OrderedDict()  # id -> done
        self._leaving: set[str] = set()  # ends of removed links that may still be told that it is done
        self.removed: dict[str, str] = {}  # brokers that are no neighbours any more, and since which exchange
        self.actions: dict[type, Action] = {
            ExchangePrepare: self._prepare,
            ExchangeReady: self._ready,
            ExchangeRoutes: self._routes,
            ExchangeFlip: self._flip,
            ExchangeDrained: self._drained,
            ExchangeDone: self._finished,
            ExchangeAbort: self._abort,
            ExchangeSearch: self._search,
        }

    @property
    def _me(self) -> str:
        return self._outbox.broker

    @property
    def _now_us(self) -> int:
        return self._outbox.now_us

    @property
    def under_way(self) -> str:
        return self.part.id if self.part is not None else next(iter(self._searches), "")

    # ------------------------------------------------------------ orders

    def learn(self, broker: str, address: str) -> None:
        self._addresses[broker] = address

    def order(self, to: str, remove: tuple[str, str], path: Sequence[str] = (), detail: str = "") -> str:
        self._count += 1
        id_ = f"{self._id_prefix}-x{self._count}"
        if path:
            self._begin(id_, to, remove, path, detail)
        else:
            self._searches[id_] = Search(to, remove, detail, self._now_us)
            self._spread(ExchangeSearch(id_, to, (self._me,)), "")
        return id_

    def _begin(self, id_: str, to: str, remove: tuple[str, str], path: Sequence[str], detail: str) -> None:
        try:
            swap = swap_of(path, remove)
            if swap.added != (self._me, to):
                raise ProtocolError(f"the way {' '.join(path)} does not lead from {self._me} to {to}")
            part = self._take_part(id_, zlib.crc32(id_.encode()) or 1, swap)
        except ProtocolError as error:
            ended = ExchangeEnded(id_, "refused", tuple(path), remove, str(error), 0, True)
            self._refused.append(ended)
            return
        part.ordered, part.detail = True, detail
        self._send(part.after, ExchangePrepare(id_, part.number, swap.path, swap.cut))

    def _search(self, peer: Peer, envelope: Envelope, body: ExchangeSearch) -> None:
        if body.found:
            return self._found(peer, body)
        onward = ExchangeSearch(body.id, body.target, (*body.path, self._me), body.target == self._me)
        if onward.found:
            self._send(peer.name, onward)
        else:
            self._spread(onward, peer.name)

    def _found(self, peer: Peer, body: ExchangeSearch) -> None:
        at = body.path.index(self._me) if self._me in body.path else -1
        if at > 0:
            self._send(body.path[at - 1], body)
        elif at == 0 and (search := self._searches.pop(body.id, None)) is not None:
            self._begin(body.id, search.to, search.remove, body.path, search.detail)

    def _spread(self, body: Body, source: str) -> None:
        for neighbour in self._routing.neighbours:
            if neighbour != source:
                self._send(neighbour, body)

    # ------------------------------------------------------------ everybody takes part

    def _take_part(self, id_: str, number: int, swap: Swap) -> Part:
        """Raises ProtocolError when this broker cannot."""
        if self.part is not None:
            raise ProtocolError(f"{self._me} takes part in exchange {self.part.id}")
        if objection := self._seat.objection():
            raise ProtocolError(f"{self._me}: {objection}")
        part = Part(id_, number, swap, self._me, self._now_us)
        for neighbour in filter(None, (part.before, part.after)):
            peer = self._links.brokers.get(neighbour)
            if peer is None or not peer.synced or neighbour not in self._routing.neighbours:
                raise ProtocolError(f"{self._me} has no settled link to {neighbour}")
        if part.far_end in self._links.brokers:
            raise ProtocolError(f"{self._me} has a link to {part.far_end} already")
        if part.is_first and self._addresses and part.far_end not in self._addresses:
            raise ProtocolError(f"{self._me} does not know where {part.far_end} is")
        self.part = part
        return part

    def _prepare(self, peer: Peer, envelope: Envelope, body: ExchangePrepare) -> None:
        try:
            swap = checked(Swap(body.path, body.cut))
            if self._me not in swap.path or swap.before(self._me) != peer.name:
                raise ProtocolError(
                    f"{self._me} does not follow {peer.name} on the way {' '.join(body.path)}"
                )
            part = self._take_part(body.id, body.number, swap)
        except ProtocolError as error:
            return self._send(peer.name, ExchangeAbort(body.id, True, True, str(error)))
        if part.is_last:
            self._send(part.before, ExchangeReady(body.id))
        else:
            self._send(part.after, body)

    def _ready(self, peer: Peer, envelope: Envelope, body: ExchangeReady) -> None:
        part = self._part_of(body.id)
        if part is None or peer.name != part.after:
            return
        if part.is_first:
            self._outbox.effects.append(OpenLink(part.far_end, self._addresses.get(part.far_end, "")))
        else:
            self._send(part.before, body)
        if part.decides:
            self._grow(part)
            self._tell_routes(part, 1, part.right)

    # ------------------------------------------------------------ the tables of the new tree

    def _grow(self, part: Part) -> NewTree:
        if part.tree is None:
            on_path = [name for name in (part.before, part.after) if name]
            part.tree = NewTree(self._routing, on_path, part.left, part.right, self._max_predicates)
        return part.tree

    def _tell_routes(self, part: Part, round_: int, side: str) -> None:
        for body in self._grow(part).told(part.id, round_, side):
            self._send_on(part, side, body)

    def _send_on(self, part: Part, side: str, body: Body) -> None:
        if side == part.far_end and not part.link_is_up:
            part.unsent.append(body)
        else:
            self._send(side, body)

    def _routes(self, peer: Peer, envelope: Envelope, body: ExchangeRoutes) -> None:
        part = self._part_of(body.id)
        if part is None or peer.name != (part.right if body.round == 2 else part.left):
            return
        for wrong in self._grow(part).take(peer.name, body):
            self._outbox.log(LogEvent(kind="REFUSED", peer=peer.name, message=part.id, detail=wrong))
        if body.last and body.round == 1:
            self._tell_routes(part, 1 if part.right else 2, part.right or part.left)
        elif body.last and body.round == 2:
            if part.left:
                self._tell_routes(part, 2, part.left)
            else:
                self._flip_here(part)

    # ------------------------------------------------------------ the flip, and what it leaves behind

    def _flip(self, peer: Peer, envelope: Envelope, body: ExchangeFlip) -> None:
        """From the left it is the wave itself; from elsewhere the news that the wave has begun."""
        part = self._part_of(body.id)
        if part is None or part.has_flipped:
            return
        if peer.name == part.left or not part.left or part.left in part.lost:
            self._flip_here(part)
        else:
            self._send(part.left, body)

    def _flip_here(self, part: Part) -> None:
        part.has_flipped = True
        self._grow(part)
        if part.right:
            self._tell_routes(part, 3, part.right)
            self._send_on(part, part.right, ExchangeFlip(part.id))
        self._progress(part)

    def _drained(self, peer: Peer, envelope: Envelope, body: ExchangeDrained) -> None:
        part = self._part_of(body.id)
        if part is None:
            return
        if body.back and peer.name == part.after:
            part.back = True
        elif not body.back and peer.name == part.before:
            part.forth = True
        self._progress(part)

    def _progress(self, part: Part) -> None:
        """After the flip: pass on what has drained; what a lost neighbour would have sent does not come."""
        if not part.has_flipped:
            return
        is_near = part.swap.is_on_near_side(self._me)
        part.forth = part.forth or part.is_first or part.before in part.lost
        part.back = part.back or not is_near or part.after in part.lost
        if part.forth and not part.sent_forth:
            part.sent_forth = True
            self._send(part.after, ExchangeDrained(part.id, False))
        if part.back and not part.sent_back:
            part.sent_back = True
            if is_near or part.lost_end:  # beyond the removed link the flip itself came behind the last one
                self._send(part.before, ExchangeDrained(part.id, True))
        if part.forth and part.back:
            self._end(part, "done", "")

    def _finished(self, peer: Peer, envelope: Envelope, body: ExchangeDone) -> None:
        part = self._part_of(body.id)
        if part is not None:
            part.finished.add(peer.name)
        elif peer.name in self._leaving:
            self._leave(peer.name)

    def _leave(self, name: str) -> None:
        self._leaving.discard(name)
        self._outbox.effects.append(CloseLink(name, f"exchanged: {self.removed.get(name, '')}"))

    # ------------------------------------------------------------ failures

    def _seek(self, part: Part, away_from: str, reason: str) -> None:
        """Ask whoever decides, around the cycle."""
        one, other = part.around
        onward = one if away_from == other else other
        if part.decides or not self._reaches(part, onward):
            self._decide_abort(part, reason)
        else:
            self._send(onward, ExchangeAbort(part.id, False, False, reason))

    def _reaches(self, part: Part, name: str) -> bool:
        return name in self._links.brokers and name not in part.lost

    def _decide_abort(self, part: Part, reason: str, source: str = "", is_refused: bool = False) -> None:
        for name in dict.fromkeys(filter(None, (*part.around, part.before, part.after))):
            if name != source and self._reaches(part, name):
                self._send(name, ExchangeAbort(part.id, True, is_refused, reason))
        self._end(part, "refused" if is_refused else "aborted", reason)

    def _abort(self, peer: Peer, envelope: Envelope, body: ExchangeAbort) -> None:
        part = self._part_of(body.id)
        if part is None:
            if not body.decided:
                self._send(peer.name, self._recall(body.id, body.reason))
        elif part.has_flipped:
            if not body.decided:
                self._send(peer.name, ExchangeFlip(part.id))
        elif body.decided:
            self._decide_abort(part, body.reason, peer.name, body.refused)
        else:
            self._seek(part, peer.name, body.reason)

    def _recall(self, id_: str, reason: str) -> Body:
        """What became of an exchange that is over here, or never came here."""
        return ExchangeFlip(id_) if self._past.get(id_) else ExchangeAbort(id_, True, False, reason)

    # ------------------------------------------------------------ links

    def takes_up(self, peer: Peer) -> bool:
        """A link is up: True if it is the exchange's, or has to wait for its end, or is none any more."""
        part = self.part
        if part is None:
            if peer.name not in self.removed:
                return False
            reason = f"no neighbour since exchange {self.removed[peer.name]}"
            self._outbox.effects.append(CloseLink(peer.name, reason))
            return True
        if peer.name == part.far_end and not part.link_is_up and peer.name not in part.lost:
            part.link_is_up = True
            for body in part.unsent:
                self._send(peer.name, body)
            part.unsent.clear()
        else:
            part.wait("up", peer)
        return True

    def takes_down(self, peer: Peer) -> bool:
        """A peer is gone: True if that has to wait for the exchange's end, or is what an exchange wanted."""
        if peer.name in self._leaving:
            self._leave(peer.name)
            return True
        part = self.part
        if part is None:
            return peer.name in self.removed
        part.wait("down", peer)
        if peer.name in (*part.around, part.before, part.after) and peer.kind == "broker":
            part.lost.add(peer.name)
            if part.has_flipped:
                self._progress(part)
            else:
                self._seek(part, peer.name, f"{self._me} lost {peer.name}")
        return True

    # ------------------------------------------------------------ the end

    def _end(self, part: Part, outcome: Outcome, reason: str) -> None:
        is_done = outcome == "done"
        self.part = None
        self._past[part.id] = is_done
        if len(self._past) > REMEMBERED:
            self._past.popitem(last=False)
        if is_done:
            self._adopt(part)
            self._outbox.effects.append(OverlayChanged(part.id, part.swap.added, part.swap.removed))
        elif part.far_end:
            self._give_up_link(part)
        a, b, c, d = *part.swap.added, *part.swap.removed
        took = self._now_us - part.started_us
        self._outbox.log(
            LogEvent(kind=EXCHANGED, type=outcome, peer=b if self._me == a else a, message=part.id,
                     hops=len(part.swap.path), content=f"{a} {b} {c} {d}", duration_us=took,
                     group="ordered" if part.ordered else "", detail=reason or part.detail)
        )  # fmt: skip
        self._seat.go_on(part, is_done)
        self._seat.exchange_ended(
            ExchangeEnded(part.id, outcome, part.swap.path, (c, d), reason, took, part.ordered)
        )

    def _adopt(self, part: Part) -> None:
        """Behind Done a neighbour takes all for the new tree's."""
        for name in dict.fromkeys(filter(None, (part.left, part.right, part.lost_end))):
            if self._reaches(part, name):
                self._send(name, ExchangeDone(part.id))
        self._seat.tell(self._grow(part).replace(self._routing))
        if part.far_end:
            self.removed.pop(part.far_end, None)
            if self._reaches(part, part.far_end):
                peer = self._links.brokers[part.far_end]
                peer.sync_sent = peer.sync_received = 2
        if part.lost_end:
            self.removed[part.lost_end] = part.id
            self._leaving.add(part.lost_end)
            if part.lost_end in part.finished or part.lost_end in part.lost:
                self._leave(part.lost_end)

    def _give_up_link(self, part: Part) -> None:
        self.removed[part.far_end] = part.id
        self._outbox.effects.append(CloseLink(part.far_end, f"exchange {part.id} was given up"))

    # ------------------------------------------------------------ time

    def next_deadline_us(self) -> int | None:
        if self._refused:
            return 0
        times = [search.started_us for search in self._searches.values()]
        if self.part is not None and self.part.ordered and not self.part.has_flipped:
            times.append(self.part.asked_us)
        return min(times) + self._patience_us if times else None

    def deadline(self, now_us: int) -> None:
        for id_, search in list(self._searches.items()):
            if search.started_us + self._patience_us <= now_us:
                del self._searches[id_]
                reason = f"no way to {search.to} was found"
                self._refused.append(ExchangeEnded(id_, "refused", (), search.remove, reason, 0, True))
        part = self.part
        is_late = part is not None and part.asked_us + self._patience_us <= now_us
        if part is not None and is_late and part.ordered and not part.has_flipped:
            part.asked_us = now_us
            self._seek(part, part.far_end, f"not ready within {self._patience_us} us")
        self._tell_refused()

    def _tell_refused(self) -> None:
        refused, self._refused = self._refused, []
        for ended in refused:
            ends = " ".join((self._me, ended.path[-1] if ended.path else "?", *ended.removed))
            self._outbox.log(LogEvent(kind=EXCHANGED, type="refused", message=ended.id, content=ends,
                                      group="ordered", detail=ended.reason))  # fmt: skip
            self._seat.exchange_ended(ended)

    # ------------------------------------------------------------ detail

    def _part_of(self, id_: str) -> Part | None:
        return self.part if self.part is not None and self.part.id == id_ else None

    def _send(self, name: str, body: Body) -> None:
        if name in self._links.brokers:
            self._outbox.send(name, body)
