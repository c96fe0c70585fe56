"""The newcomer's first experiment, whole: deploy in the guest, analyse with Spark, report."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest


@pytest.mark.guest
@pytest.mark.spark
def test_quickstart_shows_the_tables_and_writes_the_report(tmp_path: Path, repository: Path) -> None:
    """The real script and file, in a folder of its own so that nobody's results are touched."""
    shutil.copytree(repository / "scripts", tmp_path / "scripts")
    shutil.copytree(repository / "topologies", tmp_path / "topologies")
    (tmp_path / ".venv").symlink_to(repository / ".venv")
    done = subprocess.run(
        [tmp_path / "scripts" / "quickstart"],
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for title in ("Delay per delivery", "Hops", "Messages and bytes", "fidelity pass"):
        assert title in done.stdout
    run = tmp_path / "results" / "quickstart" / "latest"
    assert (run / "report.html").stat().st_size > 10_000
    assert str((run / "report.html").resolve()) in done.stdout
