"""A live child of the nursery, and the line by which it is told what to do and tells how it is."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import msgspec

from testbed.emulation.runner.child import Birth
from testbed.emulation.runner.loop import Loop

READ = 1 << 16
Said = dict[str, Any]


class ControlLine:
    """Orders down and words up, one JSON text a line. `hear` gets whatever the process says."""

    def __init__(self, ours: socket.socket, loop: Loop, hear: Callable[[Said], None]) -> None:
        self._socket: socket.socket | None = ours  # None: the line has ended, here or there
        self._loop, self._hear = loop, hear
        self._partial = b""
        ours.setblocking(False)
        loop.watch(ours, self.hear_out)

    def tell(self, order: dict[str, Any]) -> None:
        if self._socket is None:
            return  # the line has ended before the process: the nursery's report of its death follows
        self._socket.setblocking(True)
        try:
            self._socket.sendall(msgspec.json.encode(order) + b"\n")
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has just died; the nursery's report follows
        finally:
            self._socket.setblocking(False)

    def hear_out(self) -> None:
        """All it has said so far."""
        while self._read():
            pass

    def _read(self) -> bool:
        """Hear some of what it has said; whether there was anything."""
        if self._socket is None:
            return False  # closed by a report of its death in the same turn of the loop
        try:
            data = self._socket.recv(READ)
        except BlockingIOError:
            return False
        except ConnectionResetError:
            data = b""
        if not data:
            self.close()
            return False
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            self._hear(msgspec.json.decode(line))
        return True

    def close(self) -> None:
        if self._socket is not None:
            self._loop.unwatch(self._socket)
            self._socket.close()
            self._socket = None


class Process:
    def __init__(self, birth: Birth) -> None:
        self.birth = birth
        self.line: ControlLine | None = None  # programs have none
        self.ready = False
        self.clients: dict[str, str] = {}  # driver: client id -> wanted, started
        self.stop_by_us: int | None = None

    def tell(self, order: dict[str, Any]) -> None:
        if self.line is not None:
            self.line.tell(order)
