"""gRPC connections as packets in a pcap file, made up byte by byte (hyperframe, hpack)."""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass, field
from pathlib import Path

from hpack import Encoder
from hyperframe.frame import DataFrame, HeadersFrame, SettingsFrame

from testbed.analysis.wire.http2 import PREFACE

SYN, ACK, PSH_ACK = 0x02, 0x10, 0x18
MSS = 1448
Endpoint = tuple[str, int]
Packet = tuple[int, bytes]  # ns, frame


@dataclass
class _Side:
    me: Endpoint
    you: Endpoint
    seq: int
    packets: list[Packet] = field(default_factory=list)

    def send(self, t_ns: int, data: bytes, flags: int, ack: int) -> None:
        for at in range(0, max(len(data), 1), MSS):
            piece = data[at : at + MSS]
            self.packets.append((t_ns, frame(self.me, self.you, self.seq, ack, flags, piece)))
            self.seq = (self.seq + len(piece) + (flags & SYN > 0)) % 2**32


class Talk:
    """One connection with one bidirectional gRPC call on stream 1."""

    def __init__(
        self,
        client: Endpoint,
        server: Endpoint,
        latency_ns: int = 0,
        path: str = "/testbed.broker.Overlay/Link",
        isn: int = 2**32 - 2000,  # so that sequence numbers wrap soon
    ) -> None:
        self.client, self.server = _Side(client, server, isn), _Side(server, client, 5000)
        self.latency_ns, self.path, self.opened = latency_ns, path, False

    def say(self, t_ns: int, message: bytes, by_client: bool) -> None:
        """Send one gRPC message; the receiver acknowledges it after the latency."""
        if not self.opened:
            self._open(t_ns - 1000)
        data = DataFrame(1)
        data.data = b"\0" + struct.pack(">I", len(message)) + message
        side, other = (self.client, self.server) if by_client else (self.server, self.client)
        side.send(t_ns, data.serialize(), PSH_ACK, other.seq)
        other.send(t_ns + self.latency_ns, b"", ACK, side.seq)

    def _open(self, t_ns: int) -> None:
        self.opened = True
        self.client.send(t_ns, b"", SYN, 0)
        self.server.send(t_ns, b"", SYN | ACK, self.client.seq)
        encoder = Encoder()
        headers = HeadersFrame(
            1, encoder.encode([(":method", "POST"), (":path", self.path)]), flags=["END_HEADERS"]
        )
        begin = PREFACE + SettingsFrame(0).serialize() + headers.serialize()
        self.client.send(t_ns, begin, PSH_ACK, self.server.seq)
        answer = HeadersFrame(1, Encoder().encode([(":status", "200")]), flags=["END_HEADERS"])
        self.server.send(t_ns, SettingsFrame(0).serialize() + answer.serialize(), PSH_ACK, self.client.seq)


def frame(source: Endpoint, target: Endpoint, seq: int, ack: int, flags: int, data: bytes) -> bytes:
    """An Ethernet frame with an IPv4 TCP segment; checksums are left out, as offloading leaves them."""
    tcp = struct.pack(">HHIIBBHHH", source[1], target[1], seq, ack, 5 << 4, flags, 65_000, 0, 0) + data
    ends = ipaddress.IPv4Address(source[0]).packed + ipaddress.IPv4Address(target[0]).packed
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + ends
    return b"\2\0\0\0\0\1" + b"\2\0\0\0\0\2" + b"\x08\x00" + ip + tcp


def pcap_bytes(
    packets: list[Packet], snap_length: int = 262_144, order: str = "<", nanos: bool = True
) -> bytes:
    magic = 0xA1B23C4D if nanos else 0xA1B2C3D4
    out = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snap_length, 1)]
    for t_ns, data in packets:
        sub = t_ns % 10**9 // (1 if nanos else 1000)
        kept = data[:snap_length]
        out.append(struct.pack(order + "IIII", t_ns // 10**9, sub, len(kept), len(data)) + kept)
    return b"".join(out)


def write_capture(path: Path, talks: list[Talk]) -> int:
    """All packets of the connections, in order of time; returns how many."""
    packets = [packet for talk in talks for side in (talk.client, talk.server) for packet in side.packets]
    packets.sort(key=lambda packet: packet[0])
    path.write_bytes(pcap_bytes(packets))
    return len(packets)
