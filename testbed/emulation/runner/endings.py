"""Endings: a process is asked to end, and killed when it does not."""

from __future__ import annotations

import signal
from collections.abc import Mapping

from broker_grpc.process.clock import RunClock
from testbed.emulation.runner.live_process import Process
from testbed.emulation.runner.loop import Loop
from testbed.emulation.runner.nursery import Nursery

STOP_LIMIT_US = 20_000_000  # a process that has not ended by then is killed
STOP_EACH_US = 1_000_000  # and so much more for each one that ends at the same time


class Endings:
    def __init__(self, clock: RunClock, loop: Loop, nursery: Nursery, alive: Mapping[str, Process]) -> None:
        """`alive`, by process id, is kept by whoever hears of deaths."""
        self._clock, self._loop, self._nursery, self._alive = clock, loop, nursery, alive

    def end(self, process: Process, wanted: str) -> None:
        """Ask nicely (`stop`) or drop at once (`kill`)."""
        if wanted == "kill":
            self._nursery.signal(process.birth.key, signal.SIGKILL)
            return
        process.stop_by_us = self._clock.now_us() + STOP_LIMIT_US
        if process.birth.kind == "program":
            self._nursery.signal(process.birth.key, signal.SIGTERM)
            return
        if process.birth.kind == "broker":
            process.tell({"do": "drain"})
        process.tell({"do": "shutdown"})

    def end_all(self, kind: str) -> list[str]:
        """End every process of a kind, and wait. Returns the ids that had to be killed."""
        ending = [process for process in self._alive.values() if process.birth.kind == kind]
        for process in ending:
            self.end(process, "stop")
        limit = self._clock.now_us() + STOP_LIMIT_US + STOP_EACH_US * len(ending)
        if self._loop.until(lambda: not self._any_alive(ending), limit):
            return []
        stubborn = [process for process in ending if process.birth.id in self._alive]
        for process in stubborn:
            self.end(process, "kill")
        self._loop.until(lambda: not self._any_alive(ending), limit + STOP_LIMIT_US)
        return [process.birth.id for process in stubborn]

    def _any_alive(self, processes: list[Process]) -> bool:
        return any(self._alive.get(process.birth.id) is process for process in processes)

    def next_deadline_us(self) -> int | None:
        limits = (process.stop_by_us for process in self._alive.values())
        return min((limit for limit in limits if limit is not None), default=None)

    def kill_overdue(self, now_us: int) -> None:
        for process in list(self._alive.values()):
            if process.stop_by_us is not None and now_us >= process.stop_by_us:
                process.stop_by_us = None
                self.end(process, "kill")
