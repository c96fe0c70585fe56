"""A real Spark cluster on loopback: a standalone master and one worker, each a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from testbed.analysis.spark.session import spark_home

PACKAGE = "org.apache.spark.deploy"


@contextmanager
def standalone_cluster(folder: Path) -> Iterator[str]:
    """Its address, spark://...; logs and the worker's files are in the folder."""
    master, worker = folder / "master.log", folder / "worker.log"
    with _part(master, f"{PACKAGE}.master.Master", "--port", "0"):
        address = _said(master, r"Starting Spark master at (spark://\S+)")
        size = ["--cores", "2", "--memory", "1g", "--work-dir", str(folder / "work")]
        with _part(worker, f"{PACKAGE}.worker.Worker", *size, address):
            _said(worker, r"(Successfully registered) with master")
            yield address


@contextmanager
def _part(log: Path, *arguments: str) -> Iterator[None]:
    command = [
        str(spark_home() / "bin" / "spark-class"),
        *arguments,
        "--webui-port",
        "0",
        "--host",
        "127.0.0.1",
    ]
    known = {**os.environ, "SPARK_HOME": str(spark_home()), "PYSPARK_PYTHON": sys.executable}
    with log.open("wb") as file, subprocess.Popen(command, stdout=file, stderr=file, env=known) as process:
        try:
            yield
        finally:
            process.terminate()


def _said(log: Path, pattern: str) -> str:
    for _ in range(600):
        if found := re.search(pattern, log.read_text(errors="replace")):
            return found.group(1)
        time.sleep(0.2)
    raise AssertionError(log.read_text(errors="replace")[-2000:])
