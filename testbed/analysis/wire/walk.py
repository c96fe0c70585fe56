"""Record boundaries in a buffer of a pcap file, and finding them again behind damage.

Only the chain of lengths is sequential. Everything else about the records is read for all of them at once,
through a view in which one item starts at every byte of the buffer.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from testbed.analysis.wire.container import Header

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

CHAIN = 16  # records that must follow one another before a found boundary is believed
_YEAR_S = 366 * 86_400


@dataclass
class Records:
    """Packets of one buffer: where their bytes are, how many, and when they were seen."""

    at: Ints  # offset of the packet's first byte in the buffer
    captured: Ints
    original: Ints
    ts_ns: Ints  # -1 = the record carries no time
    link_type: Ints
    consumed: int = 0  # bytes of the buffer that need not be seen again
    damage: list[tuple[int, int, str]] = field(default_factory=list)  # offset in the buffer, bytes, what


def gather(buffer: Bytes, at: Ints, dtype: np.dtype[np.void]) -> np.ndarray:
    """Items of `dtype` at arbitrary byte offsets; the buffer must reach one item beyond every offset."""
    size = dtype.itemsize
    items = np.ndarray((len(buffer) - size + 1,), f"V{size}", buffer=buffer.data, strides=(1,))
    return items[at].view(dtype)


def header_dtype(order: str) -> np.dtype[np.void]:
    return np.dtype([(name, order + "u4") for name in ("sec", "sub", "captured", "original")])


def walk_pcap(buffer: Bytes, end: int, header: Header, at_eof: bool) -> Records:
    """All whole records in `buffer[:end]`; damage is skipped and named, a cut record is left over."""
    damage: list[tuple[int, int, str]] = []
    pieces = []
    at = 0
    while True:
        offsets, at = chain(buffer, at, end, header)
        good = count_good(buffer, offsets, header)
        pieces.append(offsets[:good])
        if good < len(offsets):
            at = int(offsets[good])
        elif at + 16 > end or not (_absurd(buffer, at, header) or at_eof):
            break
        found = find_boundary(buffer, at + 1, end, header, at_eof)
        if found is None:
            if at < end and not _absurd(buffer, at, header):
                break  # a record that the end of the file cuts
            stop = end if at_eof else max(at, end - 15)  # the last bytes may be half a header
            damage.append((at, stop - at, "garbage"))
            at = stop
            break
        damage.append((at, found - at, "garbage"))
        at = found
    if at_eof and at < end:
        damage.append((at, end - at, "cut in mid-record"))
        at = end
    return _records(buffer, np.concatenate(pieces), header, at, damage)


def chain(buffer: Bytes, at: int, end: int, header: Header) -> tuple[Ints, int]:
    """Offsets of the record headers from `at` on, as their lengths lead; and where the chain stops."""
    unpack = struct.Struct(header.byte_order + "I").unpack_from
    view = memoryview(buffer.data)
    limit = header.max_captured
    offsets: list[int] = []
    append = offsets.append
    last = end - 16
    while at <= last:
        length = unpack(view, at + 8)[0]
        following = at + 16 + length
        if following > end or length > limit:
            break
        append(at)
        at = following
    return np.array(offsets, np.int64), at


def count_good(buffer: Bytes, offsets: Ints, header: Header) -> int:
    """How many records from the first on have a believable header."""
    if not len(offsets):
        return 0
    r = gather(buffer, offsets, header_dtype(header.byte_order))
    bad = (r["captured"] > r["original"]) | (r["sub"] >= header.interfaces[0].ticks_per_second)
    bad |= r["original"] == 0
    return int(bad.argmax()) if bad.any() else len(offsets)


def _absurd(buffer: Bytes, at: int, header: Header) -> bool:
    length = struct.unpack_from(header.byte_order + "I", buffer.data, at + 8)[0]
    return bool(length > header.max_captured) or count_good(buffer, np.array([at]), header) == 0


def find_boundary(
    buffer: Bytes, at: int, end: int, header: Header, at_eof: bool, near_s: int | None = None
) -> int | None:
    """The first offset from `at` on where a believable chain of records begins, or None.

    Every byte is tried at once; a candidate must lead through CHAIN records, or to the end. `near_s`, when
    given, is a time the capture contains.
    """
    n = end - 15
    if at >= n:
        return None
    ok, length = _plausible(buffer, at, n, header, near_s)
    position = np.flatnonzero(ok)
    first = position
    for _ in range(CHAIN):
        following = position + 16 + length[position]
        inside = following < len(ok)
        # At the end of the file a chain must end exactly there; in mid-file it may run out of the window.
        keep = np.where(
            inside, ok[np.minimum(following, len(ok) - 1)], following + at == end if at_eof else True
        )
        first, following, inside = first[keep], following[keep], inside[keep]
        position = np.where(inside, following, position[keep])
    return int(first[0]) + at if len(first) else None


def _plausible(
    buffer: Bytes, at: int, n: int, header: Header, near_s: int | None
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.uint32]]:
    def word(offset: int) -> npt.NDArray[np.uint32]:
        return np.ndarray(
            (n - at,), header.byte_order + "u4", buffer=buffer[at + offset :].data, strides=(1,)
        )

    captured, original = word(8), word(12)
    ok = (
        (captured <= original)
        & (captured <= header.max_captured)
        & (original <= MAX_ORIGINAL)
        & (captured >= 14)
    )
    ok &= word(4) < header.interfaces[0].ticks_per_second
    if near_s is not None:
        ok &= (word(0) >= max(0, near_s - _YEAR_S)) & (word(0) <= near_s + _YEAR_S)
    return ok, captured


MAX_ORIGINAL = 262_144  # a segment that the sending host has not yet cut up can be this long, not longer


def _records(
    buffer: Bytes, offsets: Ints, header: Header, consumed: int, damage: list[tuple[int, int, str]]
) -> Records:
    interface = header.interfaces[0]
    r = gather(buffer, offsets, header_dtype(header.byte_order))
    tick_ns = 10**9 // interface.ticks_per_second
    ts = r["sec"].astype(np.int64) * 1_000_000_000 + r["sub"].astype(np.int64) * tick_ns
    link_type = np.full(len(offsets), interface.link_type, np.int64)
    return Records(
        offsets + 16,
        r["captured"].astype(np.int64),
        r["original"].astype(np.int64),
        ts,
        link_type,
        consumed,
        damage,
    )
