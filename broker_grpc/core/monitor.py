"""The measures that the papers define, wherever they come from: the service model, or a driver with a clock.

- input queueing, matching and (per neighbour) output queueing delay: what GRAPE 4.1 asks a broker for
- input utilisation: incoming rate x matching time
- output utilisation: used / available output bandwidth
"""

from __future__ import annotations

from protos.records import LogEvent


class Average:
    """Mean of what was observed since the last reset; keeps the last mean while nothing is."""

    __slots__ = ("count", "last", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = 0
        self.last = 0

    def add(self, value: int) -> None:
        self.count += 1
        self.total += value

    @property
    def mean(self) -> int:
        return self.total // self.count if self.count else self.last

    def reset(self) -> None:
        self.last = self.mean
        self.count = self.total = 0


class Monitor:
    """Delays and utilisations since the last sample."""

    def __init__(self, output_bandwidth: int = 0) -> None:
        self.input_queueing = Average()
        self.matching = Average()
        self.output_queueing: dict[str, Average] = {}
        self.arrivals = 0
        self.bytes_sent = 0
        self.bandwidth = output_bandwidth
        self._since_us: int | None = None

    def observe_input(self, queueing_us: int, matching_us: int) -> None:
        self.input_queueing.add(queueing_us)
        self.matching.add(matching_us)

    def observe_output(self, peer: str, sending_us: int) -> None:
        average = self.output_queueing.get(peer)
        if average is None:
            average = self.output_queueing[peer] = Average()
        average.add(sending_us)

    def handled(self, took_us: int) -> None:
        """Measured: a publication came in, waited for nothing, and took so long."""
        self.arrivals += 1
        self.observe_input(0, took_us)

    def sent(self, peer: str, size: int, waited_us: int) -> None:
        self.bytes_sent += size
        self.observe_output(peer, waited_us)

    def output_queueing_us(self, peer: str) -> int:
        return self.output_queueing[peer].mean if peer in self.output_queueing else 0

    def utilisations(self, now_us: int) -> tuple[float, float]:
        """Input and output utilisation since the last call; the first call only starts the clock."""
        elapsed = 0 if self._since_us is None else now_us - self._since_us
        self._since_us = now_us
        used, arrived, matching = self.bytes_sent, self.arrivals, self.matching.mean
        self.bytes_sent = self.arrivals = 0
        self.input_queueing.reset()
        self.matching.reset()
        for average in self.output_queueing.values():
            average.reset()
        if elapsed <= 0:
            return 0.0, 0.0
        output = used * 1_000_000 / (self.bandwidth * elapsed) if self.bandwidth else 0.0
        return arrived * matching / elapsed, output

    def forget(self, peer: str) -> None:
        self.output_queueing.pop(peer, None)


class Sampler:
    """Periodic SAMPLED events; the driver adds the memory of its process."""

    def __init__(self, every_us: int, monitor: Monitor) -> None:
        self._every_us = every_us
        self._monitor = monitor
        self._at: int | None = None

    def next_deadline_us(self) -> int | None:
        return (self._at or 0) if self._every_us else None

    def sample(self, now_us: int, waiting: int) -> list[LogEvent]:
        """The first time only starts the clock. Samples keep their distance; missed ones are not made up."""
        first = self._at is None
        self._at = max((self._at or now_us) + self._every_us, now_us + 1)
        used = self._monitor.utilisations(now_us)
        if first:
            return []
        return [
            LogEvent(kind="SAMPLED", queue=waiting, input_utilisation=used[0], output_utilisation=used[1])
        ]
