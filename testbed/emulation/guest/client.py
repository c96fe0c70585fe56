"""One end of a connection that carries a JSON object per line: harness to keeper, keeper to guest."""

from __future__ import annotations

import contextlib
import json
import socket
from typing import Any

Message = dict[str, Any]

READ_SIZE = 65536


class Connection:
    """Sending to an end that is gone is no error: the next `receive` says that it is closed."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._pending = b""
        self._number = connected.fileno()

    def fileno(self) -> int:
        return self._number

    def send(self, message: Message) -> None:
        with contextlib.suppress(OSError):
            self._socket.sendall(json.dumps(message).encode() + b"\n")

    def receive(self) -> tuple[list[Message], bool]:
        """The messages that have arrived (waits for some data), and whether the other end is still there."""
        try:
            data = self._socket.recv(READ_SIZE)
        except OSError:
            data = b""
        *whole, self._pending = (self._pending + data).split(b"\n")
        return [json.loads(line) for line in whole if line.strip()], bool(data)

    def set_timeout(self, seconds: float | None) -> None:
        self._socket.settimeout(seconds)

    def close(self) -> None:
        self._socket.close()


def connect(path: str) -> Connection:
    """To a keeper's socket; an OSError when no keeper is there."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.connect(path)
    return Connection(client)
