"""A client's publications: handed over at most once, in order, or kept until they can be."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from broker_grpc.client.state import DuplicateWindow, Waiting
from broker_grpc.content.language import format_publication
from broker_grpc.machine import Delivered, Log, Send
from protos.body import Envelope
from protos.client_messages import Publication
from protos.content_messages import Value
from protos.envelope import encoded_size, publication_size
from protos.records import LogEvent

if TYPE_CHECKING:
    from broker_grpc.client.machine import ClientMachine


class Publications:
    def __init__(self, client: ClientMachine, id_prefix: str) -> None:
        self._client = client
        self._id_prefix = id_prefix
        self._sequence = 0
        self._buffer: deque[Waiting] = deque()
        self.waiting_bytes = 0  # payloads in the buffer
        self._window = DuplicateWindow(client.options.window)
        self.published = 0
        self.delivered = 0
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._buffer)

    # ------------------------------------------------------------ out

    def publish(self, attributes: dict[str, Value], payload: bytes, advertisement: int) -> str:
        client = self._client
        token = advertisement or self._advertisement_of(attributes)
        self._sequence += 1
        id_ = f"{self._id_prefix}:{self._sequence}"
        publication = Publication(id_, client.id, "", client.now_us, attributes, payload)
        if self._buffer or not self._ready(token):
            self._keep(Waiting(token, publication))
            self.flush()
        else:
            self._hand_over(token, publication)
        return id_

    def _advertisement_of(self, attributes: dict[str, Value]) -> int:
        """The first that the publication matches; if it matches none, the first."""
        first = 0
        for token, item in self._client.items.items():
            if item.is_advertisement and not item.leaving:
                if item.filter.matches(attributes):
                    return token
                first = first or token
        return first

    def _ready(self, token: int) -> bool:
        """Whether a publication of this advertisement can be handed over now."""
        client = self._client
        if not token:
            return client.broker in client.connected
        item = client.items.get(token)
        return item is not None and bool(item.id) and not item.paused and item.home in client.connected

    def _keep(self, waiting: Waiting) -> None:
        if len(self._buffer) >= self._client.options.buffer:
            self._drop(waiting.publication, "buffer full")
        else:
            self._buffer.append(waiting)
            self.waiting_bytes += len(waiting.publication.payload)

    def flush(self) -> None:
        """Hand over what can be, in order; what cannot stays."""
        if self._buffer:
            left: deque[Waiting] = deque()
            for waiting in self._buffer:
                if self._ready(waiting.item):
                    self.waiting_bytes -= len(waiting.publication.payload)
                    self._hand_over(waiting.item, waiting.publication)
                else:
                    left.append(waiting)
            self._buffer = left

    def _hand_over(self, token: int, publication: Publication) -> None:
        client = self._client
        item = client.items.get(token)
        peer = item.home if item is not None else client.broker
        publication.advertisement = item.id if item is not None else ""
        envelope = Envelope(publication)
        self.published += 1
        client.emit(Send(peer, envelope))
        content = format_publication(publication.attributes) if client.options.log_content else ""
        event = LogEvent(client.now_us, 0, client.id, "PUBLISHED", "publication", peer, publication.id, 0,
                         encoded_size(envelope), publication.published_us, content=content,
                         group=client.group)  # fmt: skip
        client.emit(Log(event))

    def drop_waiting(self, token: int, reason: str) -> None:
        """The advertisement of these is gone."""
        gone = [waiting for waiting in self._buffer if waiting.item == token]
        if gone:
            self._buffer = deque(waiting for waiting in self._buffer if waiting.item != token)
        for waiting in gone:
            self.waiting_bytes -= len(waiting.publication.payload)
            self._drop(waiting.publication, reason)

    def _drop(self, publication: Publication, reason: str) -> None:
        self.dropped += 1
        client = self._client
        event = LogEvent(client.now_us, 0, client.id, "DROPPED", "publication", message=publication.id)
        event.published_us, event.detail, event.group = publication.published_us, reason, client.group
        client.emit(Log(event))

    # ------------------------------------------------------------ in

    def deliver(self, peer: str, envelope: Envelope, publication: Publication) -> None:
        """A copy is kept from the application, never from the log: the invariant is checked there. While two
        brokers serve the client a second copy is no fault of theirs."""
        client = self._client
        copy = self._window.is_duplicate(publication.id)
        if copy and client.expects_copies():
            return self._second_copy(peer, envelope, publication)
        if not copy:
            self.delivered += 1
            client.emit(Delivered(publication, envelope.hops))
        event = LogEvent(client.now_us, 0, client.id, "DELIVERED", "publication", peer, publication.id,
                         envelope.hops, publication_size(envelope), publication.published_us,
                         group=client.group, detail="duplicate" if copy else "")  # fmt: skip
        client.emit(Log(event))

    def had(self, id_: str) -> bool:
        return id_ in self._window

    def _second_copy(self, peer: str, envelope: Envelope, publication: Publication) -> None:
        size = publication_size(envelope)
        self._client.log("DROPPED", peer=peer, type=publication.type, message=publication.id, bytes=size,
                         published_us=publication.published_us, detail="second copy")  # fmt: skip
