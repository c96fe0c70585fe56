"""One direction of a TCP connection back into a byte stream, many segments at a time.

Segments may come late, twice, overlapping or not at all. Bytes are handed on as soon as nothing before them
is missing; what lies behind a hole waits, and at the end the hole is counted as lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from testbed.analysis.wire.walk import Ints

_WRAP = 1 << 32
MAX_WAITING = 64 * 1024 * 1024  # bytes behind a hole before it is given up


@dataclass
class Stream:
    """Bytes in order, with the time at which each became available to the receiver's side of the capture."""

    data: bytes
    ends: Ints  # end of each piece within `data`
    ts_ns: Ints  # of each piece, never falling

    def time_at(self, position: int) -> int:
        """When the byte before `position` was seen."""
        return int(self.ts_ns[min(int(np.searchsorted(self.ends, position)), len(self.ts_ns) - 1)])


@dataclass
class _Waiting:
    at: int
    ts_ns: int
    data: bytes


@dataclass
class Direction:
    """State of one direction; `feed` takes segments in the order of capture."""

    next: int | None = None  # unwrapped position of the next byte; None = nothing seen yet
    started: bool = False  # its SYN was captured
    segments: int = 0
    payload_bytes: int = 0
    retransmitted_bytes: int = 0
    out_of_order: int = 0
    gaps: int = 0
    lost_bytes: int = 0
    cut_bytes: int = 0  # missing at the end of segments, by the snap length
    broken: bool = False
    _waiting: list[_Waiting] = field(default_factory=list)
    _last_ns: int = 0

    def open(self, sequence: int) -> None:
        """A SYN with this number: the first byte of data follows it."""
        if self.next is None:
            self.next, self.started = (sequence + 1) % _WRAP, True

    def feed(
        self, seq: Ints, length: Ints, ts_ns: Ints, at: Ints, captured: Ints, view: memoryview
    ) -> Stream | None:
        """Take segments (payload of `length` at `view[at:]`, of which `captured` bytes are there)."""
        self.segments += len(seq)
        self.payload_bytes += int(length.sum())
        short = int((length - captured).clip(0).sum())
        if short:
            self.cut_bytes += short
            self.broken = True
        if self.broken:
            return None
        if self.next is None:
            self.next = int(seq[0])
        position = self._unwrap(seq)
        if not self._waiting and self._in_order(position, length):
            pieces = [view[a : a + n] for a, n in zip(at.tolist(), length.tolist(), strict=True)]
            self.next = int(position[-1] + length[-1])
            return self._stream(pieces, length, ts_ns)
        return self._sort(position, length, ts_ns, at, view)

    def _unwrap(self, seq: Ints) -> Ints:
        assert self.next is not None
        half = _WRAP >> 1
        return self.next + (seq - self.next + half) % _WRAP - half

    def _in_order(self, position: Ints, length: Ints) -> bool:
        return int(position[0]) == self.next and bool((position[1:] == position[:-1] + length[:-1]).all())

    def _sort(self, position: Ints, length: Ints, ts_ns: Ints, at: Ints, view: memoryview) -> Stream | None:
        new = [
            _Waiting(p, t, bytes(view[a : a + n]))
            for p, n, t, a in zip(
                position.tolist(), length.tolist(), ts_ns.tolist(), at.tolist(), strict=True
            )
        ]
        self.out_of_order += int((position[1:] < position[:-1]).sum())
        waiting = sorted(self._waiting + new, key=lambda w: w.at)  # stable: arrival order within a position
        self._waiting = []
        pieces, times, expected = [], [], self.next or 0
        for index, piece in enumerate(waiting):
            if piece.at > expected:
                self._waiting = waiting[index:]
                break
            fresh = piece.at + len(piece.data) - expected
            self.retransmitted_bytes += len(piece.data) - max(fresh, 0)
            if fresh > 0:
                pieces.append(piece.data[len(piece.data) - fresh :])
                times.append(piece.ts_ns)
                expected += fresh
        self.next = expected
        if sum(len(w.data) for w in self._waiting) > MAX_WAITING:
            self.finish()
        return self._stream(pieces, np.array([len(p) for p in pieces]), np.array(times)) if pieces else None

    def _stream(self, pieces: list[bytes] | list[memoryview], length: Ints, ts_ns: Ints) -> Stream:
        times = np.maximum(np.maximum.accumulate(ts_ns), self._last_ns)
        self._last_ns = int(times[-1])
        return Stream(b"".join(pieces), np.cumsum(length), times)

    def finish(self) -> None:
        """No more segments come: what still waits lies behind bytes that were never captured."""
        expected = self.next or 0
        for piece in self._waiting:
            if piece.at > expected:
                self.gaps += 1
                self.lost_bytes += piece.at - expected
                self.broken = True
            expected = max(expected, piece.at + len(piece.data))
        self._waiting = []
