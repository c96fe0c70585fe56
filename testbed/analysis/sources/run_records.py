"""The JSON Lines of run folders as DataFrames, for questions of one's own: events, probes, counters.

The tables are made from the same files; this is for what they do not answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from protos import eventlog_pb2, run_pb2
from testbed.analysis.evidence.runs import load_runs
from testbed.analysis.sources.jsonl import read_jsonl
from testbed.errors import InputError, did_you_mean

# name -> (message that a line is, folder, files)
RECORDS = {
    "events": (eventlog_pb2.LogEvent.DESCRIPTOR, "events", "*.jsonl"),
    "probes": (run_pb2.ProbeResult.DESCRIPTOR, "probes", "*.jsonl"),
    "ports": (run_pb2.PortCounter.DESCRIPTOR, "controller", "ports.jsonl"),
    "flows": (run_pb2.FlowCounter.DESCRIPTOR, "controller", "flows.jsonl"),
}


def read_records(spark: SparkSession, name: str, runs: str | Path | Iterable[str | Path]) -> DataFrame:
    """The records of one kind of RECORDS: columns run, file, the fields of the message, bad_line (the text
    of a line that is no such message). Raises InputError."""
    if name not in RECORDS:
        raise InputError(f"run folders have no records {name!r}", hint=did_you_mean(name, RECORDS))
    descriptor, folder, pattern = RECORDS[name]
    listed = load_runs([runs] if isinstance(runs, str | Path) else runs)
    files = {run.key: run.files(run.folder.path / folder, pattern) for run in listed}
    return read_jsonl(spark, descriptor, files)
