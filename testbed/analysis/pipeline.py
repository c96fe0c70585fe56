"""`analyze`: from run folders to tables and verdicts, with one Spark session for all of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from testbed.analysis.evidence.runs import Run, load_runs
from testbed.run.folder import RunFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from testbed.analysis.result import Analysis

Progress = Callable[[str], None]
COLLECT_ROWS = 2_000_000  # the driver holds at most so many deliveries at a time


def analyze(
    runs: Iterable[str | Path | RunFolder],
    master: str = "local[*]",
    spark: SparkSession | None = None,
    *,
    progress: Progress | None = None,
    write: bool = True,
    collect_rows: int = COLLECT_ROWS,
) -> Analysis:
    """Make the tables and verdicts of the run folders and (unless told not to) write them into each folder.

    Raises InputError for what is no run folder, NoJava and TestbedError when Spark cannot start.
    """
    say = progress or (lambda text: None)
    loaded = load_runs(runs)
    begun = time.monotonic()
    session = spark or _start(master, loaded, say)
    from testbed.analysis.queries import Queries

    started = time.monotonic()
    analysis = Queries(session, loaded, say, collect_rows).run(write)
    analysis.seconds = {"spark_start": started - begun, "tables": time.monotonic() - started}
    return analysis


def _start(master: str, runs: list[Run], say: Progress) -> SparkSession:
    """Start Spark, and import what the tables need while the JVM comes up."""
    from testbed.analysis.spark.session import find_java, start

    find_java()
    say("starting Spark")
    with ThreadPoolExecutor(1) as pool:
        starting = pool.submit(start, master, input_bytes(runs))
        import testbed.analysis.queries  # noqa: F401 - takes about as long as the JVM

        return starting.result()


def input_bytes(runs: list[Run]) -> int:
    folders = [folder for run in runs for folder in (run.folder.events, run.folder.pcap) if folder.is_dir()]
    return sum(entry.stat().st_size for folder in folders for entry in os.scandir(folder) if entry.is_file())
