"""Blocks of a pcapng file: sections, interfaces, packets; anything else is skipped by its length."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np

from testbed.analysis.wire.container import BYTE_ORDER_MAGIC, MAX_CAPTURED, PCAPNG, Interface
from testbed.analysis.wire.walk import Bytes, Ints, Records

INTERFACE, SIMPLE, ENHANCED = 1, 3, 6
MAX_BLOCK = 16 * 1024 * 1024


@dataclass
class Section:
    """What the blocks seen so far say about the packets that follow."""

    byte_order: str
    interfaces: list[Interface] = field(default_factory=list)
    described: int = 0  # section headers and interface descriptions seen by this reader


@dataclass
class _Found:
    at: list[int] = field(default_factory=list)
    captured: list[int] = field(default_factory=list)
    original: list[int] = field(default_factory=list)
    ts_ns: list[int] = field(default_factory=list)
    link_type: list[int] = field(default_factory=list)


def walk_pcapng(buffer: Bytes, end: int, section: Section, at_eof: bool) -> Records:
    """All whole packet blocks in `buffer[:end]`; `section` is brought up to date."""
    found, damage, at = _Found(), [], 0
    view = memoryview(buffer.data)
    while at + 12 <= end:
        length = _block_length(view, at, end, section)
        if length is None:
            behind = _next_block(buffer, at + 1, end, section)
            stop = end if behind is None else behind
            if behind is None and not at_eof:
                stop = max(at, end - 11)
            damage.append((at, stop - at, "garbage"))
            at = stop
            if behind is None:
                break
        elif at + length > end:
            break
        elif not _use_block(view, at, length, section, found):
            damage.append((at, length, "unreadable block"))
            at += length
        else:
            at += length
    if at_eof and at < end:
        damage.append((at, end - at, "cut in mid-record"))
        at = end
    return _records(found, at, damage)


def _block_length(view: memoryview, at: int, end: int, section: Section) -> int | None:
    """The block's length; None when it cannot be one."""
    kind = struct.unpack_from("<I", view, at)[0]
    if kind == PCAPNG:
        magic = struct.unpack_from("<I", view, at + 8)[0]
        if magic not in (BYTE_ORDER_MAGIC, 0x4D3C2B1A):
            return None
        section.byte_order = "<" if magic == BYTE_ORDER_MAGIC else ">"
    length = int(struct.unpack_from(section.byte_order + "I", view, at + 4)[0])
    if length < 12 or length % 4 or length > MAX_BLOCK:
        return None
    if (
        at + length <= end
        and struct.unpack_from(section.byte_order + "I", view, at + length - 4)[0] != length
    ):
        return None
    return length


def _use_block(view: memoryview, at: int, length: int, section: Section, found: _Found) -> bool:
    kind = struct.unpack_from(section.byte_order + "I", view, at)[0]
    if kind == ENHANCED:
        return _enhanced(view, at, length, section, found)
    if kind == SIMPLE:
        return _simple(view, at, length, section, found)
    if kind == INTERFACE and length >= 20:
        section.interfaces.append(_interface(view, at, length, section.byte_order))
        section.described += 1
    elif kind == PCAPNG:
        section.interfaces.clear()
        section.described += 1
    return True


def _enhanced(view: memoryview, at: int, length: int, section: Section, found: _Found) -> bool:
    if length < 32:
        return False
    number, high, low, captured, original = struct.unpack_from(section.byte_order + "5I", view, at + 8)
    if number >= len(section.interfaces) or captured > min(length - 32, MAX_CAPTURED):
        return False
    interface = section.interfaces[number]
    ticks = high << 32 | low
    ts_ns = ticks * 1_000_000_000 // interface.ticks_per_second + interface.offset_s * 1_000_000_000
    found.at.append(at + 28)
    found.captured.append(captured)
    found.original.append(original)
    found.ts_ns.append(ts_ns if 0 <= ts_ns < 2**63 else -1)
    found.link_type.append(interface.link_type)
    return True


def _simple(view: memoryview, at: int, length: int, section: Section, found: _Found) -> bool:
    if not section.interfaces or length < 16:
        return False
    original = struct.unpack_from(section.byte_order + "I", view, at + 8)[0]
    interface = section.interfaces[0]
    found.at.append(at + 12)
    found.captured.append(min(original, length - 16, interface.snap_length or MAX_CAPTURED))
    found.original.append(original)
    found.ts_ns.append(-1)
    found.link_type.append(interface.link_type)
    return True


def _interface(view: memoryview, at: int, length: int, order: str) -> Interface:
    link_type, _, snap_length = struct.unpack_from(order + "HHI", view, at + 8)
    ticks, offset_s = 10**6, 0
    option, end = at + 16, at + length - 4
    while option + 4 <= end:
        code, size = struct.unpack_from(order + "HH", view, option)
        if code == 0 or option + 4 + size > end:
            break
        if code == 9 and size == 1:
            value = view[option + 4]
            ticks = 2 ** (value & 127) if value & 128 else 10**value
        elif code == 14 and size == 8:
            offset_s = struct.unpack_from(order + "q", view, option + 4)[0]
        option += 4 + (size + 3) // 4 * 4
    return Interface(link_type, snap_length, ticks, offset_s)


def _next_block(buffer: Bytes, at: int, end: int, section: Section) -> int | None:
    """The first offset whose length stands at both ends of a block of a known kind. Offsets are not assumed
    to be aligned: damage may have removed any number of bytes."""
    n = end - 11
    if at >= n:
        return None
    words = np.ndarray((end - 3,), section.byte_order + "u4", buffer=buffer.data, strides=(1,))
    kind, length = words[at:n], words[at + 4 : n + 4].astype(np.int64)
    known = (kind == INTERFACE) | (kind == SIMPLE) | (kind == ENHANCED) | (kind == 5)
    candidates = np.flatnonzero(known & (length >= 12) & (length % 4 == 0) & (length <= MAX_BLOCK)) + at
    for candidate in candidates.tolist():
        last = candidate + int(words[candidate + 4]) - 4
        if last + 4 <= end and words[last] == words[candidate + 4]:
            return int(candidate)
    return None


def find_block(buffer: Bytes, at: int, end: int, order: str) -> int | None:
    """For splitting: the first 4-aligned offset of a chain of four blocks, or None."""
    section = Section(order)
    while (at := _next_block(buffer, at, end, section) or -1) >= 0:
        position, view = at, memoryview(buffer.data)
        for _ in range(4):
            length = _block_length(view, position, end, section) if position + 12 <= end else 0
            if length is None:
                break
            position += length
        else:
            return at
        at += 1
    return None


def _records(found: _Found, consumed: int, damage: list[tuple[int, int, str]]) -> Records:
    def ints(values: list[int]) -> Ints:
        return np.array(values, np.int64)

    return Records(
        ints(found.at),
        ints(found.captured),
        ints(found.original),
        ints(found.ts_ns),
        ints(found.link_type),
        consumed,
        damage,
    )
