"""What the first bytes of a capture say: format, byte order, time resolution, link type."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

# Largest record that tcpdump and Wireshark write or accept; longer ones are damage, whatever the file says.
MAX_CAPTURED = 262_144
PCAPNG = 0x0A0D0D0A
BYTE_ORDER_MAGIC = 0x1A2B3C4D
_PCAP = {  # first four bytes -> (byte order, nanoseconds per tick)
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}


class NotACapture(ValueError):
    """The file is no pcap or pcapng file; the message says why."""


@dataclass(frozen=True)
class Interface:
    """A pcapng interface description, or what a pcap's one header says of all its packets."""

    link_type: int
    snap_length: int  # 0 = not limited
    ticks_per_second: int = 10**6
    offset_s: int = 0


@dataclass(frozen=True)
class Header:
    format: str  # pcap or pcapng
    byte_order: str  # < or >
    first: int  # file offset of the first record or block
    interfaces: tuple[Interface, ...] = field(default=())

    @property
    def max_captured(self) -> int:
        """The longest record that is believed."""
        lengths = [i.snap_length or MAX_CAPTURED for i in self.interfaces]
        return min(max(lengths, default=MAX_CAPTURED), MAX_CAPTURED)


def read_header(path: str | Path) -> Header:
    with open(path, "rb") as file:
        return parse_header(file.read(24))


def parse_header(start: bytes) -> Header:
    if not start:
        raise NotACapture("empty file")
    magic = start[:4]
    if magic in _PCAP:
        return _pcap_header(start, *_PCAP[magic])
    if magic == b"\x0a\x0d\x0d\x0a":
        return _pcapng_header(start)
    raise NotACapture(f"wrong magic number {magic.hex()}")


def _pcap_header(start: bytes, order: str, tick_ns: int) -> Header:
    if len(start) < 24:
        raise NotACapture("cut inside the file header")
    snap_length, network = struct.unpack_from(order + "II", start, 16)
    # The upper bits of the last word may carry the length of a frame check sequence.
    interface = Interface(network & 0x0FFF_FFFF, snap_length, 10**9 // tick_ns)
    return Header("pcap", order, 24, (interface,))


def _pcapng_header(start: bytes) -> Header:
    if len(start) < 12:
        raise NotACapture("cut inside the file header")
    for order in "<>":
        if struct.unpack_from(order + "I", start, 8)[0] == BYTE_ORDER_MAGIC:
            return Header("pcapng", order, 0)
    raise NotACapture("pcapng without a byte-order magic")
