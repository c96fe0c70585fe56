"""JSON Lines of a known message, read natively by Spark. Bad lines stay visible in the column `bad_line`."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t

from protos import eventlog_pb2
from testbed.analysis.sources.schema import Descriptor, defaults_of, schema_of

LOG_EVENT = eventlog_pb2.LogEvent.DESCRIPTOR


def read_jsonl(spark: SparkSession, descriptor: Descriptor, files: dict[str, list[Path]]) -> DataFrame:
    """`files`: run -> its files. Columns: run, file (its name, as `file_name` reads it), the message's fields
    (never null: a field that is left out has its default), bad_line (the text of a line that is no such
    message)."""
    fields = schema_of(descriptor)
    paths = [str(path) for listed in files.values() for path in listed]
    if not paths:
        return _empty(spark, fields)
    given = t.StructType([*fields.fields, t.StructField("bad_line", t.StringType())])
    reader = spark.read.schema(given).option("columnNameOfCorruptRecord", "bad_line")
    located = reader.json([_escaped(path) for path in paths])
    runs = {str(path.parent): run for run, listed in files.items() for path in listed}
    known = [
        f.coalesce(f.col(name), f.lit(default)).alias(name) for name, default in defaults_of(fields).items()
    ]
    file = f.col("_metadata.file_name").alias("file")
    return located.select(_run(spark, runs).alias("run"), file, *known, "bad_line")


def _run(spark: SparkSession, runs: dict[str, str]) -> Column:
    """The run whose folder the line's file is in. Folders are compared as Spark writes them, URL-encoded: to
    decode every line's would cost as much as to parse it."""
    if len(runs) == 1:
        return f.lit(next(iter(runs.values())))
    jvm: Any = spark._jvm
    places: dict[str, str] = {}
    for folder, run in runs.items():
        encoded = jvm.org.apache.hadoop.fs.Path(folder).toUri().toString()
        places |= {f"file:{encoded}": run, f"file://{encoded}": run}
    uri, name = f.col("_metadata.file_path"), f.col("_metadata.file_name")
    known = f.create_map(*[f.lit(text) for pair in places.items() for text in pair])
    return known[f.substring(uri, f.lit(1), f.length(uri) - f.length(name) - 1)]


def file_name(encoded: str) -> str:
    """The name on disk of what the column `file` holds."""
    return unquote(encoded)


def _escaped(path: str) -> str:
    """Spark takes paths as glob patterns."""
    return "".join("\\" + c if c in "*?[]{}\\" else c for c in path)


def _empty(spark: SparkSession, fields: t.StructType) -> DataFrame:
    text = t.StringType()
    before = [t.StructField("run", text), t.StructField("file", text)]
    return spark.createDataFrame([], t.StructType([*before, *fields.fields, t.StructField("bad_line", text)]))
