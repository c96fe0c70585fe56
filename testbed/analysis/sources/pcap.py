"""Captures as DataFrames: `read_pcap` (packets), `read_grpc` (messages), `read_facts` (counts), and the Data
Source `pcap` with the same reader behind `spark.read.format("pcap")`."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, Filter, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from testbed.analysis.sources.bins import from_bins, pack
from testbed.analysis.wire.capture_file import Capture
from testbed.analysis.wire.columns import PACKET_COLUMNS, packet_schema
from testbed.analysis.wire.envelope import BUILTIN, KnownMessages
from testbed.analysis.wire.reader import Part, packets
from testbed.analysis.wire.split import PART_BYTES, plan_parts
from testbed.analysis.wire.witness import FACT_SCHEMA, messages, witness
from testbed.errors import InputError, did_you_mean
from testbed.run.folder import RunFolder

MESSAGE_COLUMNS: dict[str, tuple[pa.DataType, str]] = {
    "file": (pa.string(), "capture file"),
    "ts_ns": (pa.int64(), "when its last byte was seen, nanoseconds since the epoch"),
    "source": (pa.string(), "sender, address:port"),
    "target": (pa.string(), "receiver, address:port"),
    "connection": (pa.int32(), "counts connections that used the same ports one after the other"),
    "stream": (pa.int64(), "HTTP/2 stream"),
    "type": (
        pa.string(),
        "name of the Envelope's body; body_N (its number), compressed or malformed when it has none",
    ),
    "hops": (pa.int32(), "overlay links crossed so far, by the Envelope"),
    "id": (pa.string(), "publication, subscription or advertisement id"),
    "bytes": (pa.int64(), "size of the encoded Envelope"),
}
MESSAGE_SCHEMA = pa.schema([(name, kind) for name, (kind, _) in MESSAGE_COLUMNS.items()])
ROWS = 16_384
PUSHDOWN = "spark.sql.python.filterPushdown.enabled"  # off by default


def expand(paths: str | Path | Iterable[str | Path]) -> list[str]:
    """Files, folders (their captures) and glob patterns, sorted; raises InputError when nothing is there."""
    listed = [paths] if isinstance(paths, str | Path) else list(paths)
    found: set[str] = set()
    for path in map(str, listed):
        if os.path.isdir(path):
            here = [
                name for kind in ("pcap", "pcapng") for name in glob.glob(f"{glob.escape(path)}/*.{kind}")
            ]
        else:
            here = [path] if os.path.isfile(path) else glob.glob(path)
        if not here:
            raise InputError(
                f"no capture at {path}", hint="give a .pcap or .pcapng file, a folder, or a glob pattern"
            )
        found.update(here)
    return sorted(found)


def read_pcap(
    spark: SparkSession,
    paths: str | Path | Iterable[str | Path],
    columns: Sequence[str] | None = None,
    *,
    damage: bool = False,
    part_bytes: int = PART_BYTES,
    exact: bool = False,
) -> DataFrame:
    """Packets with the wanted columns of PACKET_COLUMNS (default: all but `damage`)."""
    names = _names(columns, damage)
    parts = [part for path in expand(paths) for part in plan_parts(path, part_bytes, exact)]
    packed = pack([(_size(part), part) for part in parts], _tasks(spark))
    schema = from_arrow_schema(packet_schema(names)).simpleString()
    return from_bins(spark, packed, lambda part: packets(part, names, damage), _ddl(schema))


def read_grpc(
    spark: SparkSession, paths: str | Path | Iterable[str | Path], ports: Iterable[int] = ()
) -> DataFrame:
    """Every gRPC message of the captures; columns as in MESSAGE_COLUMNS. One task reads a file to its end."""
    wanted = frozenset(ports)
    captures = [Capture(path, ports=wanted, known=_known(path)) for path in expand(paths)]
    packed = pack([(os.path.getsize(capture.path), capture) for capture in captures], _tasks(spark))
    return from_bins(spark, packed, _message_batches, _ddl(from_arrow_schema(MESSAGE_SCHEMA).simpleString()))


def _known(path: str) -> KnownMessages:
    """The messages of the run folder that the capture is in; the project's own if it is in none."""
    folder = RunFolder(Path(path).resolve().parent.parent)
    if not folder.manifest.exists():
        return BUILTIN
    try:
        return KnownMessages.of(folder.read_catalogue())
    except msgspec.MsgspecError as error:
        raise InputError(f"it cannot be read: {error}", file=folder.catalogue) from None


def read_facts(spark: SparkSession, captures: Sequence[Capture]) -> DataFrame:
    """What the captures say about messages and bytes, already counted (see wire.witness)."""
    packed = pack([(os.path.getsize(capture.path), capture) for capture in captures], _tasks(spark))
    schema = _ddl(from_arrow_schema(FACT_SCHEMA).simpleString())
    return from_bins(spark, packed, lambda capture: iter([witness(capture)]), schema)


