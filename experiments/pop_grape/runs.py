"""Runs section 5's points (resumable) and measures them: one row per run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas

from experiments.pop_grape.measures import measure, relocations
from experiments.pop_grape.systems import Planned, Scale, planned_points
from testbed.runfolder import RunFolder
from testbed.sweep.grid import point_id
from testbed.sweep.run import SweepResult, run_points
from testbed.sweep.sweepfile import SweepFile

HERE = Path(__file__).parent
LABELS = ("testbed", "system", "workload", "spread")


def run_all(
    scale: Scale, engine: str, seeds: list[int], folder: Path, master: str, say: Callable[[str], None]
) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """The measures of every run, and every selection and migration."""
    rows: list[dict[str, object]] = []
    moves: list[dict[str, object]] = []
    for testbed in scale.testbeds:
        points = [p for p in planned_points(scale) if p.testbed == testbed]
        result = _sweep(testbed, points, engine, seeds, folder, master, say)
        for point in points:
            for seed in seeds:
                run = _run_of(result, point, seed)
                if run is not None:
                    labels = {name: getattr(point, name) for name in LABELS} | {"seed": seed}
                    rows.append({**labels, "engine": engine, **measure(run)})
                    moves += [{**labels, **move} for move in relocations(run)]
    return pandas.DataFrame(rows), pandas.DataFrame(moves)


def _sweep(
    testbed: str,
    points: list[Planned],
    engine: str,
    seeds: list[int],
    folder: Path,
    master: str,
    say: Callable[[str], None],
) -> SweepResult:
    sweep = SweepFile(
        name=f"pop-grape-{testbed}",
        topology=f"{testbed}.yaml",
        engine=engine,  # type: ignore[arg-type]
        seeds=seeds,
        points=[p.settings for p in points],
        retries=1,
        timeout_s=4 * 3600,
    )
    result = run_points(sweep, HERE, folder, master, say)
    for name, done in result.failed.items():
        say(f"{name} failed: {done.reason}")
    return result


def _run_of(result: SweepResult, point: Planned, seed: int) -> RunFolder | None:
    name = point_id(point.settings, seed)
    done = result.done.get(name)
    return RunFolder(result.folder / "points" / name / done.run) if done is not None else None
