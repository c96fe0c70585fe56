"""Packets to columns: Ethernet, VLAN, IPv4, IPv6, TCP, UDP, ICMP, all packets of a buffer at once.

Plain Ethernet/IPv4/TCP without options is one gather of 54 bytes. Whatever else is in the buffer goes through
`layers`, which follows the headers step by step (still for all such packets at once) and overwrites those
rows. A header that the snap length cut off gives nulls, never bytes of the next record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa

from testbed.analysis.wire.layers import layers
from testbed.analysis.wire.walk import Bytes, Records, gather

# name -> (Arrow type, meaning). The one list of columns: Spark's schema and docs/tables.md come from it.
PACKET_COLUMNS: dict[str, tuple[pa.DataType, str]] = {
    "file": (pa.string(), "capture file"),
    "offset": (pa.int64(), "byte offset of the packet's data in the file; identifies it"),
    "ts_ns": (pa.int64(), "time, nanoseconds since the epoch"),
    "captured": (pa.int32(), "bytes in the file"),
    "original": (pa.int32(), "bytes on the wire"),
    "link_type": (pa.int32(), "pcap link type; 1 = Ethernet"),
    "vlan": (pa.int32(), "outermost VLAN id"),
    "ethertype": (pa.int32(), "innermost Ethernet type"),
    "ip_version": (pa.int32(), "4 or 6"),
    "ttl": (pa.int32(), "time to live or hop limit"),
    "protocol": (pa.int32(), "IP protocol: 6 TCP, 17 UDP, 1 ICMP, 58 ICMPv6"),
    "src": (pa.int64(), "IPv4 source address as a number"),
    "dst": (pa.int64(), "IPv4 destination address as a number"),
    "src6": (pa.binary(), "IPv6 source address"),
    "dst6": (pa.binary(), "IPv6 destination address"),
    "sport": (pa.int32(), "TCP or UDP source port"),
    "dport": (pa.int32(), "TCP or UDP destination port"),
    "seq": (pa.int64(), "TCP sequence number"),
    "ack": (pa.int64(), "TCP acknowledgement number"),
    "flags": (pa.int32(), "TCP flags: 1 FIN, 2 SYN, 4 RST, 8 PSH, 16 ACK"),
    "window": (pa.int32(), "TCP window, not scaled"),
    "payload": (pa.int32(), "bytes of TCP or UDP payload, by the IP header"),
    "icmp_type": (pa.int32(), "ICMP type"),
    "icmp_code": (pa.int32(), "ICMP code"),
    "damage": (pa.string(), "null for a packet; else what is wrong at this place (`captured` bytes skipped)"),
}
_FIELDS = {  # of Ethernet + IPv4 + TCP without options: offset, type
    "ethertype": (12, ">u2"),
    "version": (14, "u1"),
    "length": (16, ">u2"),
    "fragment": (20, ">u2"),
    "ttl": (22, "u1"),
    "protocol": (23, "u1"),
    "src": (26, ">u4"),
    "dst": (30, ">u4"),
    "sport": (34, ">u2"),
    "dport": (36, ">u2"),
    "seq": (38, ">u4"),
    "ack": (42, ">u4"),
    "offset": (46, "u1"),
    "flags": (47, "u1"),
    "window": (48, ">u2"),
}
PLAIN = np.dtype(
    {
        "names": list(_FIELDS),
        "formats": [kind for _, kind in _FIELDS.values()],
        "offsets": [offset for offset, _ in _FIELDS.values()],
        "itemsize": 54,
    }
)
_COPIED = {"ethertype", "ttl", "protocol", "src", "dst", "sport", "dport", "seq", "ack", "flags", "window"}
Column = tuple[np.ndarray, np.ndarray | None]  # values, valid (None = all)


def packet_schema(names: Iterable[str]) -> pa.Schema:
    return pa.schema([(name, PACKET_COLUMNS[name][0]) for name in names])


def decode(buffer: Bytes, records: Records, base: int, names: Iterable[str]) -> dict[str, Column]:
    """The wanted columns of all records; `base` is the buffer's offset in the file."""
    wanted = [name for name in names if name not in ("file", "damage")]
    r = gather(buffer, records.at, PLAIN)
    slow = np.flatnonzero(~_is_plain(r, records))
    out = {name: _direct(name, r, records, base) for name in wanted}
    if len(slow):
        found = layers(buffer, records, slow)
        for name in wanted:
            if name in found:
                out[name] = _patched(out[name], slow, found[name], len(records.at))
    return out


def _is_plain(r: np.ndarray, records: Records) -> np.ndarray:
    plain = (r["ethertype"] == 0x0800) & (r["version"] == 0x45) & (r["protocol"] == 6) & (r["length"] > 0)
    plain &= ((r["fragment"] & 0x1FFF) == 0) & (records.captured >= 54) & (records.link_type == 1)
    return np.asarray(plain)


def _direct(name: str, r: np.ndarray, records: Records, base: int) -> Column:
    """The column as if every packet were plain; a field that plain packets lack is null."""
    if name in _COMPUTED:
        return _COMPUTED[name](r, records, base)
    dtype = PACKET_COLUMNS[name][0].to_pandas_dtype()
    if name in _COPIED:
        return r[name].astype(dtype), None
    return np.zeros(len(r), object if name in ("src6", "dst6") else dtype), np.zeros(len(r), bool)


_COMPUTED: dict[str, Callable[[np.ndarray, Records, int], Column]] = {
    "offset": lambda r, records, base: (records.at + base, None),
    "ts_ns": lambda r, records, base: (records.ts_ns, records.ts_ns >= 0),
    "captured": lambda r, records, base: (records.captured.astype(np.int32), None),
    "original": lambda r, records, base: (records.original.astype(np.int32), None),
    "link_type": lambda r, records, base: (records.link_type.astype(np.int32), None),
    "ip_version": lambda r, records, base: (np.full(len(r), 4, np.int32), None),
    "payload": lambda r, records, base: (
        np.maximum(r["length"].astype(np.int32) - 20 - (r["offset"] >> 4).astype(np.int32) * 4, 0),
        None,
    ),
    # Not a column of the table: where the payload begins within the packet.
    "payload_at": lambda r, records, base: (34 + (r["offset"] >> 4).astype(np.int64) * 4, None),
}


def _patched(column: Column, rows: np.ndarray, found: Column, n: int) -> Column:
    values, valid = column
    mask = np.ones(n, bool) if valid is None else valid.copy()
    values[rows] = found[0]
    mask[rows] = True if found[1] is None else found[1]
    return values, mask


def to_batch(columns: dict[str, Column], file: str, schema: pa.Schema) -> pa.RecordBatch:
    """An Arrow batch with exactly `schema`."""
    n = len(next(iter(columns.values()))[0]) if columns else 0
    arrays = []
    for field in schema:
        if field.name == "file":
            arrays.append(
                pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), pa.array([file])).cast(
                    pa.string()
                )
            )
        elif field.name == "damage":
            arrays.append(pa.nulls(n, pa.string()))
        else:
            values, valid = columns[field.name]
            arrays.append(pa.array(values, field.type, mask=None if valid is None or valid.all() else ~valid))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
