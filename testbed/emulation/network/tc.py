"""Requests about queueing disciplines: delay, jitter, loss, bandwidth; per-destination delay; dropping. Pure.

A link end has one netem as its root. A host whose delay depends on the destination has an HTB root with one
class and one netem per destination, chosen by a u32 hash table on the last octet of the address: one look-up
whatever the number of destinations.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator, Sequence

from testbed.emulation.network.netlink import (
    NLM_F_CREATE,
    NLM_F_REPLACE,
    Request,
    attribute,
    nested,
    text,
    u32,
)
from testbed.run.shape import UNLIMITED_BYTES_PER_SECOND, Shape

RTM_NEWQDISC, RTM_DELQDISC, RTM_NEWTCLASS, RTM_NEWTFILTER = 36, 37, 40, 44
TCA_KIND, TCA_OPTIONS = 1, 2
TC_H_ROOT, TC_H_CLSACT = 0xFFFFFFFF, 0xFFFFFFF1
CLSACT_HANDLE, INGRESS_PARENT = 0xFFFF0000, 0xFFFFFFF2
NETEM_RATE, NETEM_RATE64, NETEM_LATENCY64, NETEM_JITTER64, NETEM_SEED = 6, 8, 10, 11, 14
HTB_PARMS, HTB_INIT, HTB_RATE64, HTB_CEIL64 = 1, 2, 6, 7
U32_CLASSID, U32_HASH, U32_LINK, U32_DIVISOR, U32_SEL, U32_ACT = 1, 2, 3, 4, 5, 7
ACT_KIND, ACT_OPTIONS, GACT_PARMS, TC_ACT_SHOT = 1, 2, 2, 2
TICK_SHIFT = 6  # a scheduler tick is 64 ns
ROOT = 0x10000  # handle 1:
HASH_TABLE = 0x100000  # u32 table 1:
TERMINAL = 1
ENOENT, EINVAL = 2, 22
BURST_TICKS = 1_000_000_000 >> TICK_SHIFT  # one second's worth: a virtual instant may hold many packets


def _header(index: int, handle: int, parent: int, info: int = 0) -> bytes:
    return struct.pack("=BxxxiIII", socket.AF_UNSPEC, index, handle, parent, info)


def _add(
    kind: int, index: int, handle: int, parent: int, name: str, options: bytes, info: int = 0
) -> Request:
    body = _header(index, handle, parent, info) + text(TCA_KIND, name) + options
    return Request(kind, NLM_F_CREATE | NLM_F_REPLACE, body, f"{name} on interface {index}")


def _ticks(nanoseconds: int) -> int:
    return min(nanoseconds >> TICK_SHIFT, 0xFFFFFFFF)


def _netem_options(shape: Shape) -> bytes:
    loss = min(round(shape.loss * 0xFFFFFFFF), 0xFFFFFFFF)
    fixed = struct.pack(
        "=6I", _ticks(shape.delay_ns), shape.limit_packets, loss, 0, 0, _ticks(shape.jitter_ns)
    )
    rate = shape.bytes_per_second
    attributes = (
        attribute(NETEM_LATENCY64, struct.pack("=q", shape.delay_ns))
        + attribute(NETEM_JITTER64, struct.pack("=q", shape.jitter_ns))
        + attribute(NETEM_RATE, struct.pack("=IiIi", min(rate, 0xFFFFFFFF), 0, 0, 0))
    )
    if rate > 0xFFFFFFFF:
        attributes += attribute(NETEM_RATE64, struct.pack("=Q", rate))
    if shape.seed and (shape.loss or shape.jitter_ns):
        # Kernels before 6.7 (without our addition) do not know it and ignore it.
        attributes += attribute(NETEM_SEED, struct.pack("=Q", shape.seed))
    return attribute(TCA_OPTIONS, fixed + attributes)


def netem(index: int, shape: Shape, *, parent: int = TC_H_ROOT, handle: int = ROOT) -> Request:
    """Delay this interface's outgoing packets; replaces the shape it had, keeping packets under way."""
    return _add(RTM_NEWQDISC, index, handle, parent, "netem", _netem_options(shape))


def unshape(index: int) -> Request:
    body = _header(index, 0, TC_H_ROOT)
    return Request(RTM_DELQDISC, 0, body, f"unshape interface {index}", ignore=(ENOENT, EINVAL))


