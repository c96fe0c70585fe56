"""Round trips to other brokers: how long it takes until a connection is there.

The answer is the other kernel's, so that a busy broker does not seem to be far away. A packet that is lost is
sent again after a second: what takes so long says nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket

from broker_grpc.core.limits import TRIP_PATIENCE_US
from broker_grpc.machine import TripMeasured
from broker_grpc.process.runtime import Runtime


class Trips:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._under_way: dict[str, asyncio.Task[None]] = {}

    def measure(self, peer: str, address: str) -> None:
        """One at a time to each peer; without an address there is nothing to measure."""
        if address and peer not in self._under_way:
            self._under_way[peer] = asyncio.create_task(self._measure(peer, address), name=f"trip {peer}")

    def stop(self) -> None:
        for task in self._under_way.values():
            task.cancel()

    async def _measure(self, peer: str, address: str) -> None:
        try:
            rtt_us = await _connect(address)
        except OSError:
            return  # refused, no way there, or no answer in time
        finally:
            del self._under_way[peer]
        self._runtime.feed(TripMeasured(peer, rtt_us))


async def _connect(address: str) -> int:
    """Raises OSError, of which TimeoutError is one."""
    loop = asyncio.get_running_loop()
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with contextlib.closing(socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)) as end:
        begun = loop.time()
        async with asyncio.timeout(TRIP_PATIENCE_US / 1e6):
            await loop.sock_connect(end, (host, int(port)))
        return round((loop.time() - begun) * 1e6)
