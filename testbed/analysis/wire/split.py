"""Cutting large captures into parts that several tasks read at once.

`plan_parts` guesses record boundaries near the wished cuts; the reader proves each guess while reading (see
`reader._prove`). `exact` walks all record lengths instead: slower to plan, right for any payload, for
instance when packets carry captures.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import numpy as np

from testbed.analysis.wire.container import Header, NotACapture, read_header
from testbed.analysis.wire.pcapng import Section, find_block, walk_pcapng
from testbed.analysis.wire.reader import Part, chunks
from testbed.analysis.wire.walk import Bytes, find_boundary

PART_BYTES = 128 * 1024 * 1024
WINDOW = 1024 * 1024
HEAD = 64 * 1024


def plan_parts(path: str, part_bytes: int = PART_BYTES, exact: bool = False) -> list[Part]:
    """The file as parts of about `part_bytes`; one part when it is small or cannot be cut."""
    size = os.path.getsize(path)
    try:
        header = read_header(path)
    except NotACapture:
        return [Part(path)]
    if size <= part_bytes * 3 // 2 or part_bytes <= 0 or (exact and header.format == "pcapng"):
        return [Part(path)]
    if header.format == "pcapng":
        header = _with_interfaces(path, header)
    wished = range(part_bytes, size - part_bytes // 2, part_bytes)
    starts = list(_exact(path, wished) if exact else _guessed(path, header, size, wished))
    return _parts(path, header, starts)


def _parts(path: str, header: Header, starts: list[int]) -> list[Part]:
    if not starts:
        return [Part(path)]
    begins = [header.first, *starts]
    ends = [*starts, -1]
    parts = [Part(path, begin, end, header, first=False) for begin, end in zip(begins, ends, strict=True)]
    head = Part(path, header.first, ends[0], None if header.format == "pcapng" else header, first=True)
    return [head, *parts[1:]]


def _guessed(path: str, header: Header, size: int, wished: Iterable[int]) -> Iterator[int]:
    with open(path, "rb") as file:
        near_s = _first_second(file.read(28), header)
        last = header.first
        for cut in wished:
            file.seek(cut)
            window = np.frombuffer(file.read(WINDOW), np.uint8)
            found = _boundary(window, header, cut + len(window) >= size, near_s)
            if found is not None and cut + found > last:
                last = cut + found
                yield last


def _boundary(window: Bytes, header: Header, at_eof: bool, near_s: int | None) -> int | None:
    if header.format == "pcapng":
        return find_block(window, 0, len(window), header.byte_order)
    return find_boundary(window, 0, len(window), header, at_eof, near_s)


def _first_second(start: bytes, header: Header) -> int | None:
    if header.format != "pcap" or len(start) < 28:
        return None
    return int.from_bytes(start[24:28], "little" if header.byte_order == "<" else "big")


def _with_interfaces(path: str, header: Header) -> Header:
    """The interfaces described before the first packet; parts that start later rely on them."""
    with open(path, "rb") as file:
        head = file.read(HEAD)
    section = Section(header.byte_order)
    walk_pcapng(np.frombuffer(head + bytes(64), np.uint8), len(head), section, False)
    return Header("pcapng", section.byte_order, header.first, tuple(section.interfaces))


def _exact(path: str, wished: Iterable[int]) -> Iterator[int]:
    cuts = iter(wished)
    cut = next(cuts, None)
    last = -1
    for chunk in chunks(Part(path)):
        starts = chunk.records.at - 16 + chunk.base
        while cut is not None and len(starts) and starts[-1] >= cut:
            found = int(starts[np.searchsorted(starts, cut)])
            if found > last:
                yield found
            last = found
            cut = next(cuts, None)