def per_destination(
    index: int, shapes: Sequence[tuple[str, Shape]], bytes_per_second: int
) -> Iterator[Request]:
    """Delay by destination address; all destinations share `bytes_per_second`. Others pass undelayed."""
    yield unshape(index)
    init = attribute(HTB_INIT, struct.pack("=5I", 3, 10, 0, 0, 0))
    yield _add(RTM_NEWQDISC, index, ROOT, TC_H_ROOT, "htb", attribute(TCA_OPTIONS, init))
    yield _htb_class(index, ROOT + 1, ROOT, bytes_per_second, bytes_per_second)
    yield _u32(index, HASH_TABLE, 0, u32(U32_DIVISOR, 256))
    share = max(1, bytes_per_second // max(1, len(shapes)))
    for number, (destination, shape) in enumerate(shapes, 2):
        yield _htb_class(index, ROOT + number, ROOT + 1, share, bytes_per_second)
        yield netem(index, shape, parent=ROOT + number, handle=number << 16)
        bucket = HASH_TABLE | socket.inet_aton(destination)[3] << 12
        options = u32(U32_CLASSID, ROOT + number) + u32(U32_HASH, bucket) + _match(destination, 16)
        yield _u32(index, bucket | number, 0, options)
    selector = attribute(
        U32_SEL, struct.pack("=BBBxHHhhI", 0, 0, 1, 0, 0, 0, 16, socket.htonl(0xFF)) + bytes(16)
    )
    yield _u32(index, 0, 0, u32(U32_LINK, HASH_TABLE) + selector)


def pair_class(number: int) -> tuple[int, int]:
    """Parent and handle of the netem of the n-th destination (from 0) given to `per_destination`."""
    return ROOT + number + 2, (number + 2) << 16


def _htb_class(index: int, handle: int, parent: int, rate: int, ceiling: int) -> Request:
    burst = (
        BURST_TICKS
        if ceiling >= UNLIMITED_BYTES_PER_SECOND
        else max(1, _ticks(1_600 * 10**9 // max(1, rate)))
    )
    top = (
        BURST_TICKS
        if ceiling >= UNLIMITED_BYTES_PER_SECOND
        else max(1, _ticks(1_600 * 10**9 // max(1, ceiling)))
    )
    spec = struct.pack("=BBHhHI", 0, 1, 0, 0, 0, min(rate, 0xFFFFFFFF))
    limit = struct.pack("=BBHhHI", 0, 1, 0, 0, 0, min(ceiling, 0xFFFFFFFF))
    options = attribute(HTB_PARMS, spec + limit + struct.pack("=5I", burst, top, 200_000, 0, 0))
    options += attribute(HTB_RATE64, struct.pack("=Q", rate)) + attribute(
        HTB_CEIL64, struct.pack("=Q", ceiling)
    )
    return _add(RTM_NEWTCLASS, index, handle, parent, "htb", attribute(TCA_OPTIONS, options))


def _match(address: str, offset: int) -> bytes:
    key = struct.pack("=I4sii", 0xFFFFFFFF, socket.inet_aton(address), offset, 0)
    return attribute(U32_SEL, struct.pack("=BBBxHHhhI", TERMINAL, 0, 1, 0, 0, 0, 0, 0) + key)


def _u32(index: int, handle: int, parent: int, options: bytes) -> Request:
    info = 1 << 16 | socket.htons(0x0800)
    return _add(RTM_NEWTFILTER, index, handle, parent or ROOT, "u32", attribute(TCA_OPTIONS, options), info)


def drop_from(index: int, sources: Sequence[str]) -> Iterator[Request]:
    """Silently discard what arrives from these addresses (a partition, seen from one host)."""
    yield _add(RTM_NEWQDISC, index, CLSACT_HANDLE, TC_H_CLSACT, "clsact", b"")
    yield _u32(index, HASH_TABLE, INGRESS_PARENT, u32(U32_DIVISOR, 256))
    action = struct.pack("=IIiii", 0, 0, TC_ACT_SHOT, 0, 0)
    drop = nested(
        U32_ACT, nested(1, text(ACT_KIND, "gact"), nested(ACT_OPTIONS, attribute(GACT_PARMS, action)))
    )
    for number, source in enumerate(sources, 1):
        bucket = HASH_TABLE | socket.inet_aton(source)[3] << 12
        options = u32(U32_HASH, bucket) + _match(source, 12) + drop
        yield _u32(index, bucket | number, INGRESS_PARENT, options)
    selector = attribute(
        U32_SEL, struct.pack("=BBBxHHhhI", 0, 0, 1, 0, 0, 0, 12, socket.htonl(0xFF)) + bytes(16)
    )
    yield _u32(index, 0, INGRESS_PARENT, u32(U32_LINK, HASH_TABLE) + selector)


def drop_nothing(index: int) -> Request:
    body = _header(index, CLSACT_HANDLE, TC_H_CLSACT)
    return Request(RTM_DELQDISC, 0, body, f"heal interface {index}", ignore=(ENOENT, EINVAL))
