"""What an analysis gives back."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from testbed.analysis.evidence.check_result import CheckResult
from testbed.analysis.evidence.runs import Run


@dataclass
class Analysis:
    """All tables of all runs, each row with its provenance, and the verdicts by run."""

    runs: list[Run]
    tables: dict[str, pa.Table]
    verdicts: dict[str, list[CheckResult]]
    seconds: dict[str, float] = field(default_factory=dict)

    def frame(self, name: str, run: str | None = None) -> pd.DataFrame:
        """A table as pandas, of one run or of all."""
        table = self.table(name)
        if run is not None:  # before the conversion: a column's type must not depend on other runs' nulls
            table = table.filter(pc.equal(table["run"], run))
        return table.to_pandas()

    def table(self, name: str) -> pa.Table:
        if name in self.tables:
            return self.tables[name]
        files = [run.folder.tables / f"{name}.parquet" for run in self.runs]
        return pa.concat_tables([pq.read_table(file) for file in files])

    @property
    def failed(self) -> list[tuple[str, CheckResult]]:
        return [(run, v) for run, verdicts in self.verdicts.items() for v in verdicts if v.failed]
