"""The tables of all points: those of runs by the analysis, those of computations as they were computed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pandas

from testbed.sweep.grid import Point
from testbed.sweep.point import Done
from testbed.sweep.view import Say

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = ("delay", "hops", "hop_distribution", "overhead", "load", "losses", "fidelity")


def collect_runs(
    spark: SparkSession, folder: Path, wanted: list[Point], done: dict[str, Done], say: Say
) -> list[str]:
    """One table for all points: each table of the runs, with the point's settings as columns."""
    from testbed.analysis import analyze
    from testbed.analysis.apart import apart

    paths = {p.id: folder / "points" / p.id / done[p.id].run for p in wanted if p.id in done}
    analysis = apart(lambda: analyze(list(paths.values()), spark=spark, progress=say))
    settings = pandas.DataFrame(
        [{"run": paths[p.id].name, "point": p.id, **_columns(p)} for p in wanted if p.id in paths]
    )
    target = folder / "tables"
    target.mkdir(exist_ok=True)
    for name in NAMES:
        table = settings.merge(analysis.frame(name), on="run", how="inner")
        table.to_parquet(target / f"{name}.parquet", index=False)
        table.to_csv(target / f"{name}.csv", index=False)
    settings.to_csv(target / "points.csv", index=False)
    return list(NAMES)


def _columns(point: Point) -> dict[str, object]:
    return {f"set.{place}": _plain(value) for place, value in point.settings.items()}


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | bool) else msgspec.json.encode(value).decode()


def computed(folder: Path, done: dict[str, Done], name: str) -> dict[str, pandas.DataFrame]:
    """One table of every point that is done, by point."""
    return {
        id_: pandas.read_parquet(folder / "points" / id_ / one.run / f"{name}.parquet")
        for id_, one in done.items()
    }
