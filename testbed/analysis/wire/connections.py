"""The TCP connections of one capture file, direction by direction, down to gRPC messages."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from testbed.analysis.wire.capture_file import Capture
from testbed.analysis.wire.columns import Column
from testbed.analysis.wire.envelope import BUILTIN, KnownMessages, Seen, classify, hello
from testbed.analysis.wire.http2 import Http2Direction
from testbed.analysis.wire.reassembly import Direction, Stream
from testbed.analysis.wire.walk import Bytes, Ints

SYN, ACK, FIN, RST = 2, 16, 1, 4
# What a chunk must be decoded into for this module.
NEEDED: tuple[str, ...] = ("ts_ns", "captured", "original", "protocol", "src", "dst", "src6", "dst6")
NEEDED += ("sport", "dport", "seq", "flags", "payload", "payload_at")


@dataclass(frozen=True)
class Message:
    """One gRPC message on the wire."""

    ts_ns: int
    connection: HalfConnection
    stream: int
    compressed: bool
    bytes: int
    seen: Seen


@dataclass
class HalfConnection:
    """One direction of one connection: `source` and `target` are "address:port"."""

    source: str
    target: str
    number: int = 0  # several connections may use the same ports one after the other
    tcp: Direction = field(default_factory=Direction)
    http2: Http2Direction = field(init=False)
    hello: dict[int, tuple[str, str]] = field(default_factory=dict)  # stream -> who speaks, broker or client
    # (stream, type, leg, late) -> messages, bytes
    counts: dict[tuple[int, str, int, bool], list[int]] = field(default_factory=dict)
    first_ns: int = 0
    last_ns: int = 0
    reset: bool = False
    on_message: Callable[[Message], None] | None = None
    until_ns: int = 0
    known: KnownMessages = BUILTIN
    _now: Stream | None = None

    def __post_init__(self) -> None:
        self.http2 = Http2Direction(self._message)

    def feed(self, stream: Stream) -> None:
        self._now = stream
        self.http2.feed(stream.data)

    def _message(self, stream: int, position: int, compressed: bool, data: bytes) -> None:
        seen = Seen("compressed") if compressed else classify(data, self.known)
        key = (stream, seen.type, seen.leg, self._late(position))
        count = self.counts.get(key)
        if count is None:
            count = self.counts[key] = [0, 0]
        count[0] += 1
        count[1] += len(data)
        if seen.type == "hello" and stream not in self.hello and (who := hello(data)):
            self.hello[stream] = (who.id, who.kind.name.lower())
        if self.on_message is not None and self._now is not None:
            self.on_message(Message(self._now.time_at(position), self, stream, compressed, len(data), seen))

    def _late(self, position: int) -> bool:
        if not self.until_ns or self._now is None or self._now.ts_ns[-1] < self.until_ns:
            return False
        return self._now.time_at(position) >= self.until_ns


class Connections:
    """All half-connections of a file; `feed` takes the decoded chunks in order."""

    def __init__(self, capture: Capture, on_message: Callable[[Message], None] | None = None) -> None:
        """Only connections with one of the capture's ports on either side, if it names any."""
        self.ports = np.array(sorted(capture.ports), np.int64)
        self.until_ns, self.known = capture.until_ns, capture.known
        self.on_message = on_message
        self.current: dict[tuple[int, int], HalfConnection] = {}
        self.closed: list[HalfConnection] = []
        self._wide: dict[bytes, int] = {}  # IPv6 addresses as negative numbers

    def feed(self, buffer: Bytes, at: Ints, columns: dict[str, Column], keep: np.ndarray) -> None:
        get = {
            name: columns[name][0].astype(np.int64) for name in ("sport", "dport", "seq", "flags", "payload")
        }
        rows = keep & _valid(columns, "seq") & ((get["payload"] > 0) | (get["flags"] & (SYN | RST) != 0))
        if len(self.ports):
            rows &= np.isin(get["sport"], self.ports) | np.isin(get["dport"], self.ports)
        index = np.flatnonzero(rows)
        if not len(index):
            return
        source = self.addresses(columns, "src")[index] << 16 | get["sport"][index]
        target = self.addresses(columns, "dst")[index] << 16 | get["dport"][index]
        order = np.lexsort((target, source))  # stable: capture order within a direction
        index, source, target = index[order], source[order], target[order]
        edges = np.flatnonzero((source[1:] != source[:-1]) | (target[1:] != target[:-1])) + 1
        for group in np.split(np.arange(len(index)), edges):
            key = (int(source[group[0]]), int(target[group[0]]))
            self._direction(key, index[group], buffer, at, columns)

    def addresses(self, columns: dict[str, Column], name: str) -> Ints:
        """IPv4 as itself; IPv6 as a negative number of our own."""
        four = np.asarray(columns[name][0]).astype(np.int64)
        wide, valid = columns[name + "6"]
        for row in np.flatnonzero(valid if valid is not None else np.zeros(len(four), bool)).tolist():
            four[row] = self._wide.setdefault(wide[row], -1 - len(self._wide))
        return four

    def text(self, endpoint: int) -> str:
        number, port = endpoint >> 16, endpoint & 0xFFFF
        if number >= 0:
            return f"{ipaddress.IPv4Address(number)}:{port}"
        wide = next(address for address, own in self._wide.items() if own == number)
        return f"[{ipaddress.IPv6Address(wide)}]:{port}"

    def _direction(
        self, key: tuple[int, int], rows: Ints, buffer: Bytes, at: Ints, columns: dict[str, Column]
    ) -> None:
        flags = columns["flags"][0][rows]
        begin = 0
        for opening in np.flatnonzero(flags & SYN).tolist():
            self._segments(key, rows[begin:opening], buffer, at, columns)
            self._open(key, int(columns["seq"][0][rows[opening]]))
            begin = opening
        self._segments(key, rows[begin:], buffer, at, columns)
        if (flags & RST).any():
            self._half(key).reset = True

    def _open(self, key: tuple[int, int], sequence: int) -> None:
        half = self._half(key)
        if half.tcp.payload_bytes and half.tcp.next is not None:  # the ports are used again
            self.closed.append(half)
            self.current[key] = self._new(key, half.number + 1)
        self.current[key].tcp.open(sequence)

    def _half(self, key: tuple[int, int]) -> HalfConnection:
        if key not in self.current:
            self.current[key] = self._new(key, 0)
        return self.current[key]

    def _new(self, key: tuple[int, int], number: int) -> HalfConnection:
        half = HalfConnection(self.text(key[0]), self.text(key[1]), number)
        half.on_message, half.until_ns, half.known = self.on_message, self.until_ns, self.known
        return half

    def _segments(
        self, key: tuple[int, int], rows: Ints, buffer: Bytes, at: Ints, columns: dict[str, Column]
    ) -> None:
        length = columns["payload"][0][rows].astype(np.int64)
        rows, length = rows[length > 0], length[length > 0]
        if not len(rows):
            return
        half = self._half(key)
        ts_ns = columns["ts_ns"][0][rows]
        half.first_ns, half.last_ns = half.first_ns or int(ts_ns[0]), int(ts_ns[-1])
        inside = columns["payload_at"][0][rows].astype(np.int64)
        captured = np.minimum(columns["captured"][0][rows] - inside, length).clip(0)
        seq = columns["seq"][0][rows].astype(np.int64)
        stream = half.tcp.feed(seq, length, ts_ns, at[rows] + inside, captured, memoryview(buffer.data))
        if stream is not None:
            half.feed(stream)

    def finish(self) -> list[HalfConnection]:
        """All half-connections, after the last chunk."""
        halves = self.closed + list(self.current.values())
        for half in halves:
            half.tcp.finish()
        return halves


def _valid(columns: dict[str, Column], name: str) -> np.ndarray:
    values, valid = columns[name]
    return np.ones(len(values), bool) if valid is None else valid
