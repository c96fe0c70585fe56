"""A whole sweep: what is left to do is done, what is there is collected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pandas

from testbed.sweep.grid import Point, points
from testbed.sweep.point import Done, Task, plan_of
from testbed.sweep.sweepfile import SweepFile, load_sweep
from testbed.sweep.tasks import RUNNING, finished, run_on_spark
from testbed.sweep.view import Say, sweep_view
from testbed.topology.plan import Plan, dump

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    Session = Callable[[], SparkSession]


@dataclass(frozen=True)
class SweepResult:
    folder: Path
    done: dict[str, Done]
    failed: dict[str, Done]
    resumed: int  # points that were there already
    tables: list[str]


@dataclass(frozen=True)
class Wanted:
    """A point, and all that it takes to run it."""

    task: Task
    plan: Plan


@dataclass(frozen=True)
class Effort:
    """What a sweep does for a point."""

    retries: int = 1
    timeout_s: float = 3600.0


def run_sweep(file: Path, results: Path, master: str, say: Say, tables: bool = True) -> SweepResult:
    """`run_points` for a sweep file."""
    return run_points(load_sweep(file), file.parent, results, master, say, tables)


def run_points(
    sweep: SweepFile, base: Path, results: Path, master: str, say: Say, tables: bool = True
) -> SweepResult:
    """Runs the points that are not done yet, then analyses all that are, with one Spark session."""
    chosen = points(sweep)
    tasks = [task_of(sweep, p, base) for p in chosen]
    wanted = [Wanted(task, plan_of(task)) for task in tasks]  # a mistake is told before anything runs
    folder, effort = results / sweep.name, Effort(sweep.retries, sweep.timeout_s)
    with _one_session(master) as session:
        found = _run_wanted(folder, wanted, session, say, effort)
        if not tables or not found.done:
            return found
        return replace(found, tables=_collect(session(), found.folder, chosen, found.done, say))


def run_plans(
    name: str,
    plans: Mapping[str, Plan],
    engine: str,
    results: Path,
    master: str,
    say: Say,
    effort: Effort | None = None,
) -> SweepResult:
    """The same for plans made by a program: point -> plan."""
    wanted = [Wanted(Task(id_, "", engine, "", plan.seed, {}), plan) for id_, plan in plans.items()]
    with _one_session(master) as session:
        return _run_wanted(results / name, wanted, session, say, effort or Effort())


@contextmanager
def _one_session(master: str) -> Iterator[Session]:
    """Spark starts when it is first asked for, and not at all when every point is there."""
    from testbed.analysis.session import start

    started: list[SparkSession] = []

    def session() -> SparkSession:
        if not started:
            started.append(start(master))
        return started[0]

    try:
        yield session
    finally:
        for spark in started:
            spark.stop()


def _run_wanted(
    folder: Path, wanted: list[Wanted], session: Session, say: Say, effort: Effort
) -> SweepResult:
    folder = folder.resolve()
    places = {w.task.id: folder / "points" / w.task.id for w in wanted}
    left = [w for w in wanted if finished(places[w.task.id], w.plan) is None]
    for w in left:
        _prepare(places[w.task.id], w)
    say(f"{folder.name}: {len(wanted)} points, {len(wanted) - len(left)} already done")
    ended = _run(session(), [places[w.task.id] for w in left], say, effort) if left else []
    done = {w.task.id: d for w in wanted if (d := finished(places[w.task.id], w.plan)) is not None}
    failed = {d.id: d for d in ended if d.code}
    return SweepResult(folder, done, failed, len(wanted) - len(left), [])


def _prepare(place: Path, wanted: Wanted) -> None:
    place.mkdir(parents=True, exist_ok=True)
    for old in ("done.json", RUNNING):  # of a sweep that failed or was killed
        (place / old).unlink(missing_ok=True)
    (place / "point.json").write_bytes(msgspec.json.encode(wanted.task))
    (place / "plan.json").write_bytes(dump(wanted.plan))


def task_of(sweep: SweepFile, point: Point, base: Path) -> Task:
    topology = (base / sweep.topology).resolve()
    return Task(point.id, str(topology), sweep.engine, sweep.clock, point.seed, point.settings)


def _run(spark: SparkSession, folders: list[Path], say: Say, effort: Effort) -> list[Done]:
    view = sweep_view(folders[0].parents[1].name, folders, say)
    try:
        return run_on_spark(spark.sparkContext, folders, effort.retries, effort.timeout_s, view)
    finally:
        view.close()


def _collect(
    spark: SparkSession, folder: Path, wanted: list[Point], done: dict[str, Done], say: Say
) -> list[str]:
    """One table for all points: each table of the runs, with the point's settings as columns."""
    from testbed.analysis import analyze

    paths = {p.id: folder / "points" / p.id / done[p.id].run for p in wanted if p.id in done}
    analysis = analyze(list(paths.values()), spark=spark, progress=say)
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
