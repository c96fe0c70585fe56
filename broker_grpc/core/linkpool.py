"""Links on demand: who wants a link to whom and why, what waits for a dial, and which links are idle.

Parts of a broker (`owner`: a ring's plane, its trees) say to whom they want links, each with a reason:
`leaf`, `finger`, `parent`, `child`. A link that somebody wants is dialled and stays. Whoever sends to a
broker without a link dials it for that (`one message`): the message waits, in a queue with an end, and the
link stays until it was idle for `idle_us`. Only who dialled a link closes it; the other end dials when it
wants the link.

What could not be sent within `patience_us` goes back to `undelivered`, which may send it another way; what
the queue has no room for is dropped, with a record.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

import msgspec

from broker_grpc.core.links import Links
from broker_grpc.core.outbox import Outbox
from broker_grpc.machine import CloseLink, OpenLink
from protos.body import Envelope
from protos.client_messages import Publication
from protos.envelope import publication_size

ONE_MESSAGE = "one message"
NO_LINK = "no link within the patience of the pool"

Undelivered = Callable[[str, Envelope], None]


class PoolLimits(msgspec.Struct, frozen=True):
    idle_us: int = 30_000_000  # a link that nobody wants is closed after so long without a message
    patience_us: int = 5_000_000  # a message waits so long for its link
    waiting: int = 100  # messages per broker without a link


class LinkPool:
    """`addresses`: where every broker listens to whom links may be wanted."""

    __slots__ = (
        "_addresses", "_brokers", "_dialled", "_idle", "_limits", "_next_us", "_outbox", "_undelivered",
        "_waiting", "_wanted", "dials", "sent_at_once", "sent_later",
    )  # fmt: skip

    def __init__(
        self,
        outbox: Outbox,
        links: Links,
        addresses: Mapping[str, str],
        limits: PoolLimits | None = None,
        undelivered: Undelivered | None = None,
    ) -> None:
        self._outbox = outbox
        self._brokers = links.brokers
        self._addresses = addresses
        self._limits = limits or PoolLimits()
        self._undelivered = undelivered or self._drop
        self._wanted: dict[str, dict[str, str]] = {}  # broker -> owner -> reason
        self._dialled: set[str] = set()  # those to whom our driver has been told to dial
        self._waiting: dict[str, deque[tuple[int, Envelope]]] = {}  # broker -> (until, what)
        self._idle: dict[str, int] = {}  # dialled, wanted by nobody -> closed at
        self._next_us: int | None = None  # not after the next thing that is due
        self.dials = 0
        self.sent_at_once = 0  # messages that found their link up
        self.sent_later = 0  # that waited for a dial

    # ------------------------------------------------------------ wishes

    def demand(self, owner: str, wanted: Mapping[str, str]) -> None:
        """From now on this owner wants links to these brokers (broker -> reason), and no others."""
        for peer in sorted(self._wanted):
            if owner in self._wanted[peer] and peer not in wanted:
                self._release(owner, peer)
        for peer in sorted(wanted):
            self._wanted.setdefault(peer, {})[owner] = wanted[peer]
            self._idle.pop(peer, None)
            self._dial(peer)

    def add(self, owner: str, peer: str, reason: str) -> None:
        """One wish more."""
        self._wanted.setdefault(peer, {})[owner] = reason
        self._idle.pop(peer, None)
        self._dial(peer)

    def remove(self, owner: str, peer: str) -> None:
        if owner in self._wanted.get(peer, ()):
            self._release(owner, peer)

    def _release(self, owner: str, peer: str) -> None:
        del self._wanted[peer][owner]
        if not self._wanted[peer]:
            del self._wanted[peer]
            self._rest(peer)

    def reasons(self, peer: str) -> list[str]:
        """Why there is or shall be a link to this broker, sorted."""
        wanted = set(self._wanted.get(peer, {}).values())
        return sorted(wanted | ({ONE_MESSAGE} if peer in self._waiting else set()))

    def wanted(self) -> list[str]:
        return sorted(self._wanted)

    def missing(self) -> list[str]:
        """Wanted, and without a link."""
        return [peer for peer in sorted(self._wanted) if peer not in self._brokers]

    def _dial(self, peer: str) -> None:
        if peer not in self._brokers and peer not in self._dialled and peer in self._addresses:
            self._dialled.add(peer)
            self.dials += 1
            self._outbox.effects.append(OpenLink(peer, self._addresses[peer]))

    def _rest(self, peer: str) -> None:
        if peer in self._dialled and peer not in self._wanted:
            self._idle[peer] = self._outbox.now_us + self._limits.idle_us
            self._due(self._idle[peer])

    # ------------------------------------------------------------ messages

    def send(self, peer: str, envelope: Envelope) -> None:
        """Over the link to this broker, or when one is up."""
        if peer in self._brokers and peer not in self._waiting:
            self.sent_at_once += 1
            if peer in self._idle:
                self._rest(peer)
            return self._now(peer, envelope)
        if peer not in self._addresses:
            return self._outbox.drop(peer, envelope, "no address is known")
        queue = self._waiting.setdefault(peer, deque())
        if len(queue) >= self._limits.waiting:
            return self._outbox.drop(peer, envelope, "too many messages wait for this link")
        until = self._outbox.now_us + self._limits.patience_us
        queue.append((until, envelope))
        self._due(until)
        self._dial(peer)

    def _now(self, peer: str, envelope: Envelope) -> None:
        if envelope.body.__class__ is Publication:
            size = publication_size(envelope)
            return self._outbox.publications(self._outbox.now_us, [peer], envelope, size, "FORWARDED")
        self._outbox.forward(peer, envelope)

    @property
    def waiting(self) -> int:
        """Messages that have no link yet."""
        return sum(map(len, self._waiting.values()))

    # ------------------------------------------------------------ what happens

    def peer_up(self, peer: str) -> None:
        """The link is usable: what waited for it leaves, in its order."""
        for _, envelope in self._waiting.pop(peer, ()):
            self.sent_later += 1
            self._now(peer, envelope)
        self._rest(peer)

    def peer_down(self, peer: str) -> None:
        """The driver dials again where we had asked it to. The other's link is ours to dial now."""
        if peer in self._wanted:
            self._dial(peer)

    def next_deadline_us(self) -> int | None:
        return self._next_us

    def deadline(self, now_us: int) -> None:
        self._next_us = None
        for peer in sorted(peer for peer, at in self._idle.items() if at <= now_us):
            self._close(peer, "idle")
        for peer in sorted(self._waiting):
            self._lose_patience(peer, now_us)
        for at in (*self._idle.values(), *(queue[0][0] for queue in self._waiting.values())):
            self._due(at)

    def _lose_patience(self, peer: str, now_us: int) -> None:
        queue = self._waiting[peer]
        late = []
        while queue and queue[0][0] <= now_us:
            late.append(queue.popleft()[1])
        if not queue:
            del self._waiting[peer]
            if peer not in self._wanted and peer not in self._brokers:
                self._close(peer, NO_LINK)
        for envelope in late:
            self._undelivered(peer, envelope)

    def give_up(self, peer: str) -> None:
        """This broker is dead: what waits for it goes back at once."""
        late = self._waiting.pop(peer, ())
        if peer not in self._wanted and peer not in self._brokers:
            self._close(peer, NO_LINK)
        for _, envelope in late:
            self._undelivered(peer, envelope)

    def _close(self, peer: str, reason: str) -> None:
        self._idle.pop(peer, None)
        if peer in self._dialled:
            self._dialled.discard(peer)
            self._outbox.effects.append(CloseLink(peer, reason))

    def _drop(self, peer: str, envelope: Envelope) -> None:
        self._outbox.drop(peer, envelope, NO_LINK)

    def _due(self, at_us: int) -> None:
        if self._next_us is None or at_us < self._next_us:
            self._next_us = at_us
