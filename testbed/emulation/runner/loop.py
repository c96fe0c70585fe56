"""A small event loop: descriptors, and one deadline. It only ever waits in the kernel; nothing polls."""

from __future__ import annotations

import os
import selectors
import signal
from collections.abc import Callable
from typing import Protocol

from broker_grpc.process.clock import RunClock
from broker_grpc.process.eventloop import ExactSelector


class HasFileno(Protocol):
    def fileno(self) -> int: ...


class Loop:
    def __init__(self, clock: RunClock) -> None:
        self.clock = clock
        self._selector = ExactSelector()

    def watch(self, source: int | HasFileno, callback: Callable[[], None]) -> None:
        """Call back whenever there is something to read, or the end of file."""
        self._selector.register(source, selectors.EVENT_READ, callback)

    def unwatch(self, source: int | HasFileno) -> None:
        self._selector.unregister(source)

    def turn(self, deadline_us: int | None) -> None:
        """Wait until something happens or the deadline is reached, and call whoever is concerned."""
        timeout = None if deadline_us is None else max(0, deadline_us - self.clock.now_us()) / 1e6
        for key, _ in self._selector.select(timeout):
            key.data()

    def until(self, done: Callable[[], bool], deadline_us: int) -> bool:
        """Turn until `done()`; False when the deadline came first."""
        while not done():
            if self.clock.now_us() >= deadline_us:
                return False
            self.turn(deadline_us)
        return True

    def on_signals(self, numbers: tuple[signal.Signals, ...], callback: Callable[[], None]) -> None:
        """Turn signals into a call from the loop, never between two lines of something else."""
        reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        for number in numbers:
            signal.signal(number, lambda *_: None)

        def drain() -> None:
            os.read(reading, 4096)
            callback()

        self.watch(reading, drain)
