"""When the kernel's timers fire: on ticks, and the farther away the coarser.

Linux keeps timers in a wheel (kernel/time/timer.c): a timer fires at the first multiple of its level's
granularity behind its expiry, at one tick later at the earliest. The guest's kernel has 100 ticks a second.
All times are since an instant at which a tick falls; the simulated clock starts at one.
"""

from __future__ import annotations

TICK_US = 10_000
_LEVEL_BITS = 3  # each level is eight times as coarse as the one before
_SLOTS = 63  # ticks that the first level reaches
_FIRST_TICK = -300 * 100  # jiffies start five minutes before zero


def ticks(us: int) -> int:
    """So many, rounded up (usecs_to_jiffies)."""
    return -(-us // TICK_US)


def fires_us(now_us: int, wait_ticks: int) -> int:
    """A timer set now to so many ticks."""
    expires = now_us // TICK_US + wait_ticks + _FIRST_TICK
    shift = 0
    while wait_ticks >= _SLOTS << shift:
        shift += _LEVEL_BITS
    fires = (expires + (1 << shift)) >> shift << shift
    return (fires - _FIRST_TICK) * TICK_US
