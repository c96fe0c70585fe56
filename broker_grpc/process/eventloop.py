"""An asyncio loop for few system calls and exact timers.

Both matter in a guest kernel in virtual time, where a system call is dear and a deadline is exact to the
microsecond. asyncio as it comes asks the kernel for events once per round even when it already has
callbacks to run, rounds every wait up to a whole millisecond, and lets the kernel end it late.
"""

from __future__ import annotations

import asyncio
import select
import selectors
import sys
import time
import traceback
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

# Rounds of ready callbacks between two looks at the sockets: a chain of callbacks per message is about four.
ROUNDS_WITHOUT_LOOKING = 16
LATENESS = 1 / 200  # of a wait


def told_defect(who: str, context: dict[str, Any]) -> str:
    """For a loop's exception handler, where nothing arrives that was expected: says what it was on standard
    error, and answers the exception in one line; empty when there is none."""
    error = context.get("exception")
    print(f"{who}: {context['message']}", file=sys.stderr)
    if error is None:
        return ""
    traceback.print_exception(error, file=sys.stderr)
    return f"{type(error).__name__}: {error}"


class ExactSelector(selectors.EpollSelector):
    """Waits as long as it was asked to, where the kernel's timers are exact.

    A kernel may end a wait late by a thousandth of it (a two-hundredth for a process that is nice), and epoll
    knows only whole milliseconds. So most of a wait is made with epoll, a little short, and the rest with
    select.
    """

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        end = time.monotonic() + timeout
        while timeout > 0:
            whole_ms = int(timeout * 1000 * (1 - LATENESS))
            if whole_ms:
                ready = super().select((whole_ms - 0.5) / 1000)  # which it rounds up
            else:
                select.select([self.fileno()], [], [], timeout)
                ready = super().select(0)
            if ready:
                return ready
            timeout = end - time.monotonic()
        return []


class SparingSelector(ExactSelector):
    """Looks only when the loop has nothing else to do, or has not looked for a while."""

    def __init__(self) -> None:
        super().__init__()
        self._skipped = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout <= 0:
            if self._skipped < ROUNDS_WITHOUT_LOOKING:
                self._skipped += 1
                return []
            timeout = 0
        self._skipped = 0
        return super().select(timeout)


def new_loop() -> asyncio.AbstractEventLoop:
    return asyncio.SelectorEventLoop(SparingSelector())


def run(main: Coroutine[Any, Any, Result]) -> Result:
    """asyncio.run on such a loop."""
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(main)
