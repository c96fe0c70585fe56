"""A relay in front of a broker's port: connections go on when the test says so, as slowly as it says."""

from __future__ import annotations

import asyncio
import contextlib

from tests.broker_process.broker_nodes import PATIENCE_S
from tests.ports import free_port


class Relay:
    def __init__(self, target: str) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        self._target = target.rpartition(":")
        self.delay_s = 0.0  # each way
        self._released = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.came = 0  # connections so far
        self.open = 0  # and those that have not ended

    async def start(self) -> Relay:
        host, _, port = self.address.rpartition(":")
        self._server = await asyncio.start_server(self._connected, host, int(port))
        return self

    def release(self) -> None:
        self._released.set()

    def cut(self) -> None:
        """Ends all connections."""
        for task in self._tasks:
            task.cancel()

    async def stop(self) -> None:
        self._server.close()
        self.cut()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def wait_for(self, *, came: int | None = None, open_: int | None = None) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while (came is not None and self.came < came) or (open_ is not None and self.open != open_):
                await asyncio.sleep(0.01)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.came += 1
        self.open += 1
        try:
            await self._released.wait()
            await self._relay(reader, writer)
        except (asyncio.CancelledError, OSError):
            pass
        finally:
            self.open -= 1
            self._tasks.discard(task)
            writer.close()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Until either direction ends."""
        there, back = await asyncio.open_connection(self._target[0], int(self._target[2]))
        ways = [asyncio.create_task(self._pump(a, b)) for a, b in ((reader, back), (there, writer))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            back.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                await asyncio.sleep(self.delay_s)
                writer.write(data)
                await writer.drain()
