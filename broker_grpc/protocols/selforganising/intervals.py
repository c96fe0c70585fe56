"""When a broker broadcasts: at a random phase of its own, then every interval."""

from __future__ import annotations

from random import Random


def phase_us(random: Random, interval_us: int) -> int:
    """The first draw of a broker's generator decides it."""
    return int(random.random() * interval_us)


def first_after(now_us: int, phase_us: int, interval_us: int) -> int:
    """Instants do not hang on when a broker was started, only on its phase."""
    return phase_us + max(0, (now_us - phase_us) // interval_us + 1) * interval_us
