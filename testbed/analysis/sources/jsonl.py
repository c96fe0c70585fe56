"""JSON Lines of a known message, read natively by Spark. Bad lines stay visible in the column `bad_line`."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t

from protos import eventlog_pb2, run_pb2
from testbed.analysis.sources.schema import Descriptor, defaults_of, schema_of

LOG_EVENT = eventlog_pb2.LogEvent.DESCRIPTOR
PROBE_RESULT = run_pb2.ProbeResult.DESCRIPTOR
PORT_COUNTER = run_pb2.PortCounter.DESCRIPTOR
FLOW_COUNTER = run_pb2.FlowCounter.DESCRIPTOR
KINDS = frozenset(eventlog_pb2.Kind.keys())


def read_jsonl(spark: SparkSession, descriptor: Descriptor, files: dict[str, list[Path]]) -> DataFrame:
    """`files`: run -> its files. Columns: run, file (its name without folder), the message's fields (never
    null: a field that is left out has its default), bad_line (the text of a line that is no such message)."""
    fields = schema_of(descriptor)
    paths = [str(path) for listed in files.values() for path in listed]
    if not paths:
        return _empty(spark, fields)
    given = t.StructType([*fields.fields, t.StructField("bad_line", t.StringType())])
    reader = spark.read.schema(given).option("columnNameOfCorruptRecord", "bad_line")
    located = reader.json([_escaped(path) for path in paths]).withColumn("uri", f.col("_metadata.file_path"))
    runs = {str(path): run for run, listed in files.items() for path in listed}
    folders = {str(Path(path).parent): run for path, run in runs.items()}
    path = f.regexp_replace(f.expr("url_decode(replace(uri, '+', '%2B'))"), "^file:/+", "/")
    run = _looked_up(f.regexp_replace(path, "/[^/]*$", ""), folders)
    known = [
        f.coalesce(f.col(name), f.lit(default)).alias(name) for name, default in defaults_of(fields).items()
    ]
    return located.select(
        run.alias("run"), f.regexp_extract(path, "([^/]*)$", 1).alias("file"), *known, "bad_line"
    )


def _looked_up(folder: Column, folders: dict[str, str]) -> Column:
    if len(folders) == 1:
        return f.lit(next(iter(folders.values())))
    pairs = [f.lit(text) for pair in folders.items() for text in pair]
    return f.create_map(*pairs)[folder]


def _escaped(path: str) -> str:
    """Spark takes paths as glob patterns."""
    return "".join("\\" + c if c in "*?[]{}\\" else c for c in path)


def _empty(spark: SparkSession, fields: t.StructType) -> DataFrame:
    text = t.StringType()
    before = [t.StructField("run", text), t.StructField("file", text)]
    return spark.createDataFrame([], t.StructType([*before, *fields.fields, t.StructField("bad_line", text)]))
