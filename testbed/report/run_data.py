"""What a run's page is made of: its folder, read once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas

from protos.records import Fidelity, Manifest
from testbed.errors import InputError
from testbed.report.charts import Fault
from testbed.runfolder import RunFolder
from testbed.topology.plan import Plan


@dataclass(frozen=True)
class RunData:
    folder: RunFolder
    manifest: Manifest
    plan: Plan
    fidelity: Fidelity | None
    checks: list[dict[str, Any]]
    faults: list[Fault]
    live: Mapping[str, pandas.DataFrame] | None = None  # tables so far, of a run that goes on

    def table(self, name: str) -> pandas.DataFrame | None:
        """None if the table is not there, or empty."""
        if self.live is not None:
            frame = self.live.get(name)
            return frame if frame is not None and len(frame) else None
        path = self.folder.tables / f"{name}.parquet"
        frame = pandas.read_parquet(path) if path.exists() else None
        return frame if frame is not None and len(frame) else None


def read_run(path: Path) -> RunData:
    folder = RunFolder(path)
    if not folder.manifest.exists():
        raise InputError(
            "this is no run folder: it has no manifest.json", file=path, hint="name results/<name>/<run>"
        )
    if not folder.tables.exists():
        raise InputError("this run has no tables yet", file=path, hint=f"testbed analyze {path}")
    manifest = folder.read_manifest()
    checks = json.loads(folder.verdicts.read_bytes()) if folder.verdicts.exists() else []
    faults = read_faults(folder.events, manifest.first_us, manifest.last_us)
    return RunData(folder, manifest, folder.read_plan(), folder.read_fidelity(), checks, faults)


def read_faults(events: Path, first_us: int, last_us: int) -> list[Fault]:
    """Windows of the harness's log; one without an end lasts to the end of the run."""
    opened: dict[tuple[str, str], int] = {}
    found = []
    for event in _fault_events(events):
        key = event.get("type", ""), event.get("detail", "")
        if event["kind"] == "FAULT_STARTED":
            opened[key] = event["t_us"]
        elif key in opened:
            found.append(_fault(key, opened.pop(key), event["t_us"], first_us))
    found += [_fault(key, start, last_us, first_us) for key, start in opened.items()]
    return sorted(found, key=lambda f: f.start_s)


def _fault(key: tuple[str, str], start_us: int, end_us: int, first_us: int) -> Fault:
    return Fault((start_us - first_us) / 1e6, (end_us - first_us) / 1e6, " ".join(key).strip())


def _fault_events(events: Path) -> list[dict[str, Any]]:
    found = []
    for name in ("harness.jsonl", "simulation.jsonl"):
        if (events / name).exists():
            with (events / name).open("rb") as lines:
                found += [json.loads(line) for line in lines if b'"FAULT_' in line]
    return found
