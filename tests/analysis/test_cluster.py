"""The same command on a cluster: a standalone master and worker on loopback, and two local executors."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from testbed.analysis.sample import make_run
from testbed.analysis.session import spark_home

pytestmark = [pytest.mark.spark, pytest.mark.nightly]


def analyze(run: Path, master: str) -> dict[str, str]:
    """Table -> its CSV."""
    call = [sys.executable, "-c", "from testbed.cli import main; main()", "analyze", "--quiet", str(run)]
    known = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    said = subprocess.run([*call, "--master", master], capture_output=True, text=True, env=known, check=False)
    assert said.returncode == 0, said.stderr
    return {file.name: file.read_text() for file in (run / "tables").glob("*.csv")}


@contextmanager
def part(log: Path, *arguments: str) -> Iterator[None]:
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


def said(log: Path, pattern: str) -> str:
    for _ in range(600):
        if found := re.search(pattern, log.read_text(errors="replace")):
            return found.group(1)
        time.sleep(0.2)
    raise AssertionError(log.read_text(errors="replace")[-2000:])


def test_a_cluster_makes_the_same_tables(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", 7, 30, fanout=2).folder.path
    here = analyze(run, "local[2]")
    assert len(here) >= 11
    assert analyze(run, "local-cluster[2,1,1024]") == here
    master, worker = tmp_path / "master.log", tmp_path / "worker.log"
    package = "org.apache.spark.deploy"
    with part(master, f"{package}.master.Master", "--port", "0"):
        address = said(master, r"Starting Spark master at (spark://\S+)")
        size = ["--cores", "2", "--memory", "1g", "--work-dir", str(tmp_path / "work")]
        with part(worker, f"{package}.worker.Worker", *size, address):
            said(worker, r"(Successfully registered) with master")
            assert analyze(run, address) == here
