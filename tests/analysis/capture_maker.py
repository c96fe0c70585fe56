"""Packets and captures for tests, made by hand."""

from __future__ import annotations

import random
import struct

from testbed.analysis.sample.packets import frame

A, B = ("10.0.0.1", 40000), ("10.0.0.2", 5000)
T0 = 1_700_000_000_000_000_000


def tcp(number: int, data: bytes = b"hello") -> bytes:
    return frame(A, B, 1000 + number, 77, 0x18, data)


def vlan(packet: bytes, tag: int) -> bytes:
    return packet[:12] + struct.pack(">HH", 0x8100, tag) + packet[12:]


def ip4(protocol: int, data: bytes, options: bytes = b"") -> bytes:
    header = 20 + len(options)
    first = struct.pack(">BBHHHBBH", 0x40 | header // 4, 0, header + len(data), 0, 0, 9, protocol, 0)
    return b"\1" * 12 + b"\x08\x00" + first + bytes([10, 0, 0, 1, 10, 0, 0, 2]) + options + data


def ip6(protocol: int, data: bytes, extension: bytes = b"") -> bytes:
    following = 0 if extension else protocol
    first = struct.pack(">IHBB", 6 << 28, len(extension) + len(data), following, 3)
    return b"\1" * 12 + b"\x86\xdd" + first + bytes(range(16)) + bytes(range(16, 32)) + extension + data


def udp(data: bytes = b"abc") -> bytes:
    return struct.pack(">HHHH", 1111, 2222, 8 + len(data), 0) + data


def tcp_header(data: bytes = b"xyz", options: bytes = b"") -> bytes:
    words = 5 + len(options) // 4
    return struct.pack(">HHIIBBHHH", 1, 2, 3, 4, words << 4, 0x18, 5, 0, 0) + options + data


def zoo() -> list[bytes]:
    """One packet of every kind the reader knows, and some it does not."""
    return [
        tcp(1),
        vlan(tcp(2), 42),
        vlan(vlan(tcp(3), 7), 8),
        ip4(17, udp()),
        ip4(1, b"\x08\x00abcd"),
        ip4(6, tcp_header(options=b"\1" * 12)),
        ip4(6, tcp_header(), options=b"\1" * 8),
        ip6(6, tcp_header()),
        ip6(17, udp(), extension=bytes([17, 0]) + b"\0" * 6),
        ip6(58, b"\x80\x00abcd"),
        b"\1" * 12 + b"\x08\x06" + b"\0" * 28,  # ARP
        b"\1" * 20,  # nonsense
        tcp(5, b""),
    ]


def many(count: int, seed: int = 1, most: int = 300) -> list[tuple[int, bytes]]:
    rng = random.Random(seed)
    out = []
    for number in range(count):
        data = rng.randbytes(rng.randrange(most))
        packet = tcp(number, data) if rng.random() < 0.9 else rng.choice(zoo())
        out.append((T0 + number * 1_000_001, packet))
    return out


def pcapng_bytes(packets: list[tuple[int, bytes]], order: str = "<", resolution: int = 9) -> bytes:
    def block(kind: int, body: bytes) -> bytes:
        body += b"\0" * (-len(body) % 4)
        size = struct.pack(order + "I", 12 + len(body))
        return struct.pack(order + "I", kind) + size + body + size

    section = struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)
    options = struct.pack(order + "HHB3x", 9, 1, resolution) + struct.pack(order + "HH", 0, 0)
    out = [block(0x0A0D0D0A, section), block(1, struct.pack(order + "HHI", 1, 0, 0) + options)]
    out.append(block(5, struct.pack(order + "III", 0, 0, 0)))  # statistics, to be skipped
    for t_ns, packet in packets:
        ticks = t_ns // 10 ** (9 - resolution)
        head = struct.pack(order + "5I", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(packet), len(packet))
        out.append(block(6, head + packet))
    return b"".join(out)
