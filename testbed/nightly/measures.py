"""From the folder of a reproduction to rows of the history."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pandas

from testbed.nightly.choice import Measure, Reproduction
from testbed.nightly.history import Row
from testbed.reproduction.rows import read_table
from testbed.reproduction.verdict import read_verdicts


def result_folders(root: Path) -> list[Path]:
    """What a reproduction left below `root`: <paper>/<scale>, then its parts, <scale>-<part>."""
    return sorted((p.parent for p in root.glob("*/*/manifest.json")), key=lambda p: (len(p.name), p.name))


def measured(folder: Path, reproduction: Reproduction, night: str) -> list[Row]:
    """Measures and claims. A table or column that is not there gives no row."""
    commit = json.loads((folder / "manifest.json").read_bytes()).get("commit", "")
    rows = [
        Row(night, reproduction.name, name, value, seed, measure.better, measure.smallest, commit)
        for measure in reproduction.measures
        for name, seed, value in _values(folder / "tables" / f"{measure.table}.csv", measure)
    ]
    return rows + list(_claims(folder, reproduction, night, commit))


def _values(path: Path, measure: Measure) -> Iterator[tuple[str, int, float]]:
    frame = read_table(path) if path.exists() else pandas.DataFrame()
    if not {measure.column, *measure.by} <= set(frame.columns):
        return
    frame = frame if "seed" in frame.columns else frame.assign(seed=0)
    means = frame.groupby([*measure.by, "seed"], dropna=False)[measure.column].mean().dropna()
    for key, value in means.items():
        *labels, seed = key if isinstance(key, tuple) else (key,)
        text = " ".join(f"{name}={label}" for name, label in zip(measure.by, labels, strict=True))
        yield f"{measure.table}.{measure.column} {text}".strip(), int(seed), float(value)


def _claims(folder: Path, reproduction: Reproduction, night: str, commit: str) -> Iterator[Row]:
    for verdict in read_verdicts(folder / "verdicts.json"):
        if verdict.outcome != "unknown":
            value = float(verdict.outcome == "pass")
            timed = any(fnmatchcase(verdict.claim, pattern) for pattern in reproduction.timed)
            name = f"claim {verdict.claim}"
            yield Row(night, reproduction.name, name, value, 0, "higher", 0.0, commit, True, timed)


def failed_invariants(folder: Path) -> list[str]:
    """Checks that failed in the runs a reproduction was made of."""
    found = []
    for path in sorted(folder.glob("runs/**/verdicts.json")):
        if (path.parent / "plan.json").exists():
            checks = json.loads(path.read_bytes())
            found += [
                f"{path.parent.name}: {c['name']}: {c['reason']}" for c in checks if c["verdict"] == "fail"
            ]
    return found
