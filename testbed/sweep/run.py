"""A whole sweep: what is left to do is done, what is there is collected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pandas

from testbed.sweep.grid import Point, points
from testbed.sweep.point import Done, Task, plan_of
from testbed.sweep.sweepfile import SweepFile, load_sweep
from testbed.sweep.tasks import finished, run_on_spark

Say = Callable[[str], None]


@dataclass(frozen=True)
class SweepResult:
    folder: Path
    done: dict[str, Done]
    failed: dict[str, Done]
    resumed: int  # points that were there already
    tables: list[str]


def run_sweep(file: Path, results: Path, master: str, say: Say, tables: bool = True) -> SweepResult:
    """`run_points` for a sweep file."""
    return run_points(load_sweep(file), file.parent, results, master, say, tables)


def run_points(
    sweep: SweepFile, base: Path, results: Path, master: str, say: Say, tables: bool = True
) -> SweepResult:
    """Runs the points that are not done yet, then analyses all that are, with one Spark session."""
    from testbed.analysis.session import start

    folder = (results / sweep.name).resolve()
    wanted = points(sweep)
    tasks = {p.id: task_of(sweep, p, base) for p in wanted}
    for task in tasks.values():
        plan_of(task)  # a mistake in any point is told before anything runs
    folders = {p.id: folder / "points" / p.id for p in wanted}
    left = [p for p in wanted if finished(folders[p.id]) is None]
    for p in left:
        folders[p.id].mkdir(parents=True, exist_ok=True)
        (folders[p.id] / "point.json").write_bytes(msgspec.json.encode(tasks[p.id]))
    say(f"{sweep.name}: {len(wanted)} points, {len(wanted) - len(left)} already done")
    if not left and not tables:
        there = {p.id: d for p in wanted if (d := finished(folders[p.id])) is not None}
        return SweepResult(folder, there, {}, len(wanted), [])
    spark = start(master)
    try:
        ended = _run(spark, sweep, [folders[p.id] for p in left], say) if left else []
        done = {p.id: d for p in wanted if (d := finished(folders[p.id])) is not None}
        failed = {d.id: d for d in ended if d.code}
        names = _collect(spark, folder, wanted, done, say) if tables and done else []
    finally:
        spark.stop()
    return SweepResult(folder, done, failed, len(wanted) - len(left), names)


def task_of(sweep: SweepFile, point: Point, base: Path) -> Task:
    topology = (base / sweep.topology).resolve()
    return Task(point.id, str(topology), sweep.engine, sweep.clock, point.seed, point.settings)


def _run(spark: object, sweep: SweepFile, folders: list[Path], say: Say) -> list[Done]:
    told = -1

    def tick(count: int) -> None:
        nonlocal told
        if count != told:
            told = count
            say(f"{sweep.name}: {count} of {len(folders)} points run")

    context = spark.sparkContext  # type: ignore[attr-defined]
    return run_on_spark(context, folders, sweep.retries, sweep.timeout_s, tick)


def _collect(spark: object, folder: Path, wanted: list[Point], done: dict[str, Done], say: Say) -> list[str]:
    """One table for all points: each table of the runs, with the point's settings as columns."""
    from testbed.analysis import analyze

    paths = {p.id: folder / "points" / p.id / done[p.id].run for p in wanted if p.id in done}
    analysis = analyze(list(paths.values()), spark=spark, progress=say)  # type: ignore[arg-type]
    settings = pandas.DataFrame(
        [{"run": paths[p.id].name, "point": p.id, **_columns(p)} for p in wanted if p.id in paths]
    )
    target = folder / "tables"
    target.mkdir(exist_ok=True)
    names = [n for n in ("delay", "hops", "hop_distribution", "overhead", "load", "losses", "fidelity")]
    for name in names:
        table = settings.merge(analysis.frame(name), on="run", how="inner")
        table.to_parquet(target / f"{name}.parquet", index=False)
        table.to_csv(target / f"{name}.csv", index=False)
    settings.to_csv(target / "points.csv", index=False)
    return names


def _columns(point: Point) -> dict[str, object]:
    return {f"set.{place}": _plain(value) for place, value in point.settings.items()}


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | bool) else msgspec.json.encode(value).decode()
