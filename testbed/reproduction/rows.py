"""The measured rows of points that are done: what a fresh clone goes on from, without the folders of runs.

<results>/points.csv has a row per finished point: what it is (settings, seed, engine, code) and the commit
that made it. Its rows in tables/*.csv are those with its labels. runs.json has the manifests of runs.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from testbed.reproduction.point import Point, RowKey

Rows = Mapping[str, Sequence[Mapping[str, Any]]]  # by table
FILE, RECORDS = "points.csv", "runs.json"
IDENTITY = ["set", "point", "engine", "settings"]
COLUMNS = [*IDENTITY, "seed", "code", "commit"]


@dataclass(frozen=True)
class Measured:
    """A point that is done, and its rows with their labels."""

    point: Point
    rows: Rows
    commit: str
    code: str  # of what made it, which with `--only-done` may be another than the point's
    record: dict[str, Any] = field(default_factory=dict)  # of a run: its manifest and fidelity


@dataclass
class KeptRows:
    """What an earlier reproduction left in a folder."""

    folder: Path
    label_sets: tuple[tuple[str, ...], ...]  # of this part's points: columns that tell them apart

    def find(self, point: Point, any_code: bool = False) -> Measured | None:
        """`any_code`: also rows that other code computed."""
        known = self._points.get(point.identity())
        if known is None or not (any_code or known["code"] == point.code):
            return None
        key = point.row_key
        rows = {name: table[key] for name, table in self._rows.items() if key in table}
        record = self._records.get(key, {})
        return Measured(point, rows, known["commit"], known["code"], record) if rows else None

    @cached_property
    def _points(self) -> dict[tuple[str, ...], dict[str, str]]:
        path = self.folder / FILE
        if not path.exists():
            return {}
        table = pandas.read_csv(path, dtype=str, keep_default_na=False)
        return {tuple(row[name] for name in IDENTITY): row for row in table.to_dict("records")}

    @cached_property
    def _rows(self) -> dict[str, dict[RowKey, list[dict[str, Any]]]]:
        found: dict[str, dict[RowKey, list[dict[str, Any]]]] = {}
        for path in sorted((self.folder / "tables").glob("*.csv")):
            frame = read_table(path)
            labels = self._labels_of(frame.columns)
            if labels:
                by_point = found.setdefault(path.stem, {})
                for row in frame.to_dict("records"):
                    by_point.setdefault(key_of(row, labels), []).append(row)
        return found

    @cached_property
    def _records(self) -> dict[RowKey, dict[str, Any]]:
        path = self.folder / RECORDS
        rows = json.loads(path.read_bytes()) if path.exists() else []
        return {key_of(row, labels): row for row in rows if (labels := self._labels_of(row))}

    def _labels_of(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Those of the points whose rows these columns are of, the most that fit: a point may have the labels
        of another and more. A table made from others has none."""
        there = set(columns)
        return max((labels for labels in self.label_sets if there.issuperset(labels)), key=len, default=())

    def names(self) -> list[str]:
        return list(self._rows)

    def others(self, asked: Collection[RowKey], name: str) -> list[dict[str, Any]]:
        """The rows of one table that belong to points nobody asked for this time: they stay."""
        table = self._rows.get(name, {})
        return [row for key, rows in table.items() if key not in asked for row in rows]

    def other_points(self, asked: Iterable[Point]) -> list[dict[str, str]]:
        gone = {point.key for point in asked}
        return [row for row in self._points.values() if (row["set"], row["point"], row["engine"]) not in gone]

    def other_records(self, asked: Collection[RowKey]) -> list[dict[str, Any]]:
        return [row for key, row in self._records.items() if key not in asked]


def key_of(row: Mapping[str, Any], labels: Iterable[str]) -> RowKey:
    return tuple((name, row[name]) for name in labels)


def points_table(measured: Sequence[Measured], others: Sequence[Mapping[str, str]]) -> pandas.DataFrame:
    """A row per point, though it may be measured under several labels."""
    rows = {
        one.point.identity(): dict(zip(IDENTITY, one.point.identity(), strict=True))
        | {"seed": one.point.seed, "code": one.code, "commit": one.commit}
        for one in measured
    }
    return pandas.DataFrame([*rows.values(), *others], columns=COLUMNS)


def table_of(rows: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """As a file would give it back: what is judged is what is written."""
    frame = pandas.DataFrame(rows)
    for name in frame.columns:
        column = frame[name]
        if column.isna().all():
            frame[name] = column.astype(float)  # all unknown: still numbers
        elif column.dtype.kind == "f":
            frame[name] = [float(f"{value:.9g}") for value in column]
    return frame


def write_table(path: Path, frame: pandas.DataFrame) -> None:
    frame.to_csv(path, index=False, float_format="%.9g")


def read_table(path: Path) -> pandas.DataFrame:
    """A text that is not there is empty; a number that is not there is not a number."""
    frame = pandas.read_csv(path, keep_default_na=False, na_values=[""], float_precision="round_trip")
    texts = [name for name in frame.columns if frame[name].dtype == np.dtype(object)]
    frame[texts] = frame[texts].fillna("")
    return frame
