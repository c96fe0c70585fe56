"""The tables of all points: those of runs by the analysis, those of computations as they were computed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas

from testbed.sweep.grid import Point
from testbed.sweep.point import Done
from testbed.sweep.view import Say

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = ("delay", "hops", "hop_distribution", "overhead", "load", "losses", "fidelity")
ABSENT = object()  # a setting that a point does not have; None is one that it sets to null
BIG = 2**63


def write_points(folder: Path, wanted: list[Point], done: dict[str, Done], failed: dict[str, Done]) -> None:
    """tables/points.csv: every point, also one that no table has a row of, how it went and where it is."""
    ended = [done.get(p.id) or failed.get(p.id) for p in wanted]
    runs = [one.run if one is not None else "" for one in ended]
    table = pandas.DataFrame(
        {
            "point": [p.id for p in wanted],
            "status": ["done" if p.id in done else "failed" for p in wanted],
            "reason": [one.reason if one is not None else "" for one in ended],
            "run": [Path(run).name for run in runs],
            "folder": [str(Path("points", p.id, run)) for p, run in zip(wanted, runs, strict=True)],
            "seed": [p.seed for p in wanted],
            **_settings(wanted),
        }
    )
    target = folder / "tables"
    target.mkdir(exist_ok=True)
    table.to_csv(target / "points.csv", index=False)


def collect_runs(
    spark: SparkSession, folder: Path, wanted: list[Point], done: dict[str, Done], say: Say
) -> list[str]:
    """One table for all points that are done: each table of the runs, with the settings as columns."""
    from testbed.analysis import analyze
    from testbed.analysis.spark.interruptible import interruptibly

    paths = {p.id: (folder / "points" / p.id / done[p.id].run).resolve() for p in wanted if p.id in done}
    analysis = interruptibly(lambda: analyze(list(paths.values()), spark=spark, progress=say))
    keys = {run.folder.path: run.key for run in analysis.runs}  # not its id, where two points have the same
    points = pandas.DataFrame(
        {
            "run": [keys[paths[p.id]] if p.id in paths else None for p in wanted],
            "point": [p.id for p in wanted],
            **_settings(wanted),
        }
    ).dropna(subset="run")
    target = folder / "tables"
    target.mkdir(exist_ok=True)
    for name in NAMES:
        table = points.merge(analysis.frame(name), on="run", how="inner")
        table.to_parquet(target / f"{name}.parquet", index=False)
        table.to_csv(target / f"{name}.csv", index=False)
    return list(NAMES)


def _settings(points: list[Point]) -> dict[str, pandas.Series[Any]]:
    places = dict.fromkeys(place for point in points for place in point.settings)
    return {
        f"set.{place}": one_type([point.settings.get(place, ABSENT) for point in points]) for place in places
    }


def one_type(values: Sequence[object]) -> pandas.Series[Any]:
    """A column that a file can hold, where ABSENT is missing: whole numbers, numbers or booleans if all
    values are, else texts. Whole numbers stay whole beside a missing one."""
    kinds = {type(value) for value in values if value is not ABSENT}
    lacking = any(value is ABSENT for value in values)
    given = [None if value is ABSENT else value for value in values]
    if kinds == {bool}:
        return pandas.Series(given, dtype="boolean" if lacking else "bool")
    if kinds == {int} and all(-BIG <= value < BIG for value in values if isinstance(value, int)):
        return pandas.Series(given, dtype="Int64" if lacking else "int64")
    if kinds in ({float}, {int, float}):
        return pandas.Series(given, dtype="float64")
    texts = [None if value is ABSENT else _text(value) for value in values]
    return pandas.Series(texts, dtype="string")


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def computed(folder: Path, done: dict[str, Done], name: str) -> dict[str, pandas.DataFrame]:
    """One table of every point that is done, by point."""
    return {
        id_: pandas.read_parquet(folder / "points" / id_ / one.run / f"{name}.parquet")
        for id_, one in done.items()
    }
