"""One live stream with a peer, and the bounded queue of what waits to be sent on it.

A peer that does not read fills its own queue and nothing else: what does not fit is dropped and counted, and
the peer is told how many as soon as it reads again.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

from broker_grpc.core.limits import Limits
from broker_grpc.machine import PeerKind
from broker_grpc.process.transport import Stream, StreamLost


class Session:
    def __init__(self, peer: str, kind: PeerKind, incarnation: int, stream: Stream, limits: Limits) -> None:
        self.peer = peer
        self.kind: PeerKind = kind
        self.incarnation = incarnation
        self.stream = stream
        self.dropped = 0
        self.closing = ""  # why we end it ourselves
        self._max_messages = limits.output_queue_messages
        self._max_bytes = limits.output_queue_bytes
        self._queue: deque[bytes] = deque()
        self._bytes = 0
        self._untold = 0  # dropped, and the peer does not know it yet
        self.notice: Callable[[int], bytes] | None = None  # how the peer is told of so many; None = it is not
        self.ended = asyncio.Event()
        self.on_sent: Callable[[str, int, int], None] | None = None  # peer, bytes, time in the queue in us
        self._since: deque[int] = deque()  # when each message was queued, if someone wants to know
        self._work: asyncio.Future[None] | None = None
        self._idle: list[asyncio.Future[None]] = []
        self._writer_gone = False
        self._reader = asyncio.current_task()

    @property
    def queued(self) -> int:
        """Messages accepted and not yet given to gRPC."""
        return len(self._queue)

    @property
    def queued_bytes(self) -> int:
        return self._bytes

    def left(self) -> list[bytes]:
        """What was accepted and never given to gRPC; of the first it is not known."""
        return list(self._queue)

    def send(self, data: bytes, droppable: bool = True) -> bool:
        """Queue a message; False when the queue is full and the message is dropped.

        What may not be dropped (routing messages: without one of them tables would be wrong for ever) gets
        twice the room; when that is full too, False says that the stream must end.
        """
        queue = self._queue
        room = 1 if droppable else 2
        if len(queue) >= self._max_messages * room or self._bytes + len(data) > self._max_bytes * room:
            self.dropped += 1
            self._untold += 1
            return False
        queue.append(data)
        if self.on_sent is not None:
            self._since.append(time.perf_counter_ns())
        self._bytes += len(data)
        if self._work is not None:
            self._work.set_result(None)
            self._work = None
        return True

    async def write_loop(self) -> None:
        """Writes in order for ever; a message leaves the queue when gRPC has taken it."""
        queue, write = self._queue, self.stream.write
        loop = asyncio.get_running_loop()
        try:
            while True:
                while queue:
                    await write(queue[0])
                    size = len(queue.popleft())
                    self._bytes -= size
                    if self._since and self.on_sent is not None:
                        waited = time.perf_counter_ns() - self._since.popleft()
                        self.on_sent(self.peer, size, waited // 1000)
                    if self._untold and self.notice is not None:
                        self._tell_dropped(self.notice)
                self._tell_idle()
                self._work = loop.create_future()
                await self._work
        except StreamLost:
            return  # the reading side sees it too, and ends the session
        finally:
            self._work = None
            self._writer_gone = True
            self._tell_idle()

    def _tell_dropped(self, notice: Callable[[int], bytes]) -> None:
        """Behind what is queued: that is where the gap is."""
        if self.send(notice(self._untold)):
            self._untold = 0

    def _tell_idle(self) -> None:
        for waiter in self._idle:
            if not waiter.done():
                waiter.set_result(None)
        self._idle.clear()

    async def drained(self) -> None:
        """Returns when the queue is empty or the stream lost."""
        if self._queue and not self._writer_gone:
            waiter = asyncio.get_running_loop().create_future()
            self._idle.append(waiter)
            await waiter

    def close(self, reason: str) -> None:
        """End the session from our side, now; what is queued is lost."""
        self.closing = self.closing or reason
        if self._reader is not None and not self.ended.is_set():
            self._reader.cancel()
