"""The client: connect, advertise, subscribe, publish; reconnect; change the broker; parts of protocols' own.

A machine like the broker, with requests of the application as methods. Each returns effects, of which
`Delivered` and `Answered` are for the application and the others for the driver.

- Requests made while there is no connection wait for one. After a lost connection everything that is
  wanted is advertised and subscribed again, under new ids that the broker gives.
- If the broker stays away, the next fallback broker takes its place (GRAPE 4.2), if there are any.
- Publications are handed over at most once. While the connection is lost, the advertisement is not
  acknowledged yet, or its publisher migrates, they wait in a bounded buffer.
- A publication that was delivered before is not delivered again (a window of ids); the log has every copy.
"""

from __future__ import annotations

from collections import ChainMap, deque
from collections.abc import Mapping, MutableMapping, Sequence
from functools import cache
from typing import cast

from broker_grpc.client.handover import REDIRECTED
from broker_grpc.client.part import Handler, Part
from broker_grpc.client.publications import Publications
from broker_grpc.client.state import ClientOptions, Item
from broker_grpc.content.filters import Filter
from broker_grpc.content.language import format_filter
from broker_grpc.content.predicates import check_attributes
from broker_grpc.errors import NotFoundError
from broker_grpc.machine import (
    SPENT,
    Answered,
    CloseLink,
    Effect,
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
from broker_grpc.registry import ClientSide, registry
from protos.body import Body, Envelope
from protos.client_messages import Advertisement, Publication, Subscription, Unadvertisement, Unsubscription
from protos.content_messages import Value
from protos.core_messages import Ack, Refusal
from protos.envelope import encoded_size
from protos.records import Kind, LogEvent

__all__ = ["ClientMachine", "ClientOptions"]

COMPLAINTS = 100  # kept


@cache
def client_sides() -> dict[type[Body], tuple[int, ClientSide]]:
    """What is made when a message comes that nothing takes yet, with its rank: protocols' in the order of the
    registry, then the client's own."""
    sides = list(dict.fromkeys([*(side for entry in registry() for side in entry.client), REDIRECTED]))
    return {kind: (rank, side) for rank, side in enumerate(sides) for kind in side.takes}


class ClientMachine:
    """One client; `addresses` of brokers is needed where brokers send it to others by name alone."""

    def __init__(
        self,
        id_: str,
        broker: str,
        address: str = "",
        *,
        addresses: Mapping[str, str] | None = None,
        fallbacks: Sequence[str] = (),
        group: str = "",
        incarnation: int = 1,
        options: ClientOptions | None = None,
        publication_prefix: str = "",
    ) -> None:
        """`publication_prefix` of publication ids, unique in the run; else made of id and incarnation."""
        self.id = id_
        self.broker = broker  # where new requests go; changes when a publisher has migrated
        # Shared: a copy for each of many clients of many brokers would be most of the memory.
        self.addresses: MutableMapping[str, str] = ChainMap(
            {broker: address}, cast(MutableMapping[str, str], addresses or {})
        )
        self.group = group
        self.options = options or ClientOptions()
        self.connected: set[str] = set()
        self.items: dict[int, Item] = {}
        self.now_us = 0
        self._out: Effects = []
        prefix = publication_prefix or (id_ if incarnation <= 1 else f"{id_}.{incarnation}")
        self._token = 0
        self._request = 0
        self._requests: dict[int, tuple[int, bool]] = {}  # request -> (token, is a withdrawal)
        self._closing = False
        self.complaints: deque[str] = deque(maxlen=COMPLAINTS)  # of brokers, about no request of ours
        self._candidates = [broker, *fallbacks]
        self._fall_back_at: int | None = None
        # Of every body but publications; each part adds its own, when it is made.
        self.handlers: dict[type[Body], Handler] = {Ack: self._acknowledged, Refusal: self._refused}
        self._publications = Publications(self, prefix)
        self._parts: dict[int, Part] = {}  # by their rank, in which they are told what happens

    # ------------------------------------------------------------ the application

    def start(self, now_us: int) -> Effects:
        self._begin(now_us)
        self._open_home()
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

        `advertisement` is the token of the advertisement it belongs to; 0 = the first that it matches, or
        the first.
        """
        check_attributes(attributes)
        self._begin(now_us)
        return self._publications.publish(attributes, payload, advertisement), self._out

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
    def published(self) -> int:
        return self._publications.published

    @property
    def delivered(self) -> int:
        return self._publications.delivered

    @property
    def dropped(self) -> int:
        return self._publications.dropped

    @property
    def buffered(self) -> int:
        return len(self._publications)

    @property
    def buffered_bytes(self) -> int:
        """Payloads in the buffer."""
        return self._publications.waiting_bytes

    def settled(self) -> bool:
        """Connected, and everything wanted is acknowledged."""
        return self.broker in self.connected and all(item.id for item in self.items.values())

    # ------------------------------------------------------------ the machine

    def handle(self, now_us: int, stimulus: Stimulus) -> Effects:
        if isinstance(stimulus, Received):
            return self.receive(now_us, stimulus.peer, stimulus.envelope)
        self._begin(now_us)
        if isinstance(stimulus, PeerUp):
            self._peer_up(stimulus.peer)
        elif isinstance(stimulus, PeerDown):
            self._peer_down(stimulus.peer, stimulus.reason)
        elif isinstance(stimulus, Rejected):
            self.log("REFUSED", peer=stimulus.peer, detail=f"{stimulus.reason}: {stimulus.detail}")
        else:
            for part in self._told():
                part.deadline(now_us)
            if self._fall_back_at is not None and self._fall_back_at <= now_us:
                self._fall_back()
        return self._out

    def receive(self, now_us: int, peer: str, envelope: Envelope) -> Effects:
        """`handle` of a `Received`, for a driver that spares itself the object."""
        self.now_us = now_us
        out: Effects = []
        self._out = out
        body = envelope.body
        if body.__class__ is Publication:
            self._publications.deliver(peer, envelope, body)
        else:
            self._received(peer, envelope)
        self._out = SPENT
        return out

    def next_deadline_us(self) -> int | None:
        """A publication that comes in does not move it."""
        if not self._parts:
            return self._fall_back_at
        due = (*(part.next_deadline_us() for part in self._parts.values()), self._fall_back_at)
        return min((d for d in due if d is not None), default=None)

    def _begin(self, now_us: int) -> None:
        self.now_us = now_us
        self._out = []

    def _received(self, peer: str, envelope: Envelope) -> None:
        body = envelope.body
        handler = self.handlers.get(body.__class__) or self._handler_of_new_part(body.__class__)
        if handler is not None:
            handler(peer, envelope, body)
        else:
            detail = "the client has no use for it"
            self.log("DROPPED", peer=peer, type=body.type, bytes=encoded_size(envelope), detail=detail)

    def _handler_of_new_part(self, kind: type[Body]) -> Handler | None:
        rank, side = client_sides().get(kind, (0, None))
        if side is None or rank in self._parts:
            return None
        part = self._parts[rank] = side.build(self)
        self._parts = dict(sorted(self._parts.items()))
        self.handlers |= part.handlers()
        return self.handlers.get(kind)

    def _told(self) -> list[Part]:
        """Another may be made, or one may end, while they are told."""
        return list(self._parts.values())

    def _refused(self, peer: str, envelope: Envelope, body: Refusal) -> None:
        refusal = f"{body.reason}: {body.detail}"
        if envelope.request in self._requests:
            self._acknowledged(peer, envelope, Ack("", refusal))
        else:
            self.complaints.append(refusal)
            self.log("REFUSED", peer=peer, detail=refusal)

    # ------------------------------------------------------------ connection

    def _peer_up(self, peer: str) -> None:
        self.connected.add(peer)
        if peer == self.broker:
            self._fall_back_at = None
        if peer == self.broker or any(item.home == peer for item in self.items.values()):
            self.log("CONNECTED", peer=peer)
        for token in sorted(self.items):
            item = self.items[token]
            if item.home == peer and not item.paused:
                self._request_item(item)
        for part in self._told():
            part.peer_up(peer)
        self._publications.flush()

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
        if peer == self.broker and not self._closing:
            self._expect_home()
        for part in self._told():
            part.peer_down(peer)

    def _home(self, token: int) -> str:
        item = self.items.get(token)
        return item.home if item is not None else ""

    def _open_home(self) -> None:
        self.open(self.broker)
        self._expect_home()

    def _expect_home(self) -> None:
        if self.options.fallback_after_us and len(self._candidates) > 1:
            self._fall_back_at = self.now_us + self.options.fallback_after_us

    def _fall_back(self) -> None:
        """Give the broker up; what was wanted there is wanted at the next one."""
        lost = self.broker
        at = self._candidates.index(lost) if lost in self._candidates else -1
        self.broker = self._candidates[(at + 1) % len(self._candidates)]
        for item in self.items.values():
            if item.home == lost:
                item.home = self.broker
        self.release(lost, "the broker stays away")
        self._open_home()

    def open(self, peer: str) -> None:
        self._out.append(OpenLink(peer, self.addresses.get(peer, "")))

    def release(self, peer: str, reason: str) -> None:
        """Disconnect from a broker that nothing needs any more."""
        needed = peer == self.broker or any(item.home == peer for item in self.items.values())
        if not needed and not any(part.uses(peer) for part in self._parts.values()):
            if peer in self.connected:
                self.connected.discard(peer)  # at once: what is sent from here on would be lost
                self.log("DISCONNECTED", peer=peer, detail=reason)
            self._out.append(CloseLink(peer, reason))

    def _close_if_empty(self) -> None:
        if self._closing and not self.items:
            known = self.connected.union({self.broker}, *(part.peers() for part in self._parts.values()))
            for peer in sorted(known):
                self._out.append(CloseLink(peer, "client closed"))

    # ------------------------------------------------------------ advertisements and subscriptions

    def _request_item(self, item: Item) -> None:
        kind = Advertisement if item.is_advertisement else Subscription
        self._ask(item, kind("", self.id, item.filter.predicates), False)

    def _withdraw_item(self, item: Item) -> None:
        self._ask(item, Unadvertisement(item.id) if item.is_advertisement else Unsubscription(item.id), True)

    def _ask(self, item: Item, body: Body, is_withdrawal: bool) -> None:
        request = self.new_request()
        self._requests[request] = item.token, is_withdrawal
        self.send(item.home, body, request)

    def _acknowledged(self, peer: str, envelope: Envelope, ack: Ack) -> None:
        token, is_withdrawal = self._requests.pop(envelope.request, (0, False))
        item = self.items.get(token)
        if item is None:
            return
        if is_withdrawal:
            self._left(item)
        elif ack.error:
            del self.items[token]
            self.log("REFUSED", peer=peer, detail=ack.error, group=item.group)
            self._out.append(Answered(token, error=ack.error))
            self._publications.drop_waiting(token, ack.error)
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
        self._publications.flush()

    def _left(self, item: Item) -> None:
        del self.items[item.token]
        kind: Kind = "UNADVERTISED" if item.is_advertisement else "UNSUBSCRIBED"
        self.log(kind, peer=item.home, message=item.id, group=item.group)
        self._out.append(Answered(item.token, item.id))
        self._publications.drop_waiting(item.token, "unadvertised")
        self._close_if_empty()

    # ------------------------------------------------------------ for the parts of this machine

    def expects_copies(self) -> bool:
        """Whether two brokers may have notified of the same publication."""
        return any(part.expects_copies() for part in self._parts.values())

    def had(self, publication: str) -> bool:
        """Whether this one was delivered, as far as the window of ids tells."""
        return self._publications.had(publication)

    def item_of(self, advertisement: str) -> Item | None:
        for item in self.items.values():
            if item.is_advertisement and item.id == advertisement:
                return item
        return None

    def send(self, peer: str, body: Body, request: int = 0) -> None:
        self.emit(Send(peer, Envelope(body, 0, request)))

    def emit(self, effect: Effect) -> None:
        self._out.append(effect)

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
        self._publications.flush()
        self.release(source, "publisher migrated")

    def handed_over(self, broker: str) -> None:
        """What was held elsewhere is held at this broker, which is home from now on."""
        self.broker = broker
        self._publications.flush()

    def new_request(self) -> int:
        self._request += 1
        return self._request

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
        self._publications.flush()
