"""The plans of all points, before anything runs; a mistake is told where the sweep file makes it."""

from __future__ import annotations

import copy
from pathlib import Path

from testbed.errors import InputError
from testbed.sweep.grid import Point, points, set_at
from testbed.sweep.point import Task
from testbed.sweep.sweepfile import Lines, SweepFile
from testbed.sweep.wanted import Wanted, resolved
from testbed.topology.file.document import Document, read_document
from testbed.topology.file.problems import InvalidTopology, Problem
from testbed.topology.load import resolve
from testbed.topology.plan import Plan


def planned(sweep: SweepFile, lines: Lines, base: Path) -> list[tuple[Point, Wanted]]:
    """Raises InputError, with the mistakes of all points."""
    path = (base / sweep.topology).resolve()
    try:
        topology = read_document(base / sweep.topology)
    except InvalidTopology as error:
        if path.exists():
            raise
        hint = f"it is read relative to the sweep file: {path}"
        raise lines.error(("topology",), f"{sweep.topology}: {error.message}", hint) from None
    try:
        engine, clock = resolved(sweep.engine, sweep.clock)
    except InputError as error:
        raise lines.error(("clock",), error.message, error.hint or "") from None
    chosen = points(sweep, lines)
    plans, problems = [], dict[Problem, None]()
    for point in chosen:
        try:
            plans.append(plan_of_point(topology, path.parent, point, lines))
        except InvalidTopology as error:
            problems |= dict.fromkeys(error.problems)
    if problems:
        raise InvalidTopology(list(problems))
    tasks = [Task(p.id, str(path), engine, clock, p.seed, p.settings) for p in chosen]
    return [(p, Wanted(task, plan)) for p, task, plan in zip(chosen, tasks, plans, strict=True)]


def plan_of_point(topology: Document, folder: Path, point: Point, lines: Lines) -> Plan:
    """The topology with the point's settings."""
    document = _copy(topology)
    for place, value in point.settings.items():
        try:
            set_at(document.data, place, copy.deepcopy(value))
        except InputError as error:
            where = lines.key_of(point.origins[place])
            raise lines.error(where, error.message, error.hint or "", key=True) from None
        _borrow(document, tuple(place.split(".")), lines, point.origins[place])
    _borrow(document, ("seed",), lines, point.seed_origin)
    try:
        return resolve(document, folder, point.seed)
    except InvalidTopology as error:
        raise _blamed(error, topology, folder, point, lines) from None


def _copy(topology: Document) -> Document:
    return Document(
        topology.file, copy.deepcopy(topology.data), dict(topology.places), dict(topology.key_places)
    )


def _borrow(document: Document, path: tuple[str, ...], lines: Lines, source: tuple[str | int, ...]) -> None:
    if lines.document is not None:
        document.borrow(path, lines.document, source)


def _blamed(
    error: InvalidTopology, topology: Document, folder: Path, point: Point, lines: Lines
) -> InputError:
    """A mistake shown elsewhere in the topology is the point's, if the topology alone has none."""
    if lines.document is None or not point.settings or _told(error, lines.document):
        return error
    try:
        resolve(_copy(topology), folder)
    except InvalidTopology:
        return error
    first = lines.key_of(next(iter(point.origins.values())))
    settings = ", ".join(f"{place}: {value}" for place, value in point.settings.items())
    return InvalidTopology(
        [lines.document.problem(first, f"with {settings}: {problem}", key=True) for problem in error.problems]
    )


def _told(error: InvalidTopology, sweep: Document) -> bool:
    return any(problem.file == sweep.file for problem in error.problems)
