"""A point that is wanted, and whether what is in its folder is it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from testbed.run.folder import RunFolder, write_atomically
from testbed.run.inputs import named
from testbed.sweep.computation import FILE, Computation, read_computation
from testbed.sweep.point import PLAN, Done, Task
from testbed.sweep.tasks import RUNNING, finished
from testbed.topology.plan import Plan, dump


@dataclass(frozen=True)
class Wanted:
    """A point, and all that it takes to run it."""

    task: Task
    what: Plan | Computation

    def prepare(self, place: Path) -> None:
        """The folder as the point's process reads it, without what an earlier sweep left half done."""
        place.mkdir(parents=True, exist_ok=True)
        for old in ("done.json", RUNNING, PLAN, FILE):
            (place / old).unlink(missing_ok=True)
        if isinstance(self.what, Computation):
            write_atomically(place / FILE, msgspec.json.encode(self.what))
        else:
            write_atomically(place / PLAN, dump(self.what))
        write_atomically(place / "point.json", msgspec.json.encode(self.task))

    def finished(self, place: Path) -> Done | None:
        """How it ended, if it did; another plan, engine, clock or code is another point, and a run that
        lost its manifest or its events is none."""
        done = finished(place)
        return done if done is not None and self._made(place / done.run) else None

    def _made(self, made: Path) -> bool:
        try:
            if isinstance(self.what, Computation):
                return read_computation(made) == self.what
            run = RunFolder(made)
            manifest = run.read_manifest()
            same = (manifest.engine, manifest.clock) == (self.task.engine, self.task.clock)
            whole = any(run.events.glob("*.jsonl"))  # every engine writes some, whatever happens in a run
            return same and whole and dump(run.read_plan()) == dump(named(self.what))
        except (OSError, msgspec.DecodeError):
            return False


def resolved(engine: str, clock: str) -> tuple[str, str]:
    """The engine and clock that are meant; raises InputError, in the words of a sweep file, for a clock that
    the engine lacks.

    `auto` is what this machine would take. Whether the engine can run, the machine of the point must know.
    """
    from testbed.run.engine import automatic, meant

    name = automatic(clock or None)[0] if engine == "auto" else engine
    return name, meant(name, clock or None, choice="engine: ")
