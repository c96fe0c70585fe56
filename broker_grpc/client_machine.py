"""The client: connect, advertise, subscribe, publish; reconnect; migrate a publisher.

A machine like the broker, with requests of the application as methods. Each returns effects, of which
`Delivered` and `Answered` are for the application and the others for the driver.

- Requests made while there is no connection wait for one. After a lost connection everything that is
  wanted is advertised and subscribed again, under new ids that the broker gives.
- Publications are handed over at most once. While the connection is lost, the advertisement is not
  acknowledged yet, or its publisher migrates, they wait in a bounded buffer.
- A publication that was delivered before is not delivered again (a window of ids); it is logged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import msgspec

from broker_grpc.client_migration import Migrations
from broker_grpc.client_ping import Pings
from broker_grpc.content.filters import Filter
from broker_grpc.content.language import format_filter, format_publication
from broker_grpc.content.predicates import check_attributes
from broker_grpc.errors import NotFoundError
from broker_grpc.machine import (
    Answered,
    CloseLink,
    Delivered,
    Effects,
    Log,
    OpenLink,
    PeerDown,
    PeerUp,
    Received,
    Rejected,
    Send,
    Stimulus,
)
from protos.envelope import encoded_size
from protos.messages import (
    Ack,
    Advertisement,
    Body,
    Envelope,
    MigrationAbort,
    MigrationOrder,
    MigrationResume,
    PingRequest,
    ProbeAnswer,
    Publication,
    Refusal,
    Subscription,
    Unadvertisement,
    Unsubscription,
    Value,
)
from protos.records import Kind, LogEvent


class ClientOptions(msgspec.Struct, omit_defaults=True):
    buffer: int = 10_000  # publications that wait while they cannot be handed over; more are dropped
    window: int = 8192  # ids of publications remembered to recognise duplicates, 0 = none
    log_content: bool = True  # attributes of publications in the log
    ping_timeout_us: int = 5_000_000  # patience for the round trips to candidate brokers
    migration_timeout_us: int = 30_000_000  # patience for a migration's target to be reached
    settle_us: int = 5_000_000  # for routes to come or go; the paper's bound of a 10-hop migration


class Item:
    """An advertisement or subscription that the application wants."""

    __slots__ = (
        "answered",
        "filter",
        "group",
        "home",
        "id",
        "is_advertisement",
        "leaving",
        "paused",
        "token",
    )

    def __init__(self, token: int, filter_: Filter, is_advertisement: bool, group: str, home: str) -> None:
        self.token = token
        self.filter = filter_
        self.is_advertisement = is_advertisement
        self.group = group
        self.home = home  # broker where it is, or will be, held
        self.id = ""  # given by the broker; empty = not acknowledged
        self.answered = False
        self.leaving = False
        self.paused = False  # publisher migrates


class Waiting(msgspec.Struct, gc=False):
    """A publication in the buffer."""

    item: int  # token of its advertisement, 0 = none
    publication: Publication


class ClientMachine:
    """One client; `addresses` of brokers is needed for migration and pings only."""

    def __init__(
        self,
        id_: str,
        broker: str,
        address: str = "",
        *,
        addresses: Mapping[str, str] | None = None,
        group: str = "",
        incarnation: int = 1,
        options: ClientOptions | None = None,
    ) -> None:
        self.id = id_
        self.broker = broker  # where new requests go; changes when a publisher has migrated
        self.addresses = {broker: address, **(addresses or {})}
        self.group = group
        self.options = options or ClientOptions()
        self.connected: set[str] = set()
        self.items: dict[int, Item] = {}
        self.published = 0
        self.delivered = 0
        self.dropped = 0
        self.now_us = 0
        self._out: Effects = []
        self._prefix = id_ if incarnation <= 1 else f"{id_}.{incarnation}"
        self._sequence = 0
        self._token = 0
        self._request = 0
        self._requests: dict[int, tuple[int, bool]] = {}  # request -> (token, is a withdrawal)
        self._buffer: deque[Waiting] = deque()
        self._seen: dict[str, None] = {}
        self._closing = False
        self._pings = Pings(self)
        self._migrations = Migrations(self)

    # ------------------------------------------------------------ the application

    def start(self, now_us: int) -> Effects:
        self._begin(now_us)
        self.open(self.broker)
        return self._out

    def advertise(self, now_us: int, filter_: Filter, group: str = "") -> tuple[int, Effects]:
        """The token stays valid over reconnections and migrations."""
        return self._want(now_us, filter_, True, group)

    def subscribe(self, now_us: int, filter_: Filter, group: str = "") -> tuple[int, Effects]:
        return self._want(now_us, filter_, False, group)

    def _want(self, now_us: int, filter_: Filter, is_advertisement: bool, group: str) -> tuple[int, Effects]:
        self._begin(now_us)
        self._token += 1
        item = Item(self._token, filter_, is_advertisement, group or self.group, self.broker)
        self.items[item.token] = item
        if item.home in self.connected:
            self._request_item(item)
        return item.token, self._out

    def withdraw(self, now_us: int, token: int) -> Effects:
        """Unadvertise or unsubscribe; raises NotFoundError. Answered with the same token."""
        self._begin(now_us)
        item = self.items.get(token)
        if item is None or item.leaving:
            raise NotFoundError(f"client {self.id} holds nothing under {token}")
        item.leaving = True
        if item.home not in self.connected:
            self._left(item)
        elif item.id:
            self._withdraw_item(item)  # otherwise when its id is known
        return self._out

    def publish(
        self, now_us: int, attributes: dict[str, Value], payload: bytes = b"", advertisement: int = 0
    ) -> tuple[str, Effects]:
        """Hand over, or buffer, one publication; raises LanguageError. Returns its id.

        `advertisement` is the token of the advertisement it belongs to; 0 = the first one.
        """
        check_attributes(attributes)
        self._begin(now_us)
        token = advertisement or self._first_advertisement()
        self._sequence += 1
        publication = Publication(
            f"{self._prefix}:{self._sequence}", self.id, "", now_us, attributes, payload
        )
        if self._buffer or not self._ready(token):
            self._keep(Waiting(token, publication))
            self._flush()
        else:
            self._hand_over(token, publication)
        return publication.id, self._out

    def close(self, now_us: int) -> Effects:
        """Withdraw everything, then disconnect. `closed` says when it is done."""
        self._begin(now_us)
        self._closing = True
        for token in sorted(self.items):
            item = self.items[token]
            if not item.leaving:
                item.leaving = True
                if item.home not in self.connected:
                    self._left(item)
                elif item.id:
                    self._withdraw_item(item)
        self._close_if_empty()
        return self._out

    @property
    def closed(self) -> bool:
        return self._closing and not self.connected and not self.items

    @property
    def buffered(self) -> int:
        return len(self._buffer)

    def settled(self) -> bool:
        """Connected, and everything wanted is acknowledged."""
        return self.broker in self.connected and all(item.id for item in self.items.values())

    # ------------------------------------------------------------ the machine

    def handle(self, now_us: int, stimulus: Stimulus) -> Effects:
        self._begin(now_us)
        if isinstance(stimulus, Received):
            self._received(stimulus.peer, stimulus.envelope)
        elif isinstance(stimulus, PeerUp):
            self._peer_up(stimulus.peer)
        elif isinstance(stimulus, PeerDown):
            self._peer_down(stimulus.peer, stimulus.reason)
        elif isinstance(stimulus, Rejected):
            self.log("REFUSED", peer=stimulus.peer, detail=f"{stimulus.reason}: {stimulus.detail}")
        else:
            self._pings.deadline(now_us)
            self._migrations.deadline(now_us)
        return self._out

    def next_deadline_us(self) -> int | None:
        due = (self._pings.next_deadline_us(), self._migrations.next_deadline_us())
        return min((d for d in due if d is not None), default=None)

    def _begin(self, now_us: int) -> None:
        self.now_us = now_us
        self._out = []

    def _received(self, peer: str, envelope: Envelope) -> None:
        body = envelope.body
        if isinstance(body, Publication):
            self._deliver(peer, envelope, body)
        elif isinstance(body, Ack):
            self._acknowledged(peer, envelope.request, body)
        elif isinstance(body, Refusal):
            self.log("REFUSED", peer=peer, detail=f"{body.reason}: {body.detail}")
            self._acknowledged(peer, envelope.request, Ack("", f"{body.reason}: {body.detail}"))
        elif isinstance(body, PingRequest):
            self._pings.asked(peer, body)
        elif isinstance(body, ProbeAnswer):
            self._pings.answered(peer, body)
        elif isinstance(body, MigrationOrder):
            self._migrations.ordered(peer, body)
        elif isinstance(body, MigrationResume):
            self._migrations.resumed(peer, body)
        elif isinstance(body, MigrationAbort):
            self._migrations.aborted(peer, body)

    # ------------------------------------------------------------ connection

    def _peer_up(self, peer: str) -> None:
        self.connected.add(peer)
        if peer == self.broker or any(item.home == peer for item in self.items.values()):
            self.log("CONNECTED", peer=peer)
        for token in sorted(self.items):
            item = self.items[token]
            if item.home == peer and not item.paused:
                self._request_item(item)
        self._pings.peer_up(peer)
        self._migrations.peer_up(peer)
        self._flush()

    def _peer_down(self, peer: str, reason: str) -> None:
        if peer not in self.connected:
            return
        self.connected.discard(peer)
        lost = {request for request, (token, _) in self._requests.items() if self._home(token) == peer}
        for request in lost:
            del self._requests[request]
        for token in sorted(self.items):
            item = self.items[token]
            if item.home == peer:
                item.id = ""
                if item.leaving:
                    self._left(item)
        self.log("DISCONNECTED", peer=peer, detail=reason)
        self._pings.peer_down(peer)
        self._migrations.peer_down(peer)

    def _home(self, token: int) -> str:
        item = self.items.get(token)
        return item.home if item is not None else ""

    def open(self, peer: str) -> None:
        self._out.append(OpenLink(peer, self.addresses.get(peer, "")))

    def release(self, peer: str, reason: str) -> None:
        """Disconnect from a broker that nothing needs any more."""
        needed = peer == self.broker or any(item.home == peer for item in self.items.values())
        if not needed and not self._pings.uses(peer) and not self._migrations.uses(peer):
            if peer in self.connected:
                self.connected.discard(peer)  # at once: what is sent from here on would be lost
                self.log("DISCONNECTED", peer=peer, detail=reason)
            self._out.append(CloseLink(peer, reason))

    def _close_if_empty(self) -> None:
        if self._closing and not self.items:
            for peer in sorted(self.connected | {self.broker}):
                self._out.append(CloseLink(peer, "client closed"))

    # ------------------------------------------------------------ advertisements and subscriptions

    def _request_item(self, item: Item) -> None:
        kind = Advertisement if item.is_advertisement else Subscription
        self._ask(item, kind("", self.id, item.filter.predicates), False)

    def _withdraw_item(self, item: Item) -> None:
        self._ask(item, Unadvertisement(item.id) if item.is_advertisement else Unsubscription(item.id), True)

    def _ask(self, item: Item, body: Body, is_withdrawal: bool) -> None:
        self._request += 1
        self._requests[self._request] = item.token, is_withdrawal
        self.send(item.home, body, self._request)

    def _acknowledged(self, peer: str, request: int, ack: Ack) -> None:
        token, is_withdrawal = self._requests.pop(request, (0, False))
        item = self.items.get(token)
        if item is None:
            return
        if is_withdrawal:
            self._left(item)
        elif ack.error:
            del self.items[token]
            self._out.append(Answered(token, error=ack.error))
            self._drop_waiting(token, ack.error)
        else:
            self._held(peer, item, ack.id)

    def _held(self, peer: str, item: Item, id_: str) -> None:
        item.id = id_
        kind: Kind = "ADVERTISED" if item.is_advertisement else "SUBSCRIBED"
        self.log(
            kind, peer=peer, message=id_, content=format_filter(item.filter.predicates), group=item.group
        )
        if not item.answered:
            item.answered = True
            self._out.append(Answered(item.token, id_))
        if item.leaving:
            self._withdraw_item(item)
        self._flush()

    def _left(self, item: Item) -> None:
        del self.items[item.token]
        kind: Kind = "UNADVERTISED" if item.is_advertisement else "UNSUBSCRIBED"
        self.log(kind, peer=item.home, message=item.id, group=item.group)
        self._out.append(Answered(item.token, item.id))
        self._drop_waiting(item.token, "unadvertised")
        self._close_if_empty()

    # ------------------------------------------------------------ publications

    def _first_advertisement(self) -> int:
        for token, item in self.items.items():
            if item.is_advertisement and not item.leaving:
                return token
        return 0

    def _ready(self, token: int) -> bool:
        """Whether a publication of this advertisement can be handed over now."""
        if not token:
            return self.broker in self.connected
        item = self.items.get(token)
        return item is not None and bool(item.id) and not item.paused and item.home in self.connected

    def _keep(self, waiting: Waiting) -> None:
        if len(self._buffer) >= self.options.buffer:
            self._dropped(waiting.publication, "buffer full")
        else:
            self._buffer.append(waiting)

    def _flush(self) -> None:
        """Hand over what can be, in order; what cannot stays."""
        if self._buffer:
            left: deque[Waiting] = deque()
            for waiting in self._buffer:
                if self._ready(waiting.item):
                    self._hand_over(waiting.item, waiting.publication)
                else:
                    left.append(waiting)
            self._buffer = left

    def _hand_over(self, token: int, publication: Publication) -> None:
        item = self.items.get(token)
        peer = item.home if item is not None else self.broker
        publication.advertisement = item.id if item is not None else ""
        envelope = Envelope(publication)
        self.published += 1
        self._out.append(Send(peer, envelope))
        content = format_publication(publication.attributes) if self.options.log_content else ""
        self.log("PUBLISHED", type="publication", peer=peer, message=publication.id, bytes=encoded_size(envelope),
                 published_us=publication.published_us, content=content, group=self.group)  # fmt: skip

    def _drop_waiting(self, token: int, reason: str) -> None:
        for waiting in [w for w in self._buffer if w.item == token]:
            self._buffer.remove(waiting)
            self._dropped(waiting.publication, reason)

    def _dropped(self, publication: Publication, reason: str) -> None:
        self.dropped += 1
        self.log("DROPPED", type="publication", message=publication.id, detail=reason,
                 published_us=publication.published_us)  # fmt: skip

    def _deliver(self, peer: str, envelope: Envelope, publication: Publication) -> None:
        if self._is_duplicate(publication.id):
            return self._dropped(publication, "duplicate")
        self.delivered += 1
        self._out.append(Delivered(publication, envelope.hops))
        self._out.append(
            Log(LogEvent(self.now_us, 0, self.id, "DELIVERED", "publication", peer, publication.id, envelope.hops,
                         encoded_size(envelope), publication.published_us, group=self.group))
        )  # fmt: skip

    def _is_duplicate(self, id_: str) -> bool:
        if not self.options.window:
            return False
        if id_ in self._seen:
            return True
        self._seen[id_] = None
        if len(self._seen) > self.options.window:
            del self._seen[next(iter(self._seen))]
        return False

    # ------------------------------------------------------------ for the parts of this machine

    def item_of(self, advertisement: str) -> Item | None:
        for item in self.items.values():
            if item.is_advertisement and item.id == advertisement:
                return item
        return None

    def send(self, peer: str, body: Body, request: int = 0) -> None:
        self._out.append(Send(peer, Envelope(body, 0, request)))

    def log(
        self, kind: Kind, *, peer: str = "", type: str = "", message: str = "", bytes: int = 0,
        published_us: int = 0, duration_us: int = 0, content: str = "", group: str = "", detail: str = "",
    ) -> None:  # fmt: skip
        event = LogEvent(self.now_us, 0, self.id, kind, type, peer, message, 0, bytes, published_us)
        event.duration_us, event.content, event.detail = duration_us, content, detail
        event.group = group or self.group
        self._out.append(Log(event))

    def moved(self, item: Item, broker: str) -> None:
        """A publisher has migrated: its advertisement is held at another broker from now on."""
        source, item.home, item.paused = item.home, broker, False
        if not any(other.home == source for other in self.items.values()):
            self.broker = broker
        self._flush()
        self.release(source, "publisher migrated")

    def request(self, item: Item) -> None:
        """Ask for it where it belongs, if there is a connection; else it is asked for when there is one."""
        asked = any(token == item.token for token, _ in self._requests.values())
        if item.home in self.connected and not asked:
            self._request_item(item)

    def resume(self, item: Item) -> None:
        """Publish where it was, the migration did not happen."""
        item.paused = False
        if not item.id:
            self.request(item)
        self._flush()
