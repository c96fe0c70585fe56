"""A command that runs in a guest, as the harness sees it."""

from __future__ import annotations

import base64
import signal as signals
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from testbed.emulation.guest.errors import GuestTimeout

if TYPE_CHECKING:
    from testbed.emulation.guest.handle import GuestHandle

POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Finished:
    """How a command ended. `code` is its own exit code, or 128 plus the signal that ended it."""

    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        return self.out.decode("utf-8", errors="replace")


class GuestProcess:
    """One command in a guest. Its output can be read while it runs; `wait` gives the exit code."""

    def __init__(self, guest: GuestHandle, number: int) -> None:
        self.guest = guest
        self.number = number
        self.code: int | None = None
        self.terminal_output = bytearray()

    def chunks(
        self, timeout: float | None = None, meanwhile: Callable[[], None] | None = None
    ) -> Iterator[tuple[str, bytes]]:
        """("out" or "err", data) as the command prints, until it has ended. `timeout` is in real seconds.

        `meanwhile` is called now and then, also while the command prints nothing.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        tails = {stream: _Tail(self, stream) for stream in ("out", "err")}
        ended = False
        while not ended:
            ended = self.poll() is not None
            if meanwhile is not None:
                meanwhile()
            for stream, tail in tails.items():
                data = tail.read()
                if data:
                    yield stream, data
            if not ended and deadline is not None and time.monotonic() > deadline:
                raise GuestTimeout(f"the command in the guest did not end within {timeout:g} s of real time")

    def lines(
        self, timeout: float | None = None, meanwhile: Callable[[], None] | None = None
    ) -> Iterator[str]:
        """The lines of standard output, as they come."""
        pending = b""
        for stream, data in self.chunks(timeout, meanwhile):
            if stream == "out":
                *whole, pending = (pending + data).split(b"\n")
                yield from (line.decode("utf-8", errors="replace") for line in whole)
        if pending:
            yield pending.decode("utf-8", errors="replace")

    def copy_output(self, out: BinaryIO, err: BinaryIO, timeout: float | None = None) -> int:
        """Pass everything on as it comes; returns the exit code."""
        for stream, data in self.chunks(timeout):
            target = out if stream == "out" else err
            target.write(data)
            target.flush()
        return self.wait()

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, when the command has ended."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self.poll() is None:
            if deadline is not None and time.monotonic() > deadline:
                raise GuestTimeout(f"the command in the guest did not end within {timeout:g} s of real time")
        assert self.code is not None
        return self.code

    def finish(self, timeout: float | None = None) -> Finished:
        """Wait, and return everything that the command printed."""
        code = self.wait(timeout)
        return Finished(code, self._content("out"), self._content("err"))

    def poll(self, seconds: float = POLL_SECONDS) -> int | None:
        """The exit code if the command has ended; waits a little for news. Raises when the guest has died."""
        if self.code is None:
            self.guest.pump(seconds)
        if self.code is None and self.guest.dead:
            self.code = self.guest.recorded_exit(self.number)
            if self.code is None:
                raise self.guest.death()
        return self.code

    def signal(self, number: int = signals.SIGTERM) -> None:
        """To the command and what it started."""
        self.guest.send({"op": "signal", "id": self.number, "signal": int(number)})

    def write(self, data: bytes) -> None:
        """Type into the command's terminal."""
        self.guest.send({"op": "input", "id": self.number, "data": base64.b64encode(data).decode()})

    def resize(self, rows: int, columns: int) -> None:
        self.guest.send({"op": "resize", "id": self.number, "rows": rows, "columns": columns})

    def take_terminal_output(self) -> bytes:
        """What the terminal showed since the last call."""
        data = bytes(self.terminal_output)
        self.terminal_output.clear()
        return data

    def _content(self, stream: str) -> bytes:
        path = self.guest.control.output(self.number, stream)
        return path.read_bytes() if path.exists() else b""


class _Tail:
    """Reads what a growing file gained."""

    def __init__(self, process: GuestProcess, stream: str) -> None:
        self._path = process.guest.control.output(process.number, stream)
        self._file: BinaryIO | None = None

    def read(self) -> bytes:
        if self._file is None:
            if not self._path.exists():
                return b""
            self._file = self._path.open("rb", buffering=0)
        return self._file.read() or b""
