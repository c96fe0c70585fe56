"""A capture file as a witness: what was sent, by type, stream and direction, and what it cost in bytes.

One pass over a file yields facts, few rows whatever the file's size:

    traffic    per direction of a flow: packets and bytes, headers and acknowledgements apart
    connection per direction of a TCP connection on a broker port: how well it could be read, framing bytes
    stream     per gRPC call and direction: the method, who said hello
    count      per gRPC call, direction and message type: messages and bytes
    damage     per place of the file that could not be read
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from testbed.analysis.wire.capture_file import Capture
from testbed.analysis.wire.columns import Column, decode
from testbed.analysis.wire.connections import NEEDED, Connections, HalfConnection, Message
from testbed.analysis.wire.container import NotACapture
from testbed.analysis.wire.reader import Chunk, Part, chunks, unknown_link_types

FACT_COLUMNS: dict[str, pa.DataType] = {
    "fact": pa.string(),
    "run": pa.string(),
    "file": pa.string(),
    "node": pa.string(),
    "interface": pa.string(),
    "source": pa.string(),
    "target": pa.string(),
    "connection": pa.int32(),
    "stream": pa.int64(),
    "protocol": pa.string(),
    "path": pa.string(),
    "hello": pa.string(),
    "hello_kind": pa.string(),
    "type": pa.string(),
    "leg": pa.int64(),
    "state": pa.string(),
    "first_ns": pa.int64(),
    "last_ns": pa.int64(),
    "packets": pa.int64(),
    "bytes": pa.int64(),
    "messages": pa.int64(),
    "header_bytes": pa.int64(),
    "payload_bytes": pa.int64(),
    "ack_packets": pa.int64(),
    "ack_bytes": pa.int64(),
    "framing_bytes": pa.int64(),
    "retransmitted_bytes": pa.int64(),
    "out_of_order": pa.int64(),
    "gaps": pa.int64(),
    "lost_bytes": pa.int64(),
    "cut_bytes": pa.int64(),
}
FACT_SCHEMA = pa.schema(list(FACT_COLUMNS.items()))
PROTOCOLS = {6: "tcp", 17: "udp", 1: "icmp", 58: "icmp"}


@dataclass
class _Flow:
    source: int
    target: int
    protocol: str
    sums: np.ndarray = field(default_factory=lambda: np.zeros(6, np.int64))
    first_ns: int = 0
    last_ns: int = 0


def witness(capture: Capture) -> pa.RecordBatch:
    """All facts of one file. Never raises for what is in the file."""
    rows: list[dict[str, Any]] = []
    connections = Connections(capture)
    flows: dict[tuple[int, int, int], _Flow] = {}
    for chunk in _chunks(capture.path, rows):
        columns = decode(chunk.buffer, chunk.records, chunk.base, NEEDED)
        keep = counted(columns, capture)
        _count_flows(columns, keep, connections, flows)
        connections.feed(chunk.buffer, chunk.records.at, columns, keep)
    rows.extend(_flow_fact(connections, flow) for flow in flows.values())
    for half in connections.finish():
        rows.extend(_half_facts(half))
    own = {"run": capture.run, "file": capture.path, "node": capture.node, "interface": capture.interface}
    return pa.RecordBatch.from_pylist([{**row, **own} for row in rows], schema=FACT_SCHEMA)


def messages(capture: Capture) -> Iterator[Message]:
    """Every gRPC message of one file, by direction in order of time."""
    found: list[Message] = []
    connections = Connections(capture, found.append)
    for chunk in _chunks(capture.path, []):
        columns = decode(chunk.buffer, chunk.records, chunk.base, NEEDED)
        connections.feed(chunk.buffer, chunk.records.at, columns, counted(columns, capture))
        yield from found
        found.clear()


def counted(columns: dict[str, Column], capture: Capture) -> np.ndarray:
    """Packets that the capturing host sent, and those from hosts without a capture. The others are in their
    sender's file; counting them here too would count them twice."""
    source, valid = columns["src"]
    if not capture.addresses:
        return np.ones(len(source), bool)
    elsewhere = np.isin(source, np.array(sorted(capture.captured - capture.addresses), np.int64))
    return ~elsewhere if valid is None else ~elsewhere & valid


def _chunks(path: str, rows: list[dict[str, Any]]) -> Iterator[Chunk]:
    try:
        for chunk in chunks(Part(path)):
            rows.extend(
                {"fact": "damage", "state": what, "bytes": size} for _, size, what in chunk.records.damage
            )
            for link_type in unknown_link_types(chunk.records):
                known = {"state": f"unknown link type {link_type}", "packets": len(chunk.records.at)}
                rows.append({"fact": "damage", **known})
            yield chunk
    except NotACapture as error:
        rows.append({"fact": "damage", "state": str(error), "bytes": os.path.getsize(path)})


