"""An asyncio loop for few system calls and exact timers.

Both matter in a guest kernel in virtual time, where a system call is dear and a deadline is exact to the
microsecond. asyncio as it comes asks the kernel for events once per round even when it already has
callbacks to run, and rounds every wait up to a whole millisecond.
"""

from __future__ import annotations

import asyncio
import select
import selectors
import sys
import traceback
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

# Rounds of ready callbacks between two looks at the sockets: a chain of callbacks per message is about four.
ROUNDS_WITHOUT_LOOKING = 16


def told_defect(who: str, context: dict[str, Any]) -> str:
    """For a loop's exception handler, where nothing arrives that was expected: says what it was on standard
    error, and answers the exception in one line; empty when there is none."""
    error = context.get("exception")
    print(f"{who}: {context['message']}", file=sys.stderr)
    if error is None:
        return ""
    traceback.print_exception(error, file=sys.stderr)
    return f"{type(error).__name__}: {error}"


class SparingSelector(selectors.EpollSelector):
    """Looks only when the loop has nothing else to do, or has not looked for a while."""

    def __init__(self) -> None:
        super().__init__()
        self._skipped = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout <= 0:
            if self._skipped < ROUNDS_WITHOUT_LOOKING:
                self._skipped += 1
                return []
            self._skipped = 0
            return super().select(0)
        self._skipped = 0
        if timeout is None:
            return super().select(None)
        return self._wait(timeout)

    def _wait(self, timeout: float) -> list[tuple[selectors.SelectorKey, int]]:
        """Whole milliseconds with epoll, which knows no less; the loop calls again for the rest."""
        whole = int(timeout * 1000)
        if whole:
            return super().select((whole - 0.5) / 1000)
        select.select([self.fileno()], [], [], timeout)
        return super().select(0)


def new_loop() -> asyncio.AbstractEventLoop:
    return asyncio.SelectorEventLoop(SparingSelector())


def run(main: Coroutine[Any, Any, Result]) -> Result:
    """asyncio.run on such a loop."""
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(main)
