"""A slow, obvious packet parser: what the vectorised one must agree with."""

from __future__ import annotations

import struct
from typing import Any

VLAN = (0x8100, 0x88A8, 0x9100)


def parse(packet: bytes, captured: int) -> dict[str, Any]:
    """Columns of an Ethernet packet of which `captured` bytes are known."""
    row: dict[str, Any] = {}
    data = packet[:captured]
    if len(data) < 14:
        return row
    at, kind = 14, struct.unpack_from(">H", data, 12)[0]
    while kind in VLAN and len(data) >= at + 4:
        row.setdefault("vlan", struct.unpack_from(">H", data, at)[0] & 0xFFF)
        kind = struct.unpack_from(">H", data, at + 2)[0]
        at += 4
    row["ethertype"] = kind
    if kind == 0x0800 and len(data) >= at + 20:
        _ip4(row, data, at)
    elif kind == 0x86DD and len(data) >= at + 40:
        _ip6(row, data, at)
    return row


def _ip4(row: dict[str, Any], data: bytes, at: int) -> None:
    first, _, total, _, _, ttl, protocol, _, src, dst = struct.unpack_from(">BBHHHBBHII", data, at)
    row.update(ip_version=4, ttl=ttl, protocol=protocol, src=src, dst=dst)
    _transport(row, data, at + (first & 15) * 4, at + total, protocol)


def _ip6(row: dict[str, Any], data: bytes, at: int) -> None:
    length, protocol, ttl = struct.unpack_from(">HBB", data, at + 4)
    row.update(ip_version=6, ttl=ttl, src6=data[at + 8 : at + 24], dst6=data[at + 24 : at + 40])
    begin, end = at + 40, at + 40 + length
    while protocol == 0 and len(data) >= begin + 8:
        protocol, size = data[begin], (data[begin + 1] + 1) * 8
        begin += size
    row["protocol"] = protocol
    _transport(row, data, begin, end, protocol)


def _transport(row: dict[str, Any], data: bytes, at: int, end: int, protocol: int) -> None:
    if protocol == 6 and len(data) >= at + 20:
        sport, dport, seq, ack, words, flags, window = struct.unpack_from(">HHIIBBH", data, at)
        row.update(sport=sport, dport=dport, seq=seq, ack=ack, flags=flags, window=window)
        row["payload"] = max(end - at - (words >> 4) * 4, 0)
    elif protocol == 17 and len(data) >= at + 8:
        row["sport"], row["dport"] = struct.unpack_from(">HH", data, at)
        row["payload"] = end - at - 8
    elif protocol in (1, 58) and len(data) >= at + 2:
        row["icmp_type"], row["icmp_code"] = data[at], data[at + 1]
