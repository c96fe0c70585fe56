"""Clocks: steps of the wall clock change nothing, time never goes back, work is measured in real time."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from broker_grpc.client.api import Client
from broker_grpc.core.limits import Limits
from broker_grpc.machine import Effects, PeerUp, Stimulus
from broker_grpc.process.clock import RunClock
from broker_grpc.process.eventlog import EventLog
from broker_grpc.process.runtime import Runtime
from tests.broker_process.broker_nodes import PATIENCE_S
from tests.broker_process.flood_machine import FloodMachine
from tests.broker_process.overlay import Overlay

PAUSE_US = 600_000_000  # of a busy machine, far less than the step


def test_a_step_of_the_wall_clock_is_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = RunClock()
    before = clock.now_us()
    assert abs(before - time.time_ns() // 1000) < PAUSE_US
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() - 3_600_000_000_000)
    monkeypatch.setattr(time, "time", lambda: real() / 1e9 - 3600)
    assert 0 <= clock.now_us() - before < PAUSE_US


class Recorder(FloodMachine):
    def __init__(self) -> None:
        super().__init__()
        self.times: list[int] = []

    def handle(self, now_us: int, stimulus: Stimulus) -> Effects:
        self.times.append(now_us)
        return []


class JumpingClock(RunClock):
    def __init__(self, *times: int) -> None:
        super().__init__(0)
        self._times = list(times)

    def now_us(self) -> int:
        return self._times.pop(0) if len(self._times) > 1 else self._times[0]


async def test_a_machine_never_sees_time_go_back(tmp_path: Path) -> None:
    clock = JumpingClock(100, 50, 2_000_000_000, 10, 2_000_000_001)
    machine = Recorder()
    runtime = Runtime(machine, clock, EventLog(tmp_path / "x", "B1", RunClock(0)), Limits())
    for _ in range(5):
        runtime.feed(PeerUp("B2", "broker"))
    assert machine.times == [100, 100, 2_000_000_000, 2_000_000_000, 2_000_000_001]


async def test_real_time_work_is_measured_from_the_clock(tmp_path: Path) -> None:
    overlay = await Overlay(tmp_path, 1, [], options={"sample_every_us": 500_000}).start()
    async with (
        Client(overlay[1].address, id="alice") as alice,
        Client(overlay[1].address, id="bob") as bob,
    ):
        await alice.advertise("[class,eq,'X']")
        await bob.subscribe("[class,eq,'X']")
        for number in range(200):
            await alice.publish({"class": "X", "number": number})
            await asyncio.sleep(0.005)
        for _ in range(200):
            await asyncio.wait_for(anext(bob), PATIENCE_S)
        async with asyncio.timeout(PATIENCE_S):
            while not any(event.input_utilisation > 0 for event in overlay[1].logged("SAMPLED")):
                await asyncio.sleep(0.1)
    overlay.stop()
    processed = overlay[1].logged("PROCESSED")
    assert len(processed) == 200
    measured = [event.matching_us for event in processed]
    assert 0 < min(measured) < 1_000_000  # the others may have been interrupted
    assert all(event.memory_bytes > 1 << 20 for event in overlay[1].logged("SAMPLED"))
