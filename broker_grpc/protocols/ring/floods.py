"""How many messages of the ring a neighbour may send."""

from __future__ import annotations

from broker_grpc.errors import ProtocolError

WINDOW_US = 1_000_000
MOST = 2_000  # messages of one peer in one window


class Floods:
    def __init__(self) -> None:
        self._window = -1
        self._counts: dict[str, int] = {}

    def check(self, now_us: int, peer: str) -> None:
        """Raises ProtocolError, with the first message beyond the limit; those after it too."""
        window = now_us // WINDOW_US
        if window != self._window:
            self._window = window
            self._counts.clear()
        count = self._counts[peer] = self._counts.get(peer, 0) + 1
        if count > MOST:
            raise ProtocolError(f"more than {MOST} messages of the ring in a second")
