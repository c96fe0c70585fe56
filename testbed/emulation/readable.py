"""Waiting by `poll`: `select` refuses descriptors from 1,024 on, and large runs have them."""

from __future__ import annotations

import math
import select
from collections.abc import Iterable
from typing import Protocol, TypeVar


class HasFileno(Protocol):
    def fileno(self) -> int: ...


Source = TypeVar("Source", bound=int | HasFileno)


def readable(sources: Iterable[Source], seconds: float | None = None) -> list[Source]:
    """Those with something to read, or whose other end is gone; none when so many seconds have passed."""
    by_number = {source if isinstance(source, int) else source.fileno(): source for source in sources}
    poll = select.poll()
    for number in by_number:
        poll.register(number, select.POLLIN)
    wait_ms = None if seconds is None else max(0, math.ceil(seconds * 1000))
    return [by_number[number] for number, _ in poll.poll(wait_ms)]
