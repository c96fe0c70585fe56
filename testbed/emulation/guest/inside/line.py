"""The control line as the guest sees it: a serial port that carries one JSON object per line."""

from __future__ import annotations

import json
import os
import tty
from typing import Any

DEVICE = "/dev/ttyS0"
READ_SIZE = 4096

Message = dict[str, Any]


class Line:
    """Reads never block and writes do: the keeper on the other side always reads."""

    def __init__(self, device: str = DEVICE) -> None:
        self._out = os.open(device, os.O_WRONLY | os.O_NOCTTY)
        tty.setraw(self._out)
        self.fd = os.open(device, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
        self._pending = b""
        self.received = 0

    def send(self, op: str, **fields: object) -> None:
        data = json.dumps({"op": op, **fields}).encode() + b"\n"
        while data:
            data = data[os.write(self._out, data) :]

    def receive(self) -> list[Message]:
        """The messages that have arrived since the last call."""
        try:
            self._pending += os.read(self.fd, READ_SIZE)
        except BlockingIOError:
            return []
        *whole, self._pending = self._pending.split(b"\n")
        messages = [json.loads(line) for line in whole if line.strip()]
        self.received += len(messages)
        return messages
