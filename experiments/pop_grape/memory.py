"""Resident memory of every broker at the end of each run of a sweep (memory-127.yaml), as a table.

python -m experiments.pop_grape.memory SWEEP_FOLDER OUT_FOLDER
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas

from experiments.pop_grape.systems import SYSTEMS
from testbed.reproduction.evidence.events import read_events
from testbed.run.folder import RunFolder


def finished(sweep: Path) -> Iterator[tuple[str, RunFolder]]:
    """The system and the run of each point that was run to its end, in the order of the systems."""
    points = [
        json.loads(path.read_bytes()) | {"folder": path.parent} for path in sweep.glob("points/*/point.json")
    ]
    for system, algorithm in SYSTEMS.items():
        for point in points:
            if point["settings"]["algorithm"] == algorithm:
                runs = [RunFolder(path.resolve()) for path in point["folder"].glob("*/latest")]
                yield from ((system, run) for run in runs if run.read_manifest().status == "done")


def last_samples(run: RunFolder) -> dict[str, int]:
    """Broker -> bytes, as it sampled itself last."""
    return {e.node: e.memory_bytes for e in read_events(run.events) if e.kind == "SAMPLED"}


def table(sweep: Path) -> pandas.DataFrame:
    rows = [
        (system, broker, memory)
        for system, run in finished(sweep)
        for broker, memory in sorted(last_samples(run).items())
    ]
    return pandas.DataFrame(rows, columns=["system", "broker", "memory_bytes"])


def main() -> None:
    sweep, out = map(Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    found = table(sweep)
    found.to_csv(out / "memory.csv", index=False)
    print(found.groupby("system", sort=False).memory_bytes.agg(["count", "mean"]))


if __name__ == "__main__":
    main()
