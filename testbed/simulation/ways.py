"""One direction of a link: when does a packet that enters it leave it at the other end?

As netem does it (`testbed.run.shape`): a packet that arrives is lost by chance or by a full
queue, or it waits out latency and jitter, never leaves before the one in front of it, and then takes the time
that its bytes need. Chances are drawn from streams of their own: what crosses one way never changes what is
drawn for another.
"""

from __future__ import annotations

from collections import deque
from random import Random

from testbed.run.shape import queue_limit
from testbed.topology.plan import Link, PairLatency

NEVER_US = -1


class Way:
    """Of a link, or of a pair of hosts, which has no bandwidth and no queue of its own."""

    __slots__ = (
        "_bandwidth_bps", "_cut_us", "_jitter_us", "_jitters", "_leaving", "_limit", "_losses", "_name",
        "_out_us", "doomed", "down", "latency_us", "loss",
    )  # fmt: skip

    def __init__(self, name: str, shape: Link | PairLatency) -> None:
        """`name`: seed, link and direction."""
        self._name = name
        self.doomed = False  # the plan cuts it at some time
        self.down = False
        self._cut_us = NEVER_US  # when it went down last
        self._out_us = 0  # when the last packet leaves
        self._leaving: deque[int] = deque()  # when each one that is there leaves, where that is limited
        self._jitters: Random | None = None  # made when needed: they are large, and most ways are plain
        self._losses: Random | None = None
        self.reshape(shape)

    def reshape(self, shape: Link | PairLatency) -> None:
        """For what enters from now on; what is there, and what was drawn, stays."""
        self.latency_us = shape.latency_us
        self.loss = shape.loss
        self._jitter_us = shape.jitter_us
        self._bandwidth_bps = shape.bandwidth_bps if isinstance(shape, Link) else 0
        self._limit = queue_limit(shape) if isinstance(shape, Link) else 0

    @property
    def is_plain(self) -> bool:
        """It takes its latency, whatever enters and whenever."""
        return not (self._jitter_us or self.loss or self._bandwidth_bps or self.doomed)

    def enter(self, now_us: int, size: int, by_chance: bool) -> int | None:
        """When a packet of so many bytes leaves; None when it is lost (`by_chance`: by a draw, too)."""
        if self.down or (by_chance and self._loses()):
            return None
        out_us = max(now_us + self._delay_us(), self._out_us)
        if self._bandwidth_bps:
            while self._leaving and self._leaving[0] <= now_us:
                self._leaving.popleft()
            if len(self._leaving) >= self._limit:
                return None
            out_us += -(-size * 8_000_000 // self._bandwidth_bps)
            self._leaving.append(out_us)
        self._out_us = out_us
        return out_us

    def go_down(self, now_us: int) -> None:
        self.down, self._cut_us = True, now_us

    def lost(self, entered_us: int, out_us: int) -> bool:
        """Whether it went down under a packet that entered and should have left at these times."""
        return entered_us <= self._cut_us < out_us

    def _delay_us(self) -> int:
        """netem's default distribution of jitter is uniform."""
        if not self._jitter_us:
            return self.latency_us
        if self._jitters is None:
            self._jitters = Random(f"{self._name}/jitter")
        return max(0, self.latency_us + round((2 * self._jitters.random() - 1) * self._jitter_us))

    def _loses(self) -> bool:
        if not self.loss:
            return False
        if self._losses is None:
            self._losses = Random(f"{self._name}/loss")
        return self._losses.random() < self.loss
