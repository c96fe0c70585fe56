"""Messages that a log counts instead of telling them one by one (`log_detail` of a topology file).

A paper-size run is mostly control traffic, and a record of each message would be gigabytes. The types that
the file names become COUNTED records: per broker, kind of record, type and kind of link, one per interval.
Of publications a seeded share is told whole, the same ones by every broker, so that their journeys can be
followed. What a broker drops or refuses is always told. Drivers ask this of what they are about to write; a
process that is killed takes the counts of its last interval with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

import msgspec

from protos.records import LogEvent

COUNTABLE = frozenset(("SENT", "RECEIVED", "FORWARDED", "NOTIFIED", "PROCESSED"))
OVERLAY, CLIENT = "overlay", "client"
PUBLICATION = "publication"
_ALL = 1 << 32

Key = tuple[str, str, str, str, int]  # broker, kind of record, type of message, kind of link, leg


class Counting(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """What a driver is told of it."""

    types: list[str]  # of messages
    every_us: int
    brokers: list[str]  # of the run: a message to or from anybody else is a client's
    journeys: float = 0.0  # share of the publications whose records are written all the same
    seed: int = 0  # which ones


class _Sum:
    __slots__ = ("bytes", "last_us", "matching_us", "messages", "queueing_us")

    def __init__(self) -> None:
        self.messages = self.bytes = self.queueing_us = self.matching_us = self.last_us = 0


class Tally:
    """The counts of one log: of one broker, or of all that are simulated."""

    def __init__(self, counting: Counting) -> None:
        self._types = frozenset(counting.types)
        self._brokers = frozenset(counting.brokers)
        self._every_us = counting.every_us
        self._below = round(counting.journeys * _ALL)
        self._salt = crc32(str(counting.seed).encode())
        self._sums: dict[Key, _Sum] = {}
        self._until_us = 0  # end of the interval that is being counted

    def kept(self, events: Iterable[LogEvent]) -> list[LogEvent]:
        """Those that are written one by one; the counts of an interval before the first of the next."""
        kept: list[LogEvent] = []
        for event in events:
            if event.t_us >= self._until_us:
                kept += self.ended()
                self._until_us = (event.t_us // self._every_us + 1) * self._every_us
            if not self._counted(event):
                kept.append(event)
        return kept

    def ended(self) -> list[LogEvent]:
        """The counts so far, each at the time of its last message; counting begins anew."""
        sums, self._sums = self._sums, {}
        return [_record(key, sums[key]) for key in sorted(sums)]

    def _counted(self, event: LogEvent) -> bool:
        if event.type not in self._types or event.kind not in COUNTABLE or event.node not in self._brokers:
            return False
        if event.type == PUBLICATION and self.follows(event.message):
            return False
        link = OVERLAY if event.peer in self._brokers else CLIENT
        key = event.node, event.kind, event.type, link, event.leg
        total = self._sums.get(key)
        if total is None:
            total = self._sums[key] = _Sum()
        total.messages += 1
        total.bytes += event.bytes
        total.queueing_us += event.queueing_us
        total.matching_us += event.matching_us
        total.last_us = event.t_us
        return True

    def follows(self, publication: str) -> bool:
        """Whether all brokers write the records of this one."""
        return crc32(publication.encode(), self._salt) < self._below


def _record(key: Key, total: _Sum) -> LogEvent:
    broker, kind, type_, link, leg = key
    return LogEvent(
        t_us=total.last_us, node=broker, kind="COUNTED", type=type_, detail=kind, group=link,
        count=total.messages, bytes=total.bytes, queueing_us=total.queueing_us, matching_us=total.matching_us,
        leg=leg,
    )  # fmt: skip
