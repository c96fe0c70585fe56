"""The table of the memory sweep: the last sample of every broker, of runs that came to their end."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from experiments.pop_grape.memory import table
from testbed.run.folder import RunFolder

REAL = Path(__file__).parents[1] / "analysis" / "data" / "small-run"


def point(sweep: Path, name: str, algorithm: dict[str, object], status: str) -> RunFolder:
    folder = sweep / "points" / name
    shutil.copytree(REAL, folder / "cluster" / "run")
    (folder / "cluster" / "latest").symlink_to("run")
    (folder / "point.json").write_text(json.dumps({"settings": {"algorithm": algorithm}}))
    run = RunFolder(folder / "cluster" / "run")
    manifest = run.read_manifest()
    manifest.status = status  # type: ignore[assignment]
    run.write_manifest(manifest)
    return run


def test_last_samples_of_the_runs_that_are_done(tmp_path: Path) -> None:
    run = point(tmp_path, "a", {"name": "pop"}, "done")
    point(tmp_path, "b", {}, "aborted")
    broker = sorted(b.id for b in run.read_plan().brokers)[0]
    with (run.events / f"{broker}.jsonl").open("a") as log:
        for t_us, memory in ((1, 7), (2, 42)):
            log.write(
                json.dumps({"t_us": t_us, "kind": "SAMPLED", "node": broker, "memory_bytes": memory}) + "\n"
            )
    found = table(tmp_path)
    assert set(found.system) == {"POP"}
    assert sorted(found.broker) == sorted(b.id for b in run.read_plan().brokers)
    assert found.set_index("broker").memory_bytes[broker] == 42
