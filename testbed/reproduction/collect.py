"""From points to rows: what is left is done, what is done is measured, what an earlier clone did is taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas

from testbed.reproduction.measured import Measures, take
from testbed.reproduction.point import Point, RowKey
from testbed.reproduction.request import Request
from testbed.reproduction.rows import KeptRows, Measured, Rows, table_of
from testbed.reproduction.workshop import Key, Workshop, record_of
from testbed.run.folder import RunFolder
from testbed.sweep.computation import Computation

Groups = Mapping[str, Sequence[Point]]  # points that are compared with each other; one may be in several


@dataclass(frozen=True)
class Found:
    """What there is of the points that were asked for."""

    asked: tuple[Point, ...]
    measured: tuple[Measured, ...]
    failed: tuple[Point, ...] = ()
    unjudged: tuple[Measured, ...] = ()  # done, while what they are compared with is not

    @cached_property
    def tables(self) -> dict[str, pandas.DataFrame]:
        return tables_of(self.measured)

    def table(self, name: str) -> pandas.DataFrame:
        """Empty when no point has a row of it."""
        return self.tables.get(name, pandas.DataFrame())

    @property
    def missing(self) -> list[Point]:
        """Those that failed, and with `--only-done` those that nobody did."""
        there = {one.point.row_key for one in self.measured}
        return [point for point in self.asked if point.row_key not in there]


def tables_of(measured: Sequence[Measured]) -> dict[str, pandas.DataFrame]:
    names = dict.fromkeys(name for one in measured for name in one.rows)
    return {name: table_of([row for one in measured for row in one.rows.get(name, ())]) for name in names}


def points_of(groups: Groups) -> list[Point]:
    """Each once, in the order of the groups."""
    found: dict[RowKey, Point] = {}
    for points in groups.values():
        for point in points:
            found.setdefault(point.row_key, point)
    return list(found.values())


@dataclass(frozen=True)
class Collector:
    shop: Workshop
    kept: KeptRows
    measures: Measures | None
    analysed: bool
    commit: str

    @property
    def request(self) -> Request:
        return self.shop.request

    def collect(self, groups: Groups) -> Found:
        points = points_of(groups)
        if self.request.only_done:
            return self._only_done(groups, points)
        rows = {} if self.request.again else self._rows_of(points)
        left = [point for point in points if point.row_key not in rows]
        places = self.shop.do(left)
        measured = {one.point.row_key: one for one in self._measure(left, places)} | rows
        failed = tuple(point for point in left if point.key not in places)
        there = [measured[point.row_key] for point in points if point.row_key in measured]
        return Found(tuple(points), tuple(there), failed)

    def _only_done(self, groups: Groups, points: Sequence[Point]) -> Found:
        there = self._there([point for point in points if self._is_done(point)])
        done = {one.point.row_key for one in there}
        judged = {point.row_key for point in whole(groups, lambda point: point.row_key in done)}
        measured = tuple(one for one in there if one.point.row_key in judged)
        unjudged = tuple(one for one in there if one.point.row_key not in judged)
        return Found(tuple(points), measured, (), unjudged)

    def _rows_of(self, points: Sequence[Point]) -> dict[RowKey, Measured]:
        """Of points that have no folder of their own here. Their commit is told: it may be an older one."""
        candidates = [self.kept.find(point) for point in points if not self.shop.begun(point)]
        found = {one.point.row_key: one for one in candidates if one is not None}
        if found:
            commits = ", ".join(sorted({one.commit[:12] for one in found.values()}))
            words = "1 point is" if len(found) == 1 else f"{len(found)} points are"
            self.request.report(f"{words} taken from the rows in {self.kept.folder} (commit {commits})")
        return found

    def _is_done(self, point: Point) -> bool:
        return self.shop.done(point) is not None or self.kept.find(point, any_code=True) is not None

    def _there(self, points: Sequence[Point]) -> list[Measured]:
        places = {p.key: place for p in points if (place := self.shop.done(p)) is not None}
        made = {one.point.row_key: one for one in self._measure(points, places)}
        found = [made.get(point.row_key) or self.kept.find(point, any_code=True) for point in points]
        return [one for one in found if one is not None]

    def _measure(self, points: Sequence[Point], places: Mapping[Key, Path]) -> list[Measured]:
        there = [point for point in points if point.key in places]
        computations = [p for p in there if isinstance(p.what, Computation)]
        found = [self._computed(point, places[point.key]) for point in computations]
        rest = [point for point in there if not isinstance(point.what, Computation)]
        if rest and self.measures is None:
            raise ValueError("a part with runs says how they are measured")
        runs = [RunFolder(places[point.key]) for point in rest]
        if self.measures is not None:
            request = self.request
            taken = take(self.measures, runs, self.analysed, request.master, request.report)
            for point, run, rows in zip(rest, runs, taken, strict=True):
                record = {**point.labels, **record_of(run)}
                code = point.code_of(run.path)
                found.append(Measured(point, labelled(point, rows), str(record["commit"]), code, record))
        return found

    def _computed(self, point: Point, place: Path) -> Measured:
        """Other code than this commit's has another commit, which nobody wrote down."""
        code = point.code_of(place)
        commit = self.commit if code == point.code else ""
        return Measured(point, labelled(point, computed(place)), commit, code)


def labelled(point: Point, rows: Rows) -> dict[str, list[dict[str, Any]]]:
    """Every row with the columns that it is found by."""
    return {
        name: [{**{k: v for k, v in point.labels.items() if k not in row}, **row} for row in table]
        for name, table in rows.items()
    }


def computed(folder: Path) -> dict[str, list[dict[str, Any]]]:
    tables = {path.stem: pandas.read_parquet(path) for path in sorted(folder.glob("*.parquet"))}
    return {name: table.to_dict("records") for name, table in tables.items()}


def whole(groups: Groups, is_done: Callable[[Point], bool]) -> list[Point]:
    """The points that are there, of each group with the seeds that all its points have: systems that are
    compared have the same seeds. If no seed is complete, the points that have all seeds."""
    found: dict[RowKey, Point] = {}
    for points in groups.values():
        done = {point.key for point in points if is_done(point)}
        seeds = list(dict.fromkeys(point.seed for point in points))
        complete = [s for s in seeds if all(p.key in done for p in points if p.seed == s)]
        if complete:
            taken = [point for point in points if point.seed in complete]
        else:
            taken = [p for p in points if all(q.key in done for q in points if _siblings(p, q))]
        found |= {point.row_key: point for point in taken if point.row_key not in found}
    return list(found.values())


def _siblings(a: Point, b: Point) -> bool:
    """The same but for the seed."""
    return _unseeded(a) == _unseeded(b)


def _unseeded(point: Point) -> dict[str, Any]:
    return {"set": point.set, "engine": point.engine} | {k: v for k, v in point.labels.items() if k != "seed"}
