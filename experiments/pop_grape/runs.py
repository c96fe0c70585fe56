"""Runs section 5's points (resumable) and measures them: one row per run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pandas

from experiments.pop_grape import logs, tables
from experiments.pop_grape.data import Data, Failed
from experiments.pop_grape.measured import Measured, kept, take
from experiments.pop_grape.measures import CONTINUOUS
from experiments.pop_grape.systems import Planned
from testbed.figures.reproduction import Request
from testbed.run.folder import RunFolder
from testbed.sweep.grid import point_id
from testbed.sweep.run import SweepResult, run_points
from testbed.sweep.sweepfile import SweepFile
from testbed.sweep.tasks import finished

HERE = Path(__file__).parent
LABELS = ("testbed", "system", "workload", "spread")
Say = Callable[[str], None]


@dataclass(frozen=True)
class Collected:
    """All runs: their measures, every selection and migration, the courses over time, how each run went."""

    runs: pandas.DataFrame
    moves: pandas.DataFrame
    timeline: pandas.DataFrame
    manifests: list[dict[str, Any]]
    failed: tuple[Failed, ...] = ()

    def data(self, spread: int) -> Data:
        """For figures: what there is. With `judged`, for claims: what is not there is not passed over."""
        return Data(self.runs, self.moves, self.timeline, spread)

    def judged(self, spread: int) -> Data:
        return replace(self.data(spread), failed=self.failed)


def run_all(
    points: list[Planned],
    engine: str,
    seeds: list[int],
    folder: Path,
    request: Request,
    analysed: bool = False,
) -> Collected:
    """Runs what is left of the points and measures all of them; those that fail are told.

    `analysed`: from Spark's tables, not from the logs in one pass (the same, and slower).
    """
    for testbed in dict.fromkeys(p.testbed for p in points):
        chosen = [p for p in points if p.testbed == testbed]
        result = _sweep(testbed, chosen, engine, seeds, folder, request)
        for name, done in result.failed.items():
            request.fail(name, done.reason, result.log(name))
    asked = [(point, seed) for point in points for seed in seeds]
    lost = tuple(
        Failed(p.testbed, p.workload, p.system, p.spread, seed)
        for p, seed in asked
        if not is_done(folder, p, seed, engine)
    )
    found = collect(asked, engine, folder, request.master, request.report, analysed)
    return replace(found, failed=lost)


def collect(
    asked: list[tuple[Planned, int]], engine: str, folder: Path, master: str, say: Say, analysed: bool = False
) -> Collected:
    """Measures those of the runs (a point and a seed) that are there."""
    rows: list[dict[str, object]] = []
    moves: list[dict[str, object]] = []
    minutes: list[dict[str, object]] = []
    manifests: list[dict[str, Any]] = []
    there = [(p, seed, run) for p, seed in asked if (run := _run_of(folder, p, seed, engine)) is not None]
    found = _measured([run for *_, run in there], master, say, analysed)
    for (point, seed, run), measured in zip(there, found, strict=True):
        labels = {name: getattr(point, name) for name in LABELS} | {"seed": seed}
        rows.append({**labels, "engine": engine, **measured.row})
        moves += [{**labels, **move} for move in measured.moves]
        minutes += [{**labels, **minute} for minute in measured.minutes]
        manifests.append({**labels, **_manifest(run)})
    frames = [pandas.DataFrame(r) for r in (rows, moves, minutes)]
    if rows:
        frames[0] = frames[0].astype(dict.fromkeys(CONTINUOUS, float))  # all unknown: still numbers
    return Collected(frames[0], frames[1], frames[2], manifests)


def _measured(runs: list[RunFolder], master: str, say: Say, analysed: bool) -> Iterator[Measured]:
    if analysed and runs:
        found = tables.evidences(runs, master, say)
        yield from (take(evidence, run) for evidence, run in zip(found, runs, strict=True))
        return
    for at, run in enumerate(runs):
        say(f"measuring run {at + 1} of {len(runs)}")
        yield kept(run, logs.evidence)


def _manifest(run: RunFolder) -> dict[str, Any]:
    """The run's manifest, and how true its network was."""
    manifest, fidelity = run.read_manifest(), run.read_fidelity()
    return {**msgspec.to_builtins(manifest), "fidelity": msgspec.to_builtins(fidelity)}


def _sweep(
    testbed: str, points: list[Planned], engine: str, seeds: list[int], folder: Path, request: Request
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
    return run_points(sweep, HERE, folder, request.master, request.report, tables=False)


def is_done(folder: Path, point: Planned, seed: int, engine: str) -> bool:
    return _run_of(folder, point, seed, engine) is not None


def _run_of(folder: Path, point: Planned, seed: int, engine: str) -> RunFolder | None:
    """The point's run, if there is one and this engine made it."""
    place = _place(folder, point, seed)
    done = finished(place)
    if done is None:
        return None
    run = RunFolder(place / done.run)
    return run if run.manifest.exists() and run.read_manifest().engine == engine else None


def _place(folder: Path, point: Planned, seed: int) -> Path:
    return folder.resolve() / f"pop-grape-{point.testbed}" / "points" / point_id(point.settings, seed)