def _count_flows(
    columns: dict[str, Column],
    keep: np.ndarray,
    connections: Connections,
    flows: dict[tuple[int, int, int], _Flow],
) -> None:
    index = np.flatnonzero(keep)
    if not len(index):
        return
    value = {
        name: _zeroed(columns[name])[index]
        for name in ("protocol", "sport", "dport", "flags", "payload", "original")
    }
    source = connections.addresses(columns, "src")[index] << 16 | value["sport"]
    target = connections.addresses(columns, "dst")[index] << 16 | value["dport"]
    order = np.lexsort((value["protocol"], target, source))
    source, target, protocol = source[order], target[order], value["protocol"][order]
    changed = (source[1:] != source[:-1]) | (target[1:] != target[:-1]) | (protocol[1:] != protocol[:-1])
    starts = np.concatenate(([0], np.flatnonzero(changed) + 1))
    sums = np.add.reduceat(_measures(value)[:, order], starts, axis=1)
    ts_ns = columns["ts_ns"][0][index][order]
    ends = np.concatenate((starts[1:], [len(order)])) - 1
    for i, start in enumerate(starts.tolist()):
        key = (int(source[start]), int(target[start]), int(protocol[start]))
        flow = flows.setdefault(key, _Flow(key[0], key[1], PROTOCOLS.get(key[2], "other")))
        flow.sums = flow.sums + sums[:, i]
        flow.first_ns, flow.last_ns = flow.first_ns or int(ts_ns[start]), int(ts_ns[ends[i]])


def _measures(value: dict[str, np.ndarray]) -> np.ndarray:
    """Per packet: 1, bytes, header bytes, payload bytes, is a bare acknowledgement, its bytes."""
    size, payload = value["original"], value["payload"]
    bare = (value["protocol"] == 6) & (payload == 0) & (value["flags"] & 0x17 == 0x10)
    return np.stack(
        [np.ones_like(size), size, (size - payload) * ~bare, payload, bare.astype(np.int64), size * bare]
    )


def _zeroed(column: Column) -> np.ndarray:
    values, valid = column
    return np.where(True if valid is None else valid, values, 0).astype(np.int64)


def _flow_fact(connections: Connections, flow: _Flow) -> dict[str, Any]:
    names = ("packets", "bytes", "header_bytes", "payload_bytes", "ack_packets", "ack_bytes")
    return {
        "fact": "traffic",
        "source": connections.text(flow.source),
        "target": connections.text(flow.target),
        "protocol": flow.protocol,
        "first_ns": flow.first_ns,
        "last_ns": flow.last_ns,
        **dict(zip(names, flow.sums.tolist(), strict=True)),
    }


def _half_facts(half: HalfConnection) -> Iterator[dict[str, Any]]:
    own = {"source": half.source, "target": half.target, "connection": half.number}
    if not half.tcp.payload_bytes:
        return
    yield {
        "fact": "connection",
        **own,
        "state": _state(half),
        "first_ns": half.first_ns,
        "last_ns": half.last_ns,
        "payload_bytes": half.tcp.payload_bytes,
        "bytes": half.http2.data_bytes,
        "framing_bytes": half.http2.framing_bytes,
        "retransmitted_bytes": half.tcp.retransmitted_bytes,
        "out_of_order": half.tcp.out_of_order,
        "gaps": half.tcp.gaps,
        "lost_bytes": half.tcp.lost_bytes,
        "cut_bytes": half.tcp.cut_bytes,
    }
    for stream, call in half.http2.calls.items():
        who, kind = half.hello.get(stream, (None, None))
        known = {"stream": stream, "path": call.path or None, "hello": who, "hello_kind": kind}
        yield {"fact": "stream", **own, **known, "state": "client" if half.http2.client else "server"}
    for (stream, kind_of, leg, late), (number, size) in half.counts.items():
        known = {"stream": stream, "type": kind_of, "leg": leg, "state": "late" if late else None}
        yield {"fact": "count", **own, **known, "messages": number, "bytes": size}


def _state(half: HalfConnection) -> str:
    """How far the direction can be believed: whole, or the reason why its messages are not all counted."""
    if half.tcp.cut_bytes:
        return "snap_length"
    if half.tcp.gaps:
        return "gap"
    if half.http2.state in ("tls", "not_h2"):
        return half.http2.state
    if any(call.broken for call in half.http2.calls.values()):
        return "broken"
    return "whole" if half.http2.state == "open" else "unknown"
