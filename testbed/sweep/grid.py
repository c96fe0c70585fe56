"""From a sweep file to its points."""

from __future__ import annotations

import hashlib
import itertools
import json
from typing import Any

import msgspec

from testbed.errors import InputError
from testbed.sweep.sweepfile import SweepFile


class Point(msgspec.Struct):
    """One run: settings by dotted place, and a seed. `id` is a folder name, the same over re-runs."""

    id: str
    seed: int
    settings: dict[str, Any]


def points(sweep: SweepFile) -> list[Point]:
    """All combinations, in the order of the file, seeds innermost."""
    names = list(sweep.grid)
    found = []
    for base in sweep.points:
        for values in itertools.product(*(sweep.grid[name] for name in names)):
            settings = {**base, **dict(zip(names, values, strict=True))}
            found += [Point(point_id(settings, seed), seed, settings) for seed in sweep.seeds]
    twice = {p.id for p in found if sum(q.id == p.id for q in found) > 1}
    if twice:
        raise InputError(f"the sweep has a point twice: {sorted(twice)[0]}", hint="remove the repeated value")
    return found


def point_id(settings: dict[str, Any], seed: int) -> str:
    """Readable, and made unique by a hash of the exact settings."""
    text = json.dumps([settings, seed], sort_keys=True)
    parts = [f"{name.rsplit('.', 1)[-1]}={_short(value)}" for name, value in settings.items()]
    readable = "_".join([*parts, f"seed={seed}"])[:80]
    return f"{readable}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"


def _short(value: Any) -> str:
    text = value.get("name", "") if isinstance(value, dict) else str(value)
    return "".join(c if c.isalnum() or c in "+.-" else "-" for c in text)[:24]


def set_at(data: dict[str, Any], place: str, value: Any) -> None:
    """Change one value of a topology file's data; the section must exist, its last key need not."""
    *sections, last = place.split(".")
    at: Any = data
    for section in sections:
        if not isinstance(at, dict) or section not in at:
            known = ", ".join(sorted(at)) if isinstance(at, dict) else "nothing"
            raise InputError(f"the topology has no {place!r}", hint=f"at {section!r} it has: {known}")
        at = at[section]
    if not isinstance(at, dict):
        raise InputError(f"the topology has no {place!r}", hint="its section is no mapping")
    at[last] = value
