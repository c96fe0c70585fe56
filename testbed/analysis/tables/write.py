"""Tables into a run folder: Parquet for programs, CSV for people and spreadsheets."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from testbed.analysis.evidence.runs import Run


def write_table(run: Run, name: str, table: pa.Table) -> None:
    """Write the run's rows of `table`, replacing what an earlier analysis left."""
    own = table.filter(pc.equal(table["run"], run.key)).replace_schema_metadata()
    run.folder.tables.mkdir(parents=True, exist_ok=True)
    parquet = run.folder.tables / f"{name}.parquet"
    _replace(parquet, lambda path: pq.write_table(own, path))
    _replace(run.folder.tables / f"{name}.csv", lambda path: pa_csv.write_csv(own, path))


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    """A reader sees the old table or the new one. An earlier table may be a folder, when Spark wrote it."""
    scratch = path.with_name(path.name + ".tmp")
    write(scratch)
    if path.is_dir():
        shutil.rmtree(path)
    scratch.replace(path)


def replace_by_folder(path: Path, write: Callable[[Path], object]) -> None:
    """The same for a table that Spark's tasks write as a folder of files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(path.name + ".tmp")
    shutil.rmtree(scratch, ignore_errors=True)
    write(scratch)
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    scratch.replace(path)
