"""A whole sweep: what is left to do is done, what is there is collected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace as replace_fields

from testbed.sweep.computation import Computation
from testbed.sweep.lock import only_sweep, wait_free
from testbed.sweep.planned import planned
from testbed.sweep.point import Done, Task
from testbed.sweep.sweepfile import Lines, SweepFile, read_sweep
from testbed.sweep.tables import collect_runs, write_points
from testbed.sweep.tasks import PATIENCE_S, run_on_spark
from testbed.sweep.view import Say, sweep_view
from testbed.sweep.wanted import Wanted, resolved
from testbed.topology.plan import Plan

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

    def log(self, point: str) -> Path:
        return self.folder / "points" / point / "log.txt"


@dataclass(frozen=True)
class Effort:
    """What a sweep does for a point."""

    retries: int = 1
    timeout_s: float = 3600.0


def run_sweep(file: Path, results: Path, master: str, say: Say, tables: bool = True) -> SweepResult:
    """`run_points` for a sweep file."""
    sweep, lines = read_sweep(file)
    return run_points(sweep, file.parent, results, master, say, tables, lines)


def run_points(
    sweep: SweepFile,
    base: Path,
    results: Path,
    master: str,
    say: Say,
    tables: bool = True,
    lines: Lines | None = None,
) -> SweepResult:
    """Runs the points that are not done yet, then analyses all that are, with one Spark session."""
    wanted = planned(sweep, lines or Lines(), base)  # a mistake is told before anything runs
    folder, effort = (results / sweep.name).resolve(), Effort(sweep.retries, sweep.timeout_s)
    with only_sweep(folder), _one_session(master, say) as session:
        found = _run_wanted(folder, [w for _, w in wanted], session, say, effort)
        if not tables:
            return found
        points = [point for point, _ in wanted]
        write_points(folder, points, found.done, found.failed)
        if not found.done:
            return found
        return replace(found, tables=collect_runs(session(), folder, points, found.done, say))


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
    name_, clock = resolved(engine, "")
    wanted = [Wanted(Task(id_, "", name_, clock, plan.seed, {}), plan) for id_, plan in plans.items()]
    return run_wanted(results / name, wanted, master, say, effort)


def run_computations(
    name: str,
    computations: Mapping[str, Computation],
    results: Path,
    master: str,
    say: Say,
    effort: Effort | None = None,
) -> SweepResult:
    """The same for computations: point -> computation. `tables.computed` reads what they made."""
    wanted = [Wanted(Task(id_, "", "", "", 0, {}), made) for id_, made in computations.items()]
    return run_wanted(results / name, wanted, master, say, effort)


def run_wanted(
    folder: Path, wanted: list[Wanted], master: str, say: Say, effort: Effort | None = None
) -> SweepResult:
    """The same for points that a program made, in a folder of its own."""
    folder = folder.resolve()
    with only_sweep(folder), _one_session(master, say) as session:
        return _run_wanted(folder, wanted, session, say, effort or Effort())


@contextmanager
def _one_session(master: str, say: Say) -> Iterator[Session]:
    """Spark starts when it is first asked for, and not at all when every point is there.

    A Ctrl-C goes on from here when all has ended that was started since: Spark's Python daemon, its workers
    and the points too, which each end in their own time when Java is gone.
    """
    from testbed.analysis.spark.interruptible import end_spark, interruptibly
    from testbed.analysis.spark.offspring import end_offspring, orphans_kept
    from testbed.analysis.spark.session import start

    started: list[SparkSession] = []

    def session() -> SparkSession:
        if not started:
            started.append(interruptibly(lambda: start(master)))
        return started[0]

    with orphans_kept() as before:
        try:
            yield session
            for spark in started:
                interruptibly(spark.stop)
        except KeyboardInterrupt:
            end_spark()
            for word in end_offspring(before, PATIENCE_S):
                say(word)
            raise
        except BaseException:
            for spark in started:
                interruptibly(spark.stop)
            raise


def _run_wanted(
    folder: Path, wanted: list[Wanted], session: Session, say: Say, effort: Effort
) -> SweepResult:
    places = {w.task.id: folder / "points" / w.task.id for w in wanted}
    left = [w for w in wanted if w.finished(places[w.task.id]) is None]
    for w in left:
        w.prepare(places[w.task.id])
    points = "1 point" if len(wanted) == 1 else f"{len(wanted)} points"
    say(f"{folder.name}: {points}, {len(wanted) - len(left)} already done")
    ended = _run(session(), [places[w.task.id] for w in left], say, effort) if left else []
    done = {w.task.id: d for w in wanted if (d := w.finished(places[w.task.id])) is not None}
    failed = {d.id: d if d.code else _lost(d, folder) for d in ended if d.id not in done}
    return SweepResult(folder, done, failed, len(wanted) - len(left), [])


def _lost(done: Done, folder: Path) -> Done:
    """A point that says that it is done, and whose run is not to be found: it is no use to anyone."""
    reason = f"its run is not in {folder}; is the folder shared with all machines of the cluster?"
    return replace_fields(done, code=1, reason=reason)


def _run(spark: SparkSession, folders: list[Path], say: Say, effort: Effort) -> list[Done]:
    view = sweep_view(folders[0].parents[1].name, folders, say)
    try:
        return run_on_spark(spark.sparkContext, folders, effort.retries, effort.timeout_s, view)
    except KeyboardInterrupt:
        # Spark is gone; each point ends its run in order, those on other machines too.
        if not wait_free(folders, PATIENCE_S):
            say("a point has not ended its run yet; the next sweep in this folder waits for it")
        raise
    finally:
        view.close()
