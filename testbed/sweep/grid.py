"""From a sweep file to its points."""

from __future__ import annotations

import hashlib
import itertools
import json
from typing import Any

import msgspec

from testbed.errors import InputError, did_you_mean
from testbed.sweep.sweepfile import Lines, SweepFile
from testbed.topology.file.document import Path_


class Point(msgspec.Struct):
    """One run: settings by dotted place, and a seed. `id` is a folder name, the same over re-runs."""

    id: str
    seed: int
    settings: dict[str, Any]
    origins: dict[str, Path_] = {}  # where in the sweep file each setting stands
    seed_origin: Path_ = ()


def points(sweep: SweepFile, lines: Lines | None = None) -> list[Point]:
    """All combinations, in the order of the file, seeds innermost; a mistake is told with its line."""
    lines = lines or Lines()
    names = list(sweep.grid)
    _check_seed(sweep, lines)
    found: dict[str, Point] = {}
    for number, base in enumerate(sweep.points):
        _check_apart(number, base, names, lines)
        given = {name: ("points", number, name) for name in base}
        for chosen in itertools.product(*(enumerate(sweep.grid[name]) for name in names)):
            taken = list(zip(names, chosen, strict=True))
            settings = {**base, **{name: value for name, (_, value) in taken}}
            origins: dict[str, Path_] = {**given, **{name: ("grid", name, at) for name, (at, _) in taken}}
            for at, seed in enumerate(sweep.seeds):
                point = Point(point_id(settings, seed), seed, settings, origins, ("seeds", at))
                if point.id in found:
                    raise _twice(found[point.id], point, number, lines)
                found[point.id] = point
    return list(found.values())


def _check_seed(sweep: SweepFile, lines: Lines) -> None:
    """A point's seed is that of `seeds`; another one beside it would be told in the tables and not run."""
    places: list[Path_] = [("grid", "seed")] if "seed" in sweep.grid else []
    places += [("points", number, "seed") for number, base in enumerate(sweep.points) if "seed" in base]
    for place in places:
        raise lines.error(place, f"'seed' cannot stand in `{place[0]}`", "use `seeds`", key=True)


def _check_apart(number: int, base: dict[str, Any], names: list[str], lines: Lines) -> None:
    for name in names:
        if name in base:
            message = f"{name!r} stands in `points` and in `grid`"
            raise lines.error(("points", number, name), message, "say it in one of them", key=True)


def _twice(first: Point, second: Point, number: int, lines: Lines) -> InputError:
    """The line of what was repeated: a seed, a value of the grid, or a whole entry of `points`."""
    places: list[Path_] = [second.seed_origin] if first.seed_origin != second.seed_origin else []
    places += [path for name, path in second.origins.items() if first.origins[name] != path]
    where = next((path for path in places if path[0] != "points"), ("points", number))
    return lines.error(where, f"the sweep has a point twice: {second.id}", "remove the repeated value")


def point_id(settings: dict[str, Any], seed: int) -> str:
    """Readable, and made unique by a hash of the exact settings."""
    text = json.dumps([settings, seed], sort_keys=True)
    parts = [f"{name.rsplit('.', 1)[-1]}={_short(value)}" for name, value in settings.items()]
    readable = "_".join([*parts, f"seed={seed}"])[:80]
    return f"{readable}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"


def _short(value: Any) -> str:
    """Of a mapping its name; of what is no plain value otherwise a hash, the same over re-runs."""
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        text = value["name"]
    elif isinstance(value, dict | list):
        text = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:4]
    else:
        text = str(value)
    return "".join(c if c.isalnum() or c in "+.-" else "-" for c in text)[:24]


def set_at(data: dict[str, Any], place: str, value: Any) -> None:
    """Change one value of a topology file's data; the section must exist, its last key need not."""
    *sections, last = place.split(".")
    at: Any = data
    for section in sections:
        if not isinstance(at, dict) or section not in at:
            known = sorted(at) if isinstance(at, dict) else []
            hint = did_you_mean(section, known) if known else f"{section!r} would be in a plain value"
            raise InputError(f"the topology has no {place!r}", hint=hint)
        at = at[section]
    if not isinstance(at, dict):
        raise InputError(f"the topology has no {place!r}", hint="its section is no mapping")
    at[last] = value
