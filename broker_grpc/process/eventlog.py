"""Writes LogEvents as JSON Lines.

Lines are collected in memory and written whole, so that after a crash only the last line of the file
can be torn. A full disk never stops a broker: the writer keeps what fits in its backlog, counts what it
loses, says so once on standard error, and once in the log itself when there is room again.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from broker_grpc.core.counted import Counting, Tally
from broker_grpc.process.clock import RunClock
from protos.records import LogEvent

FLUSH_BYTES = 64 * 1024
BACKLOG_BYTES = 1024 * 1024
NEWLINE = 10


class EventLog:
    """One file of one process. `on_first` is called when an event enters an empty buffer: the owner
    then sees to it that `flush` is called within its deadline (no timer per event)."""

    def __init__(
        self,
        path: str | Path,
        node: str,
        clock: RunClock,
        *,
        flush_bytes: int = FLUSH_BYTES,
        backlog_bytes: int = BACKLOG_BYTES,
        on_first: Callable[[], None] | None = None,
        counting: Counting | None = None,
    ) -> None:
        self.path = Path(path)
        self.node = node
        self.lost = 0
        self.written = 0
        self._clock = clock
        self._flush_bytes = flush_bytes
        self._backlog_bytes = max(backlog_bytes, flush_bytes)
        self._on_first = on_first
        self._tally = Tally(counting) if counting is not None else None
        self._encode_into = msgspec.json.Encoder().encode_into
        self._buffer = bytearray()
        self._inside_line = False  # the file ends in the first part of a line, the rest is in the buffer
        self._complained = False
        self._unreported = 0
        self._fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._end_torn_line()

    def _end_torn_line(self) -> None:
        """A restarted process appends to its file: a line torn by the crash must not swallow the next."""
        size = os.fstat(self._fd).st_size
        if size:
            with open(self.path, "rb") as file:
                file.seek(size - 1)
                if file.read(1) != b"\n":
                    self._buffer += b"\n"

    def write(self, event: LogEvent) -> None:
        """Stamps what the event leaves open (time, node) and its number, and takes it over."""
        if not event.t_us:
            event.t_us = self._clock.now_us()
        if not event.node:
            event.node = self.node
        if self._tally is None:
            self._append(event)
        else:
            for kept in self._tally.kept((event,)):
                self._append(kept)

    def _append(self, event: LogEvent) -> None:
        self.written += 1
        event.n = self.written
        buffer = self._buffer
        if not buffer and self._on_first is not None:
            self._on_first()
        self._encode_into(event, buffer, -1)
        buffer.append(NEWLINE)
        if len(buffer) >= self._flush_bytes:
            self.flush()

    def flush(self) -> None:
        """Hand all lines to the kernel. Never raises for a full disk or a failing one."""
        buffer = self._buffer
        if not buffer:
            return
        try:
            while buffer:
                count = os.write(self._fd, buffer)
                self._inside_line = buffer[count - 1] != NEWLINE
                del buffer[:count]
        except OSError as error:
            self._complain(error)
            self._shrink()
            return
        if self._unreported:
            self._report_loss()

    def close(self) -> None:
        for counts in self._tally.ended() if self._tally is not None else ():
            self._append(counts)
        self.flush()
        self.flush()  # the first may have left one line about a loss
        if self._buffer:
            self._lose(bytes(self._buffer))
        with contextlib.suppress(OSError):
            os.fsync(self._fd)  # not every file can; a device that fails has been complained about
        os.close(self._fd)

    def _complain(self, error: OSError) -> None:
        if not self._complained:
            self._complained = True
            text = f"{self.path}: {error.strerror}; going on without part of the event log"
            print(text, file=sys.stderr, flush=True)

    def _shrink(self) -> None:
        """Drop whole lines beyond the backlog; the rest of a half-written line always stays."""
        if len(self._buffer) < self._backlog_bytes:
            return
        keep = self._buffer.index(NEWLINE) + 1 if self._inside_line else 0
        self._lose(bytes(self._buffer[keep:]))
        del self._buffer[keep:]

    def _lose(self, lines: bytes) -> None:
        count = lines.count(b"\n")
        self.lost += count
        self._unreported += count

    def _report_loss(self) -> None:
        count, self._unreported = self._unreported, 0
        self._complained = False
        detail = f"{count} events of this log were lost: disk full"
        self.write(LogEvent(kind="DROPPED", type="log_event", detail=detail))
