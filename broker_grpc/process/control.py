"""JSON lines over one end of a socket pair: how a harness talks to a process it started.

Out of band, so that captures of the emulated network hold only what the experiment sends.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import msgspec

Request = dict[str, Any]


class ControlLine:
    """Calls `on_request` for every line, and `on_end` once when the other end is closed."""

    def __init__(self, fd: int, on_request: Callable[[Request], None], on_end: Callable[[], None]) -> None:
        self._socket = socket.socket(fileno=fd)
        self._socket.setblocking(False)
        self._on_request = on_request
        self._on_end = on_end
        self._input = b""
        self._output = bytearray()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._socket, self._readable)

    def send(self, message: Request) -> None:
        waiting = bool(self._output)
        self._output += msgspec.json.encode(message) + b"\n"
        if not waiting:
            self._writable()

    def close(self) -> None:
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        self._socket.close()

    def _readable(self) -> None:
        try:
            data = self._socket.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(self._socket)
            self._on_end()
            return
        *lines, self._input = (self._input + data).split(b"\n")
        for line in lines:
            self._handle(line)

    def _handle(self, line: bytes) -> None:
        try:
            request = msgspec.json.decode(line, type=Request)
        except msgspec.DecodeError as error:
            return self.send({"event": "error", "detail": f"not a JSON object: {error}"})
        self._on_request(request)

    def _writable(self) -> None:
        try:
            del self._output[: self._socket.send(self._output)]
        except BlockingIOError:
            pass
        except OSError:
            self._output.clear()  # nobody listens any more; the reader sees the end
        if self._output:
            self._loop.add_writer(self._socket, self._writable)
        else:
            self._loop.remove_writer(self._socket)
