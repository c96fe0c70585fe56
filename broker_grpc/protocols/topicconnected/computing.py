"""The coordinator's computing time, charged as time: decisions wait for each other, and take what is said.

In simulated and in virtual time computing takes none, so that an algorithm that needs seconds would look as
quick as one that needs none. What a decision takes is a setting: measured elsewhere, or what a paper states.
A decision is made when its time is over, on what was decided before it; without a charge, at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from broker_grpc.protocols.topicconnected.maintenance import Round

Decide = Callable[[], Round]


class Computing:
    def __init__(self) -> None:
        self._waiting: deque[tuple[int, Decide]] = deque()  # when it is done, the first first

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def begin(self, now_us: int, takes_us: int, decide: Decide) -> None:
        """It begins when those before it are done."""
        since = self._waiting[-1][0] if self._waiting else now_us
        self._waiting.append((max(since, now_us) + takes_us, decide))

    def next_us(self) -> int | None:
        return self._waiting[0][0] if self._waiting else None

    def done(self, now_us: int) -> Decide | None:
        """The next one, if its time is over."""
        if self._waiting and self._waiting[0][0] <= now_us:
            return self._waiting.popleft()[1]
        return None

    def forget(self) -> None:
        self._waiting.clear()
