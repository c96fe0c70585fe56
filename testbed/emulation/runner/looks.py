"""Looks: what all live processes say of themselves at one instant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from broker_grpc.process.clock import RunClock
from testbed.emulation.runner.live_process import Process
from testbed.run.stimuli import BrokerLook, ClientLook, Look

LOOK_LIMIT_US = 10_000_000  # a process that does not answer by then is left out of the look


class Looks:
    """One look at a time; a second one that begins before the first is over takes its place."""

    def __init__(self, clock: RunClock) -> None:
        self.limit_us: int | None = None  # of the look under way
        self._clock = clock
        self._look = Look()  # what the processes said last
        self._waiting: set[str] = set()  # process ids whose status is awaited
        self._looked: Callable[[Look], None] | None = None

    @property
    def under_way(self) -> bool:
        return self._looked is not None

    def take(
        self, processes: Iterable[Process], looked: Callable[[Look], None], kinds: tuple[str, ...]
    ) -> None:
        """Ask every process of these kinds that is ready; `looked` gets the answers."""
        self._looked = looked
        self.limit_us = self._clock.now_us() + LOOK_LIMIT_US
        if "broker" in kinds:
            self._look.brokers = {}
        self._look.clients = {}
        for process in processes:
            if process.birth.kind in kinds and process.ready:
                self._waiting.add(process.birth.id)
                process.tell({"do": "status"})
        self._complete()

    def answered(self, process: Process, status: dict[str, Any]) -> None:
        if process.birth.kind == "broker":
            self._look.brokers[process.birth.id] = msgspec.convert(status, BrokerLook)
        else:
            self._look.clients |= msgspec.convert(status["clients"], dict[str, ClientLook])
        self.gone(process.birth.id)

    def gone(self, id: str) -> None:
        """Nothing more is awaited of this process."""
        self._waiting.discard(id)
        self._complete()

    def give_up(self, now_us: int) -> None:
        """On answers that are overdue."""
        if self.limit_us is not None and now_us >= self.limit_us:
            self._waiting.clear()
            self._complete()

    def _complete(self) -> None:
        if self._looked is not None and not self._waiting:
            looked, self._looked, self.limit_us = self._looked, None, None
            looked(Look(dict(self._look.brokers), dict(self._look.clients)))
