"""The client API.

    async with Client("10.0.0.1:5000", id="alice") as c:
        await c.subscribe("[class,eq,'STOCK'],[price,>,10]")
        async for n in c:
            print(n.attributes["price"], n.hops, n.delay_us)

It reconnects by itself: whatever was subscribed and advertised is so again, publications wait meanwhile.
When the brokers decide that a publisher should move (POP, GRAPE), it pauses, buffers and resumes at the new
broker.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from types import TracebackType

import msgspec

from broker_grpc.client.machine import ClientMachine, ClientOptions
from broker_grpc.client.runtime import ClientRuntime
from broker_grpc.content.filters import Filter
from broker_grpc.content.language import parse_filter, parse_publication
from broker_grpc.errors import BrokerError, LimitExceeded
from broker_grpc.machine import Answered, Delivered, Effect, Effects
from broker_grpc.process.clock import RunClock
from broker_grpc.process.eventlog import EventLog
from broker_grpc.process.session import Session
from broker_grpc.process.tls import TlsFiles
from broker_grpc.registry import registry
from protos.body import Envelope
from protos.client_messages import Publication
from protos.content_messages import Value
from protos.envelope import decode, encoded_size

HIGH_WATER = 1000  # messages on their way out, above which `publish` waits
HIGH_WATER_BYTES = 4 << 20  # and bytes; far below the limit of a session, which drops what does not fit
ROOM_FOR_NAMES = 1000  # bytes of a publication's ids
LOG_FLUSH_S = 1.0


class NotConnected(BrokerError):
    """No broker answers at the address."""

    reason = "not_connected"


class PublicationsLost(BrokerError):
    """Publications that `publish` had taken were lost with a connection; `count` says how many."""

    reason = "lost"

    def __init__(self, count: int, client: str) -> None:
        super().__init__(f"{count} publications of {client!r} were lost with the connection to the broker")
        self.count = count


class Refused(BrokerError):
    """The broker did not accept an advertisement or subscription; the text says why."""

    reason = "refused"


class Notification(msgspec.Struct, frozen=True):
    """A publication that matched one of our subscriptions."""

    id: str
    publisher: str
    attributes: dict[str, Value]
    payload: bytes
    published_us: int
    received_us: int
    hops: int

    @property
    def delay_us(self) -> int:
        """Meaningful where both ends have the same clock."""
        return self.received_us - self.published_us


class Held(msgspec.Struct, frozen=True):
    """An advertisement or subscription of ours. The token stays, the id changes when we reconnect."""

    token: int
    id: str


class Client:
    def __init__(
        self,
        address: str,
        id: str,
        *,
        broker: str = "",
        tls: TlsFiles | None = None,
        clock: RunClock | None = None,
        events: str | os.PathLike[str] = os.devnull,
        connect_timeout_s: float = 10.0,
        notifications: int = 10_000,
        options: ClientOptions | None = None,
    ) -> None:
        """`broker`: id that the broker must have; empty = whoever is there. `notifications`: how many may
        wait for the application; later ones are dropped and counted in `missed`."""
        self.id = id
        self.address = address
        self.missed = 0
        self._any_id = not broker
        self._broker = broker or address
        self._tls = tls
        self._clock = clock or RunClock()
        self._events = events
        self._timeout_s = connect_timeout_s
        self._room = notifications
        self._options = options
        self._inbox: deque[Notification] = deque()
        self._arrived = asyncio.Event()
        self._answers: dict[int, asyncio.Future[Answered]] = {}
        self._connected = asyncio.Event()
        self._gone = asyncio.Event()
        self._moved = asyncio.Event()  # something has happened to the connection or the buffer
        self._lost = 0  # publications, since the application was last told
        self._closed = False

    # ------------------------------------------------------------ connection

    async def __aenter__(self) -> Client:
        registry()  # what brokers of other packages send can be decoded
        incarnation = _next_incarnation()
        self._log = EventLog(os.fspath(self._events), self.id, self._clock, on_first=self._flush_later)
        self._machine = ClientMachine(
            self.id,
            self._broker,
            self.address,
            incarnation=incarnation,
            options=self._options,
            publication_prefix=f"{self.id}.{incarnation:x}-{os.getpid():x}",
        )
        self._runtime = ClientRuntime(
            self._machine,
            self._clock,
            self._log,
            incarnation=incarnation,
            tls=self._tls,
            any_id=self._any_id,
        )
        self._runtime.on_effect = self._effect
        self._runtime.on_handled = self._handled
        self._runtime.on_detached = self._detached
        self._runtime.act(self._machine.start(self._runtime.now_us()))
        await self._wait_for_connection()
        return self

    async def _wait_for_connection(self) -> None:
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._connected.wait()
        except TimeoutError:
            raise NotConnected(self._why_not()) from None
        finally:
            if not self._connected.is_set():  # also when the caller has given up
                self._closed = True
                await self._runtime.hang_up()
                self._log.close()

    def _why_not(self) -> str:
        where = f"{self.id!r} at {self.address}"
        if self._runtime.refusal:
            return f"the broker did not take {where}: {self._runtime.refusal}"
        return f"no broker answers {where} within {self._timeout_s:g} s"

    def _flush_later(self) -> None:
        asyncio.get_running_loop().call_later(LOG_FLUSH_S, self._log.flush)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.close()
        except PublicationsLost:
            if error is None:
                raise

    async def close(self) -> None:
        """Withdraw everything, let publications on their way arrive, disconnect.

        PublicationsLost when some did not leave, after everything is closed.
        """
        if self._closed:
            return
        self._closed = True
        self._runtime.act(self._machine.close(self._runtime.now_us()))
        self._handled()
        left = self._runtime.queued + 1
        while not self._gone.is_set() and self._runtime.queued < left:
            left = self._runtime.queued
            with contextlib.suppress(TimeoutError):  # nothing moves: hang up all the same
                async with asyncio.timeout(self._timeout_s):
                    await self._gone.wait()
        await self._runtime.hang_up()
        self._log.close()
        self._arrived.set()
        self._lost += self._machine.buffered
        self._tell_lost()

    @property
    def complaints(self) -> list[str]:
        """The last words of brokers about no request of ours: refused publications, dropped notifications."""
        return list(self._machine.complaints)

    @property
    def connected(self) -> bool:
        return self._connected.is_set()

    @property
    def broker(self) -> str:
        """Where we publish now: changes with a migration."""
        return self._machine.broker

    # ------------------------------------------------------------ requests

    async def subscribe(self, filter: str | Filter, group: str = "") -> Held:
        """Returns when the broker has taken it. LanguageError or Refused."""
        self._check_open()
        token, effects = self._machine.subscribe(self._runtime.now_us(), _filter(filter), group)
        return await self._granted(token, effects)

    async def advertise(self, filter: str | Filter, group: str = "") -> Held:
        self._check_open()
        token, effects = self._machine.advertise(self._runtime.now_us(), _filter(filter), group)
        return await self._granted(token, effects)

    async def _granted(self, token: int, effects: Effects) -> Held:
        held = await self._answered(token, effects)
        if not held.id:
            raise NotConnected(f"client {self.id!r} was closed before the broker answered")
        return held

    def _check_open(self) -> None:
        if self._closed:
            raise NotConnected(f"client {self.id!r} is closed")

    async def withdraw(self, held: Held) -> None:
        """Unsubscribe or unadvertise."""
        await self._answered(held.token, self._machine.withdraw(self._runtime.now_us(), held.token))

    unsubscribe = withdraw
    unadvertise = withdraw

    async def publish(
        self, content: str | Mapping[str, Value], payload: bytes = b"", advertisement: Held | None = None
    ) -> str:
        """Hand over one publication, and return its id. Waits while the broker does not keep up.

        `advertisement`: to which of ours it belongs; else the first that it matches. LanguageError for bad
        content, LimitExceeded for more than any broker would take, NotConnected after `close` and when the
        buffer for lost connections is full and none comes; PublicationsLost for earlier ones that went with
        their connection, and then this one is not taken either.
        """
        # A copy: it may wait in a buffer while the caller goes on to use the dictionary.
        attributes = parse_publication(content) if isinstance(content, str) else dict(content)
        self._check_size(attributes, payload)
        await self._has_room()
        self._check_open()
        self._tell_lost()
        token = advertisement.token if advertisement is not None else 0
        id_, effects = self._machine.publish(self._runtime.now_us(), attributes, payload, token)
        self._runtime.act(effects)
        return id_

    def _check_size(self, attributes: dict[str, Value], payload: bytes) -> None:
        limit = self._runtime.limits.max_message_bytes
        texts = sum(len(name) + len(str(value)) for name, value in attributes.items())
        if 4 * (len(payload) + texts) < limit:
            return  # by far; it is measured when it is encoded, and not here as well
        size = encoded_size(Envelope(Publication("", self.id, "", 0, attributes, payload))) + ROOM_FOR_NAMES
        if size > limit:
            raise LimitExceeded(f"a publication of {size} bytes; at most {limit} are accepted")

    async def _has_room(self) -> None:
        """Returns when one more publication fits into what is on its way, or into the buffer for later."""
        while not self._closed:
            runtime, machine = self._runtime, self._machine
            if runtime.queued >= HIGH_WATER or runtime.queued_bytes >= HIGH_WATER_BYTES:
                await asyncio.gather(*(session.drained() for session in runtime.sessions.values()))
            elif machine.buffered >= machine.options.buffer or machine.buffered_bytes >= HIGH_WATER_BYTES:
                await self._wait_for_move()
            else:
                return

    async def _wait_for_move(self) -> None:
        self._moved.clear()
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._moved.wait()
        except TimeoutError:
            waiting = f"{self._machine.buffered} publications wait"
            raise NotConnected(f"{waiting} and nothing takes them: {self._why_not()}") from None

    def _detached(self, session: Session) -> None:
        """Publications that were never given to the network are gone with their stream."""
        self._lost += sum(isinstance(decode(data).body, Publication) for data in session.left())

    def _tell_lost(self) -> None:
        lost, self._lost = self._lost, 0
        if lost:
            raise PublicationsLost(lost, self.id)

    async def _answered(self, token: int, effects: Effects) -> Held:
        answer = self._answers[token] = asyncio.get_running_loop().create_future()
        self._runtime.act(effects)
        try:
            result = await answer
        except asyncio.CancelledError:
            self._give_up(token)
            raise
        finally:
            self._answers.pop(token, None)
        if result.error:
            raise Refused(result.error)
        return Held(token, result.id)

    def _give_up(self, token: int) -> None:
        """Nobody waits for the answer any more: nobody could ever withdraw what it would grant."""
        item = self._machine.items.get(token)
        if item is not None and not item.leaving and not self._closed:
            self._runtime.act(self._machine.withdraw(self._runtime.now_us(), token))

    # ------------------------------------------------------------ notifications

    def __aiter__(self) -> AsyncIterator[Notification]:
        return self

    async def __anext__(self) -> Notification:
        while not self._inbox:
            if self._closed:
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        return self._inbox.popleft()

    def _effect(self, effect: Effect) -> None:
        if isinstance(effect, Delivered):
            self._deliver(effect)
        elif isinstance(effect, Answered):
            waiting = self._answers.get(effect.token)
            if waiting is not None and not waiting.done():
                waiting.set_result(effect)

    def _deliver(self, effect: Delivered) -> None:
        if len(self._inbox) >= self._room:
            self.missed += 1
            return
        body = effect.publication
        self._inbox.append(
            Notification(
                body.id,
                body.publisher,
                body.attributes,
                body.payload,
                body.published_us,
                self._machine.now_us,
                effect.hops,
            )
        )
        self._arrived.set()

    def _handled(self) -> None:
        self._moved.set()
        if self._machine.broker in self._machine.connected:
            self._connected.set()
        else:
            self._connected.clear()
        if self._machine.closed:
            self._gone.set()


_last_incarnation = 0


def _next_incarnation() -> int:
    """Grows from one client to the next of the same id, in this process and from one process to the next."""
    global _last_incarnation
    _last_incarnation = max(time.time_ns() // 1_000_000, _last_incarnation + 1)
    return _last_incarnation


def _filter(filter: str | Filter) -> Filter:
    return parse_filter(filter) if isinstance(filter, str) else filter
