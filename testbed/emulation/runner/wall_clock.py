"""Tells at once when somebody sets the wall clock.

The run's own clock does not heed it, but tcpdump stamps packets by it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable

from broker_grpc.process.clock import epoch_offset_us
from testbed.emulation.runner.loop import Loop

CLOCK_REALTIME, TFD_NONBLOCK, TFD_CLOEXEC = 0, os.O_NONBLOCK, os.O_CLOEXEC
TFD_TIMER_ABSTIME, TFD_TIMER_CANCEL_ON_SET = 1, 2
NEVER_S = 2**40  # a timer that does not expire, and is cancelled when the clock is set
NOTICED_US = 100  # two readings of the clocks differ by less

libc = ctypes.CDLL(None, use_errno=True)


class Itimerspec(ctypes.Structure):
    _fields_ = (
        ("interval_s", ctypes.c_long),
        ("interval_ns", ctypes.c_long),
        ("value_s", ctypes.c_long),
        ("value_ns", ctypes.c_long),
    )


class WallClock:
    """Calls `stepped` with microseconds (negative: back) for every step of the wall clock from now on."""

    def __init__(self, loop: Loop, offset_us: int, stepped: Callable[[int], None]) -> None:
        self._loop, self._offset_us, self._stepped = loop, offset_us, stepped
        self._timer: int = libc.timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC)
        if self._timer >= 0:
            self._arm()
            loop.watch(self._timer, self._set)

    def _arm(self) -> None:
        never = Itimerspec(0, 0, NEVER_S, 0)
        flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET
        libc.timerfd_settime(self._timer, flags, ctypes.byref(never), None)

    def _set(self) -> None:
        with contextlib.suppress(OSError):  # ECANCELED is what it says
            os.read(self._timer, 8)
        self._arm()
        self.look()

    def look(self) -> None:
        """Compare the clocks; small steps, and what a kernel without such timers did not tell, show here."""
        now_us = epoch_offset_us()
        step_us = now_us - self._offset_us
        if abs(step_us) > NOTICED_US:
            self._offset_us = now_us
            self._stepped(step_us)

    def close(self) -> None:
        if self._timer >= 0:
            self._loop.unwatch(self._timer)
            os.close(self._timer)
            self._timer = -1
