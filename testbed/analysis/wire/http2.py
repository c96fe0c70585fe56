"""One direction of an HTTP/2 connection: frames, header compression, gRPC messages.

Byte for byte and streaming: bytes of an unfinished frame or message wait for the next call. Long-lived
streams carry nearly everything here, so header blocks are rare and the cost is in the DATA frames.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hpack import Decoder, HPACKError

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, CONTINUATION = 0, 1, 4, 9
_PADDED, _PRIORITY, _END_HEADERS = 8, 32, 4
_FRAME_NAMES = ("data", "headers", "priority", "rst_stream", "settings", "push_promise")
FRAME_NAMES = (*_FRAME_NAMES, "ping", "goaway", "window_update", "continuation")
MAX_MESSAGE = 64 * 1024 * 1024

# stream, position behind the message in the bytes fed, compressed, the message's bytes
OnMessage = Callable[[int, int, bool, bytes], None]


@dataclass
class Call:
    """A gRPC call's half: what one side sent on one HTTP/2 stream."""

    path: str = ""
    waiting: bytes = b""
    broken: bool = False


@dataclass
class Http2Direction:
    on_message: OnMessage
    client: bool = False
    state: str = "new"  # new, open, tls, not_h2
    calls: dict[int, Call] = field(default_factory=dict)
    frames: dict[int, int] = field(default_factory=dict)  # frame type -> frames
    data_bytes: int = 0  # gRPC messages, without their 5-byte prefixes
    framing_bytes: int = 0  # everything else: preface, frame headers, prefixes, other frames
    _left: bytes = b""
    _hpack: Decoder = field(default_factory=Decoder)
    _block: bytes = b""

    def __post_init__(self) -> None:
        # The other side's settings bound the table; they travel in the other direction, so allow any.
        self._hpack.max_allowed_table_size = 1 << 24

    def feed(self, data: bytes) -> None:
        """Positions given to `on_message` count from the start of `data`."""
        offset = len(self._left)
        if offset:
            data = self._left + data
        at = self._begin(data) if self.state == "new" else 0
        if self.state == "open":
            at = self._walk(data, at, offset)
        elif self.state != "new":
            return
        self._left = data[at:]

    def _begin(self, data: bytes) -> int:
        """Decide what the connection is from its first bytes; returns where frames begin."""
        if data[:24] == PREFACE:
            self.state, self.client = "open", True
            self.framing_bytes += 24
            return 24
        if data[0] == 0x16 and data[1:2] in (b"", b"\x03"):
            self.state = "tls" if len(data) > 1 else "new"
        elif PREFACE.startswith(data[:24]):
            return 0
        elif len(data) >= 9:
            length = int.from_bytes(data[:3], "big")
            settings = data[3] == SETTINGS and data[5:9] == bytes(4) and length % 6 == 0 and length < 1024
            self.state = "open" if settings else "not_h2"
        return 0

    def _walk(self, data: bytes, at: int, offset: int) -> int:
        last = len(data) - 9
        while at <= last:
            length = data[at] << 16 | data[at + 1] << 8 | data[at + 2]
            end = at + 9 + length
            if end > len(data):
                break
            kind = data[at + 3]
            self.frames[kind] = self.frames.get(kind, 0) + 1
            if kind == DATA:
                self._data(data, at, end, offset)
            else:
                self.framing_bytes += 9 + length
                if kind in (HEADERS, CONTINUATION):
                    self._headers(data, at, end, kind)
            at = end
        return at

    def _data(self, data: bytes, at: int, end: int, offset: int) -> None:
        self.framing_bytes += 9
        stream = int.from_bytes(data[at + 5 : at + 9], "big") & 0x7FFFFFFF
        begin = at + 9
        if data[at + 4] & _PADDED:
            self.framing_bytes += 1 + data[begin]
            end -= data[begin]
            begin += 1
        call = self.calls.setdefault(stream, Call())
        if call.broken:
            self.framing_bytes += end - begin
            return
        if call.waiting:
            joined = call.waiting + data[begin:end]
            self._messages(stream, call, joined, 0, len(joined), end - len(joined) - offset)
        else:
            self._messages(stream, call, data, begin, end, -offset)

    def _messages(self, stream: int, call: Call, data: bytes, at: int, end: int, shift: int) -> None:
        """Whole messages in `data[at:end]`; `shift` turns a position in it into one in the bytes fed."""
        while at + 5 <= end:
            length = int.from_bytes(data[at + 1 : at + 5], "big")
            if data[at] > 1 or length > MAX_MESSAGE:
                call.broken = True
                break
            behind = at + 5 + length
            if behind > end:
                break
            self.framing_bytes += 5
            self.data_bytes += length
            self.on_message(stream, behind + shift, data[at] == 1, data[at + 5 : behind])
            at = behind
        call.waiting = b"" if call.broken else data[at:end]

    def _headers(self, data: bytes, at: int, end: int, kind: int) -> None:
        flags, begin = data[at + 4], at + 9
        if kind == HEADERS:
            self._block = b""
            if flags & _PADDED:
                end -= data[begin]
                begin += 1
            if flags & _PRIORITY:
                begin += 5
        self._block += data[begin:end]
        if not flags & _END_HEADERS:
            return
        stream = int.from_bytes(data[at + 5 : at + 9], "big") & 0x7FFFFFFF
        call = self.calls.setdefault(stream, Call())
        try:
            for name, value in self._hpack.decode(self._block, raw=True):
                if name == b":path":
                    call.path = bytes(value).decode("latin-1")
        except HPACKError:
            call.path = call.path or "?"
