"""The Python of docs/tables.md, as it stands there, in one session (other pages: tests/setup)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from testbed.analysis.sample.run_folder import make_run
from tests.setup.samples import samples

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_python_of_the_tables_runs(
    repository: Path,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = tmp_path / "results" / "quickstart" / "r1"
    make_run(made, 3, 20, run="r1")
    made.with_name("latest").symlink_to("r1")
    path = str(next(made.glob("pcap/*.pcap")))
    names: dict[str, Any] = {"spark": spark, "path": path}
    told = [s for s in samples(repository) if s.file == "docs/tables.md" and s.kind == "python"]
    assert len(told) == 3
    for sample in told:
        # Workers of the session stand where it was started.
        exec(sample.text.replace("RUN-ID", "r1").replace("results/", f"{tmp_path}/results/"), names)
    assert "dport" in capsys.readouterr().out
    assert names["analysis"].verdicts["r1"]
