"""Streams a capture, or a part of one, in buffers of fixed size: memory does not grow with the file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import FileIO

import numpy as np
import pyarrow as pa

from testbed.analysis.wire.columns import decode, packet_schema, to_batch
from testbed.analysis.wire.container import Header, NotACapture, read_header
from testbed.analysis.wire.layers import LINK_TYPES
from testbed.analysis.wire.pcapng import Section, walk_pcapng
from testbed.analysis.wire.walk import Bytes, Records, walk_pcap

BUFFER = 8 * 1024 * 1024  # reused: touching fresh pages for every buffer would halve the speed
PAD = 64  # zeros behind the data, so that a gather at the last record stays inside
BATCH_ROWS = 65_536


class SplitUnproven(ValueError):
    """A part of a file did not end where the next part was thought to begin."""


@dataclass(frozen=True)
class Part:
    """A byte range of a file; `end` = -1 is the end of the file."""

    path: str
    start: int = 0
    end: int = -1
    header: Header | None = None  # None = read it from the file
    first: bool = True

    @property
    def split(self) -> bool:
        return not (self.first and self.end < 0)


@dataclass
class Chunk:
    buffer: Bytes
    base: int  # file offset of the buffer's first byte
    records: Records


def chunks(part: Part, size: int = BUFFER) -> Iterator[Chunk]:
    """The part's records, buffer by buffer; the next step overwrites the buffer. Raises NotACapture."""
    header = part.header or read_header(part.path)
    start = part.start or header.first
    section = Section(header.byte_order, list(header.interfaces))
    with open(part.path, "rb", buffering=0) as file:
        total = os.fstat(file.fileno()).st_size
        end = total if part.end < 0 else part.end
        file.seek(start)
        yield from _stream(file, part, header, section, start, end, total, size)


def _stream(
    file: FileIO, part: Part, header: Header, section: Section, start: int, end: int, total: int, size: int
) -> Iterator[Chunk]:
    buffer = np.zeros(size + PAD, np.uint8)
    base, filled = start, 0
    while base + filled < end or filled:
        got = file.readinto(buffer[filled : min(size, filled + end - base - filled)].data) or 0
        filled += got
        at_eof = base + filled >= end or not got
        buffer[filled : filled + PAD] = 0
        if header.format == "pcap":
            records = walk_pcap(buffer, filled, header, at_eof)
        else:
            records = walk_pcapng(buffer, filled, section, at_eof)
        _prove(part, section, records, base, end, total)
        yield Chunk(buffer, base, records)
        left = filled - records.consumed
        buffer[:left] = buffer[records.consumed : filled].copy()
        base, filled = base + records.consumed, left
        if at_eof:
            return


def _prove(part: Part, section: Section, records: Records, base: int, end: int, total: int) -> None:
    """A part that ends inside the file must end exactly on a record, else the next part's start was wrong.
    The first part's start is exact; so if all parts prove their ends, all starts were right."""
    if not part.split:
        return
    if section.described and not part.first:
        raise SplitUnproven(f"{part.path}: sections or interfaces begin in mid-file; read it unsplit")
    if end < total and records.damage:
        at = base + records.damage[0][0]
        raise SplitUnproven(
            f"{part.path}: no record at byte {at}, or wrongly split; read it with split=exact"
        )


def packets(part: Part, names: Iterable[str], damage: bool = False) -> Iterator[pa.RecordBatch]:
    """Arrow batches of the wanted columns of PACKET_COLUMNS. With `damage`, also a row per damaged place,
    which the column of that name tells."""
    listed = list(names)
    schema = packet_schema([*listed, "damage"] if damage and "damage" not in listed else listed)
    pending: list[pa.RecordBatch] = []
    rows = 0
    try:
        for chunk in chunks(part):
            pending.append(
                to_batch(decode(chunk.buffer, chunk.records, chunk.base, schema.names), part.path, schema)
            )
            rows += pending[-1].num_rows
            if damage:
                pending.extend(_damage_rows(chunk, part.path, schema))
            if rows >= BATCH_ROWS:
                yield from _combined(pending)
                pending, rows = [], 0
    except NotACapture as error:
        if damage:
            pending.append(_damage_row(schema, part.path, 0, os.path.getsize(part.path), str(error)))
    yield from _combined(pending)


def _combined(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    if batches:
        yield from pa.Table.from_batches(batches).combine_chunks().to_batches()


def _damage_rows(chunk: Chunk, path: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for offset, size, what in chunk.records.damage:
        yield _damage_row(schema, path, chunk.base + offset, size, what)
    for link_type in unknown_link_types(chunk.records):
        yield _damage_row(schema, path, chunk.base, 0, f"unknown link type {link_type}")


def unknown_link_types(records: Records) -> list[int]:
    return sorted(set(np.unique(records.link_type).tolist()) - LINK_TYPES)


def _damage_row(schema: pa.Schema, path: str, offset: int, size: int, what: str) -> pa.RecordBatch:
    row = {"file": path, "offset": offset, "captured": min(size, 2**31 - 1), "damage": what}
    return pa.RecordBatch.from_pylist([{name: row.get(name) for name in schema.names}], schema=schema)
