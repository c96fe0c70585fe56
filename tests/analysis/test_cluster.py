"""The same command on a cluster: a standalone master and worker on loopback, and two local executors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.analysis.sample.run_folder import make_run
from tests.standalone import standalone_cluster

pytestmark = [pytest.mark.spark, pytest.mark.nightly]


def analyze(run: Path, master: str) -> dict[str, str]:
    """Table -> its CSV."""
    call = [sys.executable, "-c", "from testbed.cli import main; main()", "analyze", "--quiet", str(run)]
    known = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    said = subprocess.run([*call, "--master", master], capture_output=True, text=True, env=known, check=False)
    assert said.returncode == 0, said.stderr
    return {file.name: file.read_text() for file in (run / "tables").glob("*.csv")}


def test_a_cluster_makes_the_same_tables(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", 7, 30, fanout=2).folder.path
    here = analyze(run, "local[2]")
    assert len(here) >= 11
    assert analyze(run, "local-cluster[2,1,1024]") == here
    with standalone_cluster(tmp_path) as address:
        assert analyze(run, address) == here
