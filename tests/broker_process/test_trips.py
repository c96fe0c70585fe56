"""Round trips by real sockets: an answer is fed, what does not answer is not."""

from __future__ import annotations

import asyncio
from typing import Any

from broker_grpc.machine import TripMeasured
from broker_grpc.process.trips import Trips
from tests.ports import free_port


class Fed:
    """A runtime that keeps what its machine is told."""

    def __init__(self) -> None:
        self.stimuli: list[Any] = []
        self.told = asyncio.Event()

    def feed(self, stimulus: Any) -> None:
        self.stimuli.append(stimulus)
        self.told.set()


async def test_who_listens_is_measured_once_at_a_time() -> None:
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    runtime = Fed()
    trips = Trips(runtime)  # type: ignore[arg-type]
    trips.measure("B2", f"127.0.0.1:{port}")
    trips.measure("B2", f"127.0.0.1:{port}")
    async with asyncio.timeout(60):
        await runtime.told.wait()
    (measured,) = runtime.stimuli
    assert isinstance(measured, TripMeasured)
    assert measured.peer == "B2"
    assert measured.rtt_us >= 0
    server.close()


async def test_who_does_not_listen_or_has_no_address_is_not() -> None:
    runtime = Fed()
    trips = Trips(runtime)  # type: ignore[arg-type]
    trips.measure("B2", f"127.0.0.1:{free_port()}")
    trips.measure("B3", "")
    waiting = [task for task in asyncio.all_tasks() if task.get_name().startswith("trip ")]
    assert len(waiting) == 1
    async with asyncio.timeout(60):
        await asyncio.gather(*waiting)
    assert runtime.stimuli == []