def _message_batches(capture: Capture) -> Iterator[pa.RecordBatch]:
    rows: list[dict[str, Any]] = []
    for message in messages(capture):
        half, seen = message.connection, message.seen
        rows.append(
            {
                "file": capture.path,
                "ts_ns": message.ts_ns,
                "source": half.source,
                "target": half.target,
                "connection": half.number,
                "stream": message.stream,
                "type": seen.type,
                "hops": seen.hops,
                "id": seen.id,
                "bytes": message.bytes,
            }
        )
        if len(rows) >= ROWS:
            yield pa.RecordBatch.from_pylist(rows, schema=MESSAGE_SCHEMA)
            rows = []
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=MESSAGE_SCHEMA)


def _names(columns: Sequence[str] | None, damage: bool) -> list[str]:
    names = list(columns) if columns else [name for name in PACKET_COLUMNS if name != "damage"]
    for name in names:
        if name not in PACKET_COLUMNS:
            raise InputError(f"a capture has no column {name!r}", hint=did_you_mean(name, PACKET_COLUMNS))
    return [*names, "damage"] if damage and "damage" not in names else names


def _ddl(simple: str) -> str:
    """`struct<a:int,b:string>` as `a int, b string`."""
    return simple.removeprefix("struct<").removesuffix(">").replace(":", " ")


def _size(part: Part) -> int:
    return (os.path.getsize(part.path) if part.end < 0 else part.end) - part.start


def _tasks(spark: SparkSession) -> int:
    return 2 * spark.sparkContext.defaultParallelism


class PartPartition(InputPartition):
    def __init__(self, parts: list[Part]) -> None:
        self.parts = parts


class PcapReader(DataSourceReader):
    """Emits exactly the columns of the schema it is given: `.schema("ts_ns long, dport int")` prunes, since
    Spark does not tell a Python source which columns a query needs."""

    def __init__(self, schema: StructType, options: dict[str, str]) -> None:
        self.names = [field.name for field in schema.fields]
        _names(self.names, False)
        if to_arrow_schema(schema) != packet_schema(self.names):
            wanted = _ddl(from_arrow_schema(packet_schema(self.names)).simpleString())
            raise InputError(
                "these are not the types of the columns of a capture", hint=f'.schema("{wanted}")'
            )
        self.path = options.get("path", "")
        self.part_bytes = int(options.get("partBytes", PART_BYTES))
        self.exact = options.get("split", "proved") == "exact"
        self.damage = "damage" in self.names
        self.tests: list[tuple[str, str, Any]] = []

    def partitions(self) -> Sequence[InputPartition]:
        parts = [part for path in expand(self.path) for part in plan_parts(path, self.part_bytes, self.exact)]
        packed = pack(
            [(_size(part), part) for part in parts], max(2 * (os.cpu_count() or 1), len(parts) // 64)
        )
        return [PartPartition(bin_) for bin_ in packed]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, PartPartition)
        for part in partition.parts:
            for batch in packets(part, self.names, self.damage):
                yield self._filtered(batch)

    def _filtered(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        import pyarrow.compute as pc

        for name, comparison, value in self.tests:
            mask = pc.call_function(
                comparison, [batch.column(name), pa.scalar(value, batch.schema.field(name).type)]
            )
            batch = batch.filter(mask)
        return batch


class FilteringReader(PcapReader):
    """For sessions that let a source filter: Spark refuses a reader with `pushFilters` in all others."""

    def pushFilters(self, filters: list[Filter]) -> Iterator[Filter]:
        """Comparisons of a numeric column with a value run on the columns, before rows are made."""
        for pushed in filters:
            kind = type(pushed).__name__
            name = ".".join(getattr(pushed, "attribute", ()))
            if kind in COMPARISONS and name in self.names and isinstance(getattr(pushed, "value", None), int):
                self.tests.append((name, COMPARISONS[kind], pushed.value))  # type: ignore[attr-defined]
            else:
                yield pushed


COMPARISONS = {
    "EqualTo": "equal",
    "GreaterThan": "greater",
    "GreaterThanOrEqual": "greater_equal",
    "LessThan": "less",
    "LessThanOrEqual": "less_equal",
}


class PcapSource(DataSource):
    """`spark.read.format("pcap").load(path)`. Options: partBytes (bytes per partition),
    split (proved or exact), damage (true: a row per place that cannot be read)."""

    @classmethod
    def name(cls) -> str:
        return "pcap"

    def schema(self) -> StructType:
        damage = self.options.get("damage", "false") == "true"
        return from_arrow_schema(packet_schema(_names(None, damage)))

    def reader(self, schema: StructType) -> DataSourceReader:
        return PcapReader(schema, dict(self.options))


class FilteringSource(PcapSource):
    def reader(self, schema: StructType) -> DataSourceReader:
        return FilteringReader(schema, dict(self.options))


def register(spark: SparkSession) -> None:
    """Make `spark.read.format("pcap")` known to this session, as its settings are now."""
    filters = spark.conf.get(PUSHDOWN, "false") == "true"
    spark.dataSource.register(FilteringSource if filters else PcapSource)
