"""What a run or a sweep left, as tables: read from the files, without Spark."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from protos.records import Fidelity, Manifest
from testbed.errors import InputError, did_you_mean
from testbed.run.folder import RunFolder
from testbed.topology.plan import Plan

if TYPE_CHECKING:
    import pandas
    import pyarrow


@dataclass(frozen=True)
class Tables:
    """A folder of tables, each as <name>.parquet (or, some of a sweep, as CSV alone)."""

    folder: Path
    hint: str  # what makes them

    @cached_property
    def names(self) -> tuple[str, ...]:
        files = (*self.folder.glob("*.parquet"), *self.folder.glob("*.csv"))
        return tuple(sorted({file.stem for file in files}))

    def arrow(self, name: str, columns: Sequence[str] | None = None) -> pyarrow.Table:
        import pyarrow.csv
        import pyarrow.parquet

        wanted = None if columns is None else list(columns)
        file = self._file(name)
        try:
            if file.suffix == ".parquet":
                return pyarrow.parquet.read_table(file, columns=wanted)
            table = pyarrow.csv.read_csv(file)
            return table if wanted is None else table.select(wanted)
        except (pyarrow.ArrowException, OSError, KeyError) as error:
            raise InputError(f"cannot be read: {error}", file=file, hint=self.hint) from None

    def pandas(self, name: str, columns: Sequence[str] | None = None) -> pandas.DataFrame:
        frame: pandas.DataFrame = self.arrow(name, columns).to_pandas()
        return frame

    def _file(self, name: str) -> Path:
        for ending in ("parquet", "csv"):
            file = self.folder / f"{name}.{ending}"
            if file.exists():
                return file
        if not self.names:
            raise InputError("there are no tables yet", file=self.folder, hint=self.hint)
        hint = did_you_mean(name, self.names)
        raise InputError(f"there is no table {name!r}", file=self.folder, hint=hint)


@dataclass(frozen=True)
class Run:
    """A run folder. What is read is kept; `load` again to see what another process has changed."""

    path: Path

    @cached_property
    def folder(self) -> RunFolder:
        return RunFolder(self.path)

    @cached_property
    def manifest(self) -> Manifest:
        return self.folder.read_manifest()

    @cached_property
    def plan(self) -> Plan:
        return self.folder.read_plan()

    @property
    def fidelity(self) -> Fidelity | None:
        """None when the run was simulated, or ended before it was judged."""
        return self.folder.read_fidelity()

    @property
    def checks(self) -> pandas.DataFrame:
        """A row per check: name, verdict, reason."""
        import pandas

        file = self.folder.verdicts
        if not file.exists():
            raise InputError("this run has no verdicts yet", file=self.path, hint=self._hint)
        return pandas.DataFrame(json.loads(file.read_bytes()))

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables that are there; docs/tables.md says what is in each."""
        return self._tables.names

    def table(self, name: str, columns: Sequence[str] | None = None) -> pandas.DataFrame:
        return self._tables.pandas(name, columns)

    def arrow(self, name: str, columns: Sequence[str] | None = None) -> pyarrow.Table:
        return self._tables.arrow(name, columns)

    def analyze(self, master: str = "local[*]") -> Run:
        """Makes the tables anew, with Spark; the run as it is then."""
        from testbed.analysis.pipeline import analyze

        analyze([self.path], master)
        return Run(self.path)

    @property
    def _hint(self) -> str:
        return f"run.analyze(), or: testbed analyze {self.path}"

    @cached_property
    def _tables(self) -> Tables:
        return Tables(self.folder.tables, self._hint)

    def __repr__(self) -> str:
        kept = self.manifest
        return f"<Run {kept.name} {kept.run}: {kept.status}, {kept.engine} engine, seed {kept.seed}>"


@dataclass(frozen=True)
class Sweep:
    """A sweep's folder: one table of each sort over all points, with settings as columns `set.<place>`."""

    path: Path

    @property
    def points(self) -> pandas.DataFrame:
        """A row per point: settings, seed, status, reason, folder."""
        return self._tables.pandas("points")

    def run(self, point: str) -> Run:
        """The run of one point, by its name in `points`."""
        found = self.points.set_index("point")["folder"]
        if point not in found.index:
            raise InputError(f"there is no point {point!r}", hint=did_you_mean(point, map(str, found.index)))
        return load_run(self.path / str(found[point]))

    @property
    def tables(self) -> tuple[str, ...]:
        return self._tables.names

    def table(self, name: str, columns: Sequence[str] | None = None) -> pandas.DataFrame:
        return self._tables.pandas(name, columns)

    def arrow(self, name: str, columns: Sequence[str] | None = None) -> pyarrow.Table:
        return self._tables.arrow(name, columns)

    @cached_property
    def _tables(self) -> Tables:
        return Tables(self.path / "tables", "api.sweep(...), or: testbed sweep FILE")

    def __repr__(self) -> str:
        return f"<Sweep {self.path.name}: {len(self.points)} points>"


def load(folder: str | Path) -> Run | Sweep:
    """A run folder (also `.../latest`) or a sweep's. Raises InputError for what is neither."""
    path = Path(folder).resolve()
    if (path / "manifest.json").exists():
        return load_run(path)
    if (path / "points").is_dir():
        return Sweep(path)
    message = "this is neither a run's folder nor a sweep's" if path.is_dir() else "there is no such folder"
    raise InputError(message, file=path, hint="name results/<name>/<run>, or results/<sweep>")


def load_run(path: Path) -> Run:
    run = Run(path)
    try:
        _ = run.manifest
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(f"cannot be read: {error}", file=run.folder.manifest) from None
    return run
