"""The general decoder: follows each packet's headers whatever they are, for many packets at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from testbed.analysis.wire.walk import Bytes, Ints, Records

ETHERNET, NULL, RAW, SLL, SLL2 = 1, 0, 101, 113, 276
RAW_TYPES = (12, 14, RAW, 228, 229)
LINK_TYPES = {ETHERNET, NULL, SLL, SLL2, *RAW_TYPES}
IP4, IP6 = 0x0800, 0x86DD
_VLAN = (0x8100, 0x88A8, 0x9100)
_EXTENSIONS = (0, 43, 60, 135)  # IPv6 headers with a length in 8-byte units; 44 (fragment) has a fixed one
Mask = npt.NDArray[np.bool_]
Column = tuple[Any, Mask | None]


class _Cursor:
    """Reads fields at a position per packet; beyond the captured bytes it reads zero."""

    def __init__(self, buffer: Bytes, start: Ints, captured: Ints) -> None:
        self.buffer, self.start, self.captured = buffer, start, captured

    def u8(self, at: Ints) -> Ints:
        inside = (at >= 0) & (at < self.captured)
        return np.where(inside, self.buffer[np.where(inside, self.start + at, 0)], 0).astype(np.int64)

    def u16(self, at: Ints) -> Ints:
        return self.u8(at) << 8 | self.u8(at + 1)

    def u32(self, at: Ints) -> Ints:
        return self.u16(at) << 16 | self.u16(at + 2)

    def blob(self, at: Ints, size: int, where: Mask) -> npt.NDArray[np.object_]:
        out = np.full(len(at), None, object)
        data = self.buffer.data
        for i in np.flatnonzero(where).tolist():
            begin = int(self.start[i] + at[i])
            out[i] = bytes(data[begin : begin + size])
        return out


def layers(buffer: Bytes, records: Records, rows: Ints) -> dict[str, Column]:
    """Columns of the packets `rows`, each as (values, valid)."""
    cursor = _Cursor(buffer, records.at[rows], records.captured[rows])
    original = records.original[rows]
    ethertype, vlan, l3, linked = _link(cursor, records.link_type[rows])
    version = np.where(linked & (ethertype == IP4), 4, np.where(linked & (ethertype == IP6), 6, 0))
    four = (version == 4) & (cursor.captured >= l3 + 20)
    six = (version == 6) & (cursor.captured >= l3 + 40)
    protocol, l4, rest, fragment = _network(cursor, l3, four, six, original)
    out: dict[str, Column] = {
        "ethertype": (ethertype, linked),
        "vlan": (np.maximum(vlan, 0), vlan >= 0),
        "ip_version": (version, four | six),
        "ttl": (np.where(four, cursor.u8(l3 + 8), cursor.u8(l3 + 7)), four | six),
        "protocol": (protocol, four | six),
        "src": (cursor.u32(l3 + 12), four),
        "dst": (cursor.u32(l3 + 16), four),
        "src6": (cursor.blob(l3 + 8, 16, six), six),
        "dst6": (cursor.blob(l3 + 24, 16, six), six),
    }
    out.update(_transport(cursor, protocol, l4, rest, (four | six) & ~fragment))
    return out


def _link(c: _Cursor, link_type: Ints) -> tuple[Ints, Ints, Ints, Mask]:
    """Ethernet type, VLAN id (-1 = none), offset of the network header, whether the link type is known."""
    zero = np.zeros(len(link_type), np.int64)
    l3 = np.select(
        [link_type == ETHERNET, link_type == NULL, link_type == SLL, link_type == SLL2], [14, 4, 16, 20], 0
    ).astype(np.int64)
    first_nibble = c.u8(l3) >> 4
    by_version = np.select([first_nibble == 4, first_nibble == 6], [IP4, IP6], 0)
    ethertype = np.select(
        [link_type == ETHERNET, link_type == SLL, link_type == SLL2],
        [c.u16(zero + 12), c.u16(zero + 14), c.u16(zero)],
        by_version,
    ).astype(np.int64)
    vlan = zero - 1
    while (tagged := np.isin(ethertype, _VLAN) & (c.captured >= l3 + 4)).any():
        vlan = np.where(tagged & (vlan < 0), c.u16(l3) & 0x0FFF, vlan)
        ethertype = np.where(tagged, c.u16(l3 + 2), ethertype)
        l3 = np.where(tagged, l3 + 4, l3)
    return ethertype, vlan, l3, np.isin(link_type, list(LINK_TYPES)) & (c.captured >= l3)


def _network(c: _Cursor, l3: Ints, four: Mask, six: Mask, original: Ints) -> tuple[Ints, Ints, Ints, Mask]:
    """IP protocol, offset of the transport header, bytes from there on, whether it is a later fragment."""
    header = (c.u8(l3) & 15) * 4
    total = c.u16(l3 + 2)
    total = np.where(total == 0, original - l3, total)  # a segment of 64 kB or more, not yet cut up
    length6 = np.where(c.u16(l3 + 4) == 0, original - l3 - 40, c.u16(l3 + 4))
    protocol = np.where(four, c.u8(l3 + 9), np.where(six, c.u8(l3 + 6), 0))
    l4 = l3 + np.where(four, header, 40)
    end = l3 + np.where(four, total, 40 + length6)
    fragment = four & ((c.u16(l3 + 6) & 0x1FFF) != 0)
    while (more := six & (np.isin(protocol, _EXTENSIONS) | (protocol == 44)) & (c.captured >= l4 + 8)).any():
        is_fragment = more & (protocol == 44)
        fragment |= is_fragment & ((c.u16(l4 + 2) >> 3) != 0)
        size = np.where(is_fragment, 8, (c.u8(l4 + 1) + 1) * 8)
        protocol = np.where(more, c.u8(l4), protocol)
        l4 = np.where(more, l4 + size, l4)
    return protocol, l4, end - l4, fragment


def _transport(c: _Cursor, protocol: Ints, l4: Ints, rest: Ints, whole: Mask) -> dict[str, Column]:
    tcp = whole & (protocol == 6) & (c.captured >= l4 + 20)
    udp = whole & (protocol == 17) & (c.captured >= l4 + 8)
    icmp = whole & np.isin(protocol, (1, 58)) & (c.captured >= l4 + 2)
    header = np.where(tcp, (c.u8(l4 + 12) >> 4) * 4, 8)
    return {
        "sport": (c.u16(l4), tcp | udp),
        "dport": (c.u16(l4 + 2), tcp | udp),
        "seq": (c.u32(l4 + 4), tcp),
        "ack": (c.u32(l4 + 8), tcp),
        "flags": (c.u8(l4 + 13), tcp),
        "window": (c.u16(l4 + 14), tcp),
        "payload": (np.maximum(rest - header, 0), tcp | udp),
        "icmp_type": (c.u8(l4), icmp),
        "icmp_code": (c.u8(l4 + 1), icmp),
        "payload_at": (l4 + header, tcp),
    }
