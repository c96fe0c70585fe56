"""The table `deliveries` when the rows of all runs together are too many for the driver."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from testbed.analysis.evidence.runs import Run
from testbed.analysis.tables.catalogue import ORDER, PROVENANCE, TABLES
from testbed.analysis.tables.deliveries import deliveries
from testbed.analysis.tables.write import replace_by_folder, write_table


def of_run(pairs: DataFrame, run: Run) -> DataFrame:
    """The run's deliveries, columns as in the files."""
    frame = deliveries(pairs.where(f.col("run") == run.key))
    for column, value in run.provenance.items():
        literal = f.lit(value).cast("long") if isinstance(value, int) else f.lit(value)
        frame = frame.withColumn(column, literal)
    return frame.select(*PROVENANCE, *TABLES["deliveries"])


def write_deliveries(
    run: Run, own: DataFrame, rows: int, most: int, collect: Callable[[DataFrame], pd.DataFrame]
) -> None:
    """One run's deliveries; more than `most` are written by Spark's tasks, without CSV."""
    if rows <= most:
        frame = collect(own).sort_values(ORDER["deliveries"], ignore_index=True)
        write_table(run, "deliveries", pa.Table.from_pandas(frame, preserve_index=False))
        return
    ordered = own.orderBy(*ORDER["deliveries"])
    replace_by_folder(run.folder.tables / "deliveries.parquet", lambda path: ordered.write.parquet(str(path)))
    (run.folder.tables / "deliveries.csv").unlink(missing_ok=True)
