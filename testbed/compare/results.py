"""Two result folders (runs, or reproductions of papers) and their difference."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas

from testbed.compare.table_difference import TableDiff, compare_tables
from testbed.errors import InputError
from testbed.reproduction.rows import read_table

Kind = Literal["run", "paper"]
RUN_FACTS = ("name", "engine", "clock", "seed", "status", "commit", "version", "kernel", "hashes", "versions")
PAPER_FACTS = ("paper", "scale", "engine", "seeds", "figures", "commit", "versions")


@dataclass(frozen=True)
class Result:
    path: Path
    kind: Kind
    facts: dict[str, str]
    verdicts: dict[str, str]  # check or claim -> pass, fail, unknown
    tables: dict[str, Path]

    def table(self, name: str) -> pandas.DataFrame:
        path = self.tables[name]
        return pandas.read_parquet(path) if path.suffix == ".parquet" else read_table(path)


@dataclass(frozen=True)
class Changed:
    what: str
    a: str
    b: str


@dataclass(frozen=True)
class ResultDiff:
    a: Path
    b: Path
    kind: Kind
    facts: list[Changed]  # how the two were made: said, but no difference of results
    verdicts: list[Changed]
    tables: list[TableDiff]
    only_a: list[str]
    only_b: list[str]

    @property
    def same(self) -> bool:
        different = self.verdicts or self.only_a or self.only_b
        return not different and all(table.same for table in self.tables)


def read_result(path: Path) -> Result:
    """InputError says what is missing and how to get it."""
    if not path.is_dir():
        raise InputError(
            "there is no such folder", file=path, hint="name a run folder or results/<paper>/<scale>"
        )
    kind: Kind = "run" if (path / "plan.json").exists() else "paper"
    files = list((path / "tables").glob("*.parquet")) or (path / "tables").glob("*.csv")  # a paper's are CSV
    tables = {p.stem: p for p in sorted(files)}
    if not tables:
        fix = f"testbed analyze {path}" if kind == "run" else "testbed reproduce PAPER makes them"
        raise InputError("there are no tables to compare", file=path, hint=fix)
    return Result(path, kind, _facts(path, kind), _verdicts(path, kind), tables)


def _facts(path: Path, kind: Kind) -> dict[str, str]:
    manifest = _json(path / "manifest.json", {})
    found: dict[str, str] = {}
    for name in RUN_FACTS if kind == "run" else PAPER_FACTS:
        value = manifest.get(name, "")
        parts = {f"{name} {k}": v for k, v in value.items()} if isinstance(value, dict) else {name: value}
        found |= {k: str(v) for k, v in parts.items()}
    return found


def _verdicts(path: Path, kind: Kind) -> dict[str, str]:
    rows = _json(path / "verdicts.json", [])
    name, outcome = ("name", "verdict") if kind == "run" else ("claim", "outcome")
    return {row[name]: row[outcome] for row in rows}


def _json(path: Path, otherwise: Any) -> Any:
    return json.loads(path.read_bytes()) if path.exists() else otherwise


def compare(
    a: Path, b: Path, tolerance: float = 0.0, ignore: Collection[str] = (), within_us: float = 0.0
) -> ResultDiff:
    left, right = read_result(a), read_result(b)
    if left.kind != right.kind:
        raise InputError(
            f"one is a {left.kind}, the other a {right.kind}", file=b, hint="compare two runs or two papers"
        )
    both = [name for name in left.tables if name in right.tables]
    return ResultDiff(
        a,
        b,
        left.kind,
        changes(left.facts, right.facts),
        changes(left.verdicts, right.verdicts),
        [compare_tables(n, left.table(n), right.table(n), tolerance, ignore, within_us) for n in both],
        [name for name in left.tables if name not in right.tables],
        [name for name in right.tables if name not in left.tables],
    )


def changes(a: dict[str, str], b: dict[str, str]) -> list[Changed]:
    names = [*a, *(name for name in b if name not in a)]
    return [Changed(n, a.get(n, "-"), b.get(n, "-")) for n in names if a.get(n, "-") != b.get(n, "-")]
