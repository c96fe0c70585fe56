"""Overlay.Link: one stream per overlay link. One end dials and redials, or both do (`core.crossing`).

Clients dial in the same way, another service.
"""

from __future__ import annotations

import asyncio
import contextlib
import random

from broker_grpc.core.crossing import Crossing, is_overtaken
from broker_grpc.core.limits import PATIENCE_AT_END_US, Limits
from broker_grpc.errors import BrokerError, ProtocolError
from broker_grpc.machine import PeerKind
from broker_grpc.process.conversation import converse
from broker_grpc.process.handshake import RefusedByPeer, hello, log_hello, log_received, log_sent, read_hello
from broker_grpc.process.runtime import Runtime
from broker_grpc.process.session import Session
from broker_grpc.process.tls import TlsFiles
from broker_grpc.process.transport import CONNECT, LINK, AcceptedStream, DialledStream, StreamLost
from protos.core_messages import Hello
from protos.records import LogEvent

PATIENCE_AT_END_S = PATIENCE_AT_END_US / 1e6  # without any progress


class Backoff:
    """Doubling waits with jitter. Seeded, so that a run in virtual time is the same every time."""

    def __init__(self, limits: Limits, rng: random.Random) -> None:
        self._limits = limits
        self._rng = rng
        self._failures = 0

    def next_s(self) -> float:
        ceiling = min(self._limits.redial_max_us, self._limits.redial_min_us << min(self._failures, 20))
        self._failures += 1
        return ceiling * self._rng.uniform(0.5, 1.0) / 1e6

    def reset(self) -> None:
        self._failures = 0


async def end_gracefully(session: Session, reason: str) -> None:
    """Let all that was sent arrive: gRPC throws away what the other side has not read when a call is cut."""
    with contextlib.suppress(TimeoutError):
        await drained_in_patience(session)
        async with asyncio.timeout(PATIENCE_AT_END_S):
            if isinstance(session.stream, DialledStream):
                await session.stream.finish()
                await session.ended.wait()
    session.close(reason)


async def drained_in_patience(session: Session) -> None:
    """TimeoutError when nothing leaves the queue for a while; a slow peer or processor is waited for."""
    left = session.queued + 1
    while 0 < session.queued < left:
        left = session.queued
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_AT_END_S):
                await session.drained()
                return
    if session.queued:
        raise TimeoutError


class Dialler:
    """Dials until told to stop: the LinkKeeper of a broker or client."""

    def __init__(
        self,
        identity: str,
        kind: PeerKind,
        incarnation: int,
        runtime: Runtime,
        *,
        seed: int = 0,
        tls: TlsFiles | None = None,
        any_id: bool = False,
    ) -> None:
        """`any_id`: whoever answers at the address is the peer, whatever its id."""
        self._identity = identity
        self._kind: PeerKind = kind
        self._any_id = any_id
        self.crossing = Crossing(identity, incarnation)
        self.refusal = ""  # of our last hello, if it was refused
        self._runtime = runtime
        self._seed = seed
        self._tls = tls
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._endings: set[asyncio.Task[None]] = set()

    def open(self, peer: str, address: str) -> None:
        if peer not in self._tasks and address:
            self._tasks[peer] = asyncio.create_task(self._keep(peer, address), name=f"dial {peer}")

    def close(self, peer: str, reason: str, redial: bool) -> None:
        """End the stream, now if it only seems dead (`redial`), else after what is queued on it."""
        session = self._runtime.sessions.get(peer)
        task = None if redial else self._tasks.pop(peer, None)
        if task is not None and (session is None or self._dialled_by_peer(peer) is session):
            task.cancel()
        if session is None:
            return
        if redial:
            # Later, not from inside the machine's own answer: it hears of this end as of any other.
            asyncio.get_running_loop().call_soon(session.close, reason)
        else:
            ending = asyncio.create_task(end_gracefully(session, reason), name=f"end {peer}")
            self._endings.add(ending)
            ending.add_done_callback(self._endings.discard)

    async def stop(self) -> None:
        tasks = [*self._tasks.values(), *self._endings]
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _keep(self, peer: str, address: str) -> None:
        backoff = Backoff(self._runtime.limits, random.Random(f"{self._seed}/{self._identity}/{peer}"))
        said = ""  # the last refusal
        while self._tasks.get(peer) is asyncio.current_task():
            theirs = self._dialled_by_peer(peer)
            if theirs is not None:
                await theirs.ended.wait()
                backoff.reset()
                said = ""
            elif peer not in self.crossing.answering:
                said = await self._try(peer, address, backoff, said)
            if self._tasks.get(peer) is asyncio.current_task():
                await asyncio.sleep(backoff.next_s())

    def _dialled_by_peer(self, peer: str) -> Session | None:
        """The stream that is up, if it was not dialled here: there is no need to dial."""
        session = self._runtime.sessions.get(peer)
        return session if session is not None and isinstance(session.stream, AcceptedStream) else None

    async def _try(self, peer: str, address: str, backoff: Backoff, said: str) -> str:
        """One dial, and the stream until its end; returns why it was refused."""
        try:
            await self._dial(peer, address, backoff)
        except StreamLost:
            return ""
        except BrokerError as error:
            self.refusal = str(error)
            if str(error) != said:  # the same refusal, dial after dial, is one event
                said = str(error)
                self._runtime.log.write(LogEvent(kind="REFUSED", peer=peer, type="hello", detail=said))
        return said

    async def _dial(self, peer: str, address: str, backoff: Backoff) -> None:
        limits = self._runtime.limits
        stream = DialledStream(
            address,
            LINK if self._kind == "broker" else CONNECT,
            max_message_bytes=limits.max_message_bytes,
            tls=self._tls,
            server_name="" if self._any_id else peer,
        )
        try:
            session = await self._greet(peer, stream)
            backoff.reset()
            await converse(session, self._runtime)
        finally:
            with contextlib.suppress(Exception):
                await stream.close()

    async def _greet(self, peer: str, stream: DialledStream) -> Session:
        greeting = self.crossing.begin(peer)
        try:
            return await self._exchange_hellos(peer, stream, greeting)
        finally:
            self.crossing.end(peer, greeting)

    async def _exchange_hellos(self, peer: str, stream: DialledStream, incarnation: int) -> Session:
        limits = self._runtime.limits
        greeting = hello(self._identity, self._kind, incarnation)
        try:
            async with asyncio.timeout(limits.hello_timeout_us / 1e6):
                await stream.write(greeting)
        except TimeoutError:
            raise StreamLost("no connection in time") from None
        answer = await self._answer(peer, stream, len(greeting))
        if answer.id != peer and not self._any_id:
            raise ProtocolError(f"dialled {peer!r} and got {answer.id!r}")
        theirs = self._dialled_by_peer(peer)
        if theirs is not None and is_overtaken(theirs.incarnation, answer.incarnation):
            raise StreamLost("the peer has dialled since")
        return Session(peer, "broker", answer.incarnation, stream, limits)

    async def _answer(self, peer: str, stream: DialledStream, sent: int) -> Hello:
        """To our hello. Of a client's the brokers' logs tell."""
        log = self._runtime.log if self._kind == "broker" else None
        if log is not None:
            log_sent(log, peer, "hello", sent)
        try:
            answer = await read_hello(stream, "broker", self._runtime.limits)
        except RefusedByPeer as refusal:
            if log is not None:
                log_received(log, peer, "refusal", refusal.size)
            raise
        if log is not None:
            log_hello(log, answer)
        return answer
