"""Tables into a run folder: Parquet for programs, CSV for people and spreadsheets."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from testbed.analysis.runs import Run


def write_table(run: Run, name: str, table: pa.Table) -> None:
    """Write the run's rows of `table`, replacing what an earlier analysis left."""
    own = table.filter(pc.equal(table["run"], run.key))
    run.folder.tables.mkdir(parents=True, exist_ok=True)
    parquet = run.folder.tables / f"{name}.parquet"
    _replace(parquet, lambda path: pq.write_table(own, path))
    _replace(run.folder.tables / f"{name}.csv", lambda path: pa_csv.write_csv(own, path))


def _replace(path: Path, write: object) -> None:
    """A reader sees the old table or the new one. An earlier table may be a folder, when Spark wrote it."""
    scratch = path.with_name(path.name + ".tmp")
    assert callable(write)
    write(scratch)
    if path.is_dir():
        shutil.rmtree(path)
    scratch.replace(path)
