"""Runs and sweeps from a program: what `testbed deploy` and `testbed sweep` do."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from testbed.api.results import Run, Sweep
from testbed.errors import RunFailed
from testbed.run.deploy import deploy, prepare
from testbed.run.engine import Event, Options, choose
from testbed.topology.load import load_plan_file

if TYPE_CHECKING:
    from testbed.topology.plan import Plan

Settings = Mapping[str, Any]


def run(
    topology: str | Path,
    engine: str = "auto",
    *,
    clock: str | None = None,
    seed: int | None = None,
    results: str | Path = "results",
    settings: Settings | None = None,
    analyze: bool = True,
    **top_level: Any,
) -> Run:
    """Run a topology file. `settings` change it by dotted place ({"clients.sub.spread": 4}), further keywords
    at its top (duration="20s"). Raises TestbedError for a bad file (before anything starts) and for a run
    that failed; one whose fidelity failed is returned, and says so in `fidelity`."""
    file = Path(topology)
    changed = tuple(
        f"{place}={json.dumps(value)}" for place, value in {**(settings or {}), **top_level}.items()
    )
    plan = load_plan_file(file, seed, changed)
    folder = _deployed(plan, file, engine, clock, Path(results))
    done = Run(folder)
    return done.analyze() if analyze else done


def _deployed(plan: Plan, file: Path, engine: str, clock: str | None, results: Path) -> Path:
    chosen, its_clock, _ = choose(engine, clock)
    folder = prepare(plan, file, results, chosen.name, its_clock, command=f"api.run({str(file)!r})")
    outcome = deploy(folder, chosen, Options(its_clock), _quiet)
    if outcome.manifest.status != "done":
        raise RunFailed(outcome.manifest.reason or outcome.manifest.status, file=folder.path)
    return folder.path


def _quiet(event: Event) -> None:
    """A warning is told at once; the rest is in the run folder."""
    if event["t"] == "warning":
        print(f"warning: {event['text']}", file=sys.stderr)


def sweep(
    topology: str | Path,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    seeds: Sequence[int] = (1,),
    engine: str = "simulate",
    name: str = "",
    results: str | Path = "results",
    master: str = "local[*]",
    points: Sequence[Settings] = (),
) -> Sweep:
    """Run all combinations of a grid (dotted place -> values), multiplied with `points` (settings that belong
    together), once per seed. Points that are done are not run again; one that failed is in `points`."""
    from testbed.sweep.run import run_points
    from testbed.sweep.sweepfile import SweepFile, sweep_of

    file = Path(topology).resolve()
    wanted: SweepFile = sweep_of(
        name=name or f"sweep-{file.stem}", topology=file.name, engine=engine, seeds=list(seeds),
        grid={place: list(values) for place, values in (grid or {}).items()},
        points=[dict(point) for point in points] or [{}],
    )  # fmt: skip
    done = run_points(wanted, file.parent, Path(results), master, lambda line: print(line, file=sys.stderr))
    return Sweep(done.folder)
