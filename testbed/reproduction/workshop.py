"""Does what is left of a study's points, as sweeps, and finds what is done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from testbed.reproduction.point import Point, TopologyFile
from testbed.reproduction.request import Request
from testbed.run.folder import RunFolder
from testbed.sweep.computation import Computation, read_computation
from testbed.sweep.planned import planned
from testbed.sweep.point import Done, Task
from testbed.sweep.run import Effort, SweepResult, run_wanted
from testbed.sweep.sweepfile import Lines, SweepFile
from testbed.sweep.tasks import finished
from testbed.sweep.wanted import Wanted, resolved
from testbed.topology.plan import Plan

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Workshop:
    """Where the points of a part are done."""

    folder: Path  # runs/
    request: Request
    effort: Effort

    def do(self, points: Sequence[Point]) -> dict[Key, Path]:
        """What is left of them is done; answers where each is that is done. Those that fail are told."""
        found: dict[Key, Path] = {}
        for batch in batches(points):
            by_id = {point.id: point for point in batch}
            result = self._sweep(list(by_id.values()))
            for name, failure in result.failed.items():
                self.request.fail(by_id[name].told, failure.reason, result.log(name))
            found |= {by_id[name].key: self._place(by_id[name]) / d.run for name, d in result.done.items()}
        return found

    def _sweep(self, batch: Sequence[Point]) -> SweepResult:
        request = self.request
        folder = self.folder / batch[0].set
        return run_wanted(folder, wanted_of(batch), request.master, request.report, self.effort)

    def begun(self, point: Point) -> bool:
        """Whether there is a run or computation of it, of these settings or of others."""
        return (self._place(point) / "done.json").exists()

    def done(self, point: Point) -> Path | None:
        """Where it is, if it is done and this engine made it, whatever plan or code it was."""
        done = finished(self._place(point))
        return self._place(point) / done.run if done is not None and self._is_its(point, done) else None

    def _is_its(self, point: Point, done: Done) -> bool:
        made = self._place(point) / done.run
        try:
            if isinstance(point.what, Computation):
                found = read_computation(made)
                return (found.function, found.arguments) == (point.what.function, point.what.arguments)
            return RunFolder(made).read_manifest().engine == point.engine
        except (OSError, ValueError):
            return False

    def _place(self, point: Point) -> Path:
        return self.folder.resolve() / point.set / "points" / point.id


def batches(points: Sequence[Point]) -> Iterator[list[Point]]:
    """Those of one set and engine, in the order of their first points."""
    for set_, engine in dict.fromkeys((point.set, point.engine) for point in points):
        yield [point for point in points if (point.set, point.engine) == (set_, engine)]


def wanted_of(batch: Sequence[Point]) -> list[Wanted]:
    """Raises InputError for settings that make no plan, before anything runs."""
    made: dict[str, Wanted] = {}
    for seed in dict.fromkeys(point.seed for point in batch):
        for files in _by_file([point for point in batch if point.seed == seed]):
            made |= {wanted.task.id: wanted for wanted in _from_file(files, seed)}
    return [made[p.id] if isinstance(p.what, TopologyFile) else _made(p, p.what) for p in batch]


def _by_file(points: Sequence[Point]) -> Iterator[list[Point]]:
    files = [point for point in points if isinstance(point.what, TopologyFile)]
    for what in dict.fromkeys(point.what for point in files if isinstance(point.what, TopologyFile)):
        yield [point for point in files if point.what == what]


def _from_file(points: Sequence[Point], seed: int) -> list[Wanted]:
    what = points[0].what
    assert isinstance(what, TopologyFile)
    sweep = SweepFile(
        name=points[0].set,
        topology=what.path.name,
        engine=points[0].engine,  # type: ignore[arg-type]
        seeds=[seed],
        points=[point.settings for point in points],
    )
    return [wanted for _, wanted in planned(sweep, Lines(), what.path.parent)]


def _made(point: Point, what: Plan | Computation) -> Wanted:
    if isinstance(what, Computation):
        return Wanted(Task(point.id, "", "", "", 0, {}), what)
    engine, clock = resolved(point.engine, "")
    return Wanted(Task(point.id, "", engine, clock, what.seed, {}), what)


def record_of(run: RunFolder) -> dict[str, object]:
    """The run's manifest, and how true its network was."""
    manifest, fidelity = run.read_manifest(), run.read_fidelity()
    return {**msgspec.to_builtins(manifest), "fidelity": msgspec.to_builtins(fidelity)}
