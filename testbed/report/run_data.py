"""What a run's page is made of: its folder, read once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pandas

from protos.records import Fidelity, LogEvent, Manifest
from testbed.errors import InputError
from testbed.report.charts import Fault
from testbed.report.event_log import decode
from testbed.run.faults import fault_windows
from testbed.run.folder import RunFolder
from testbed.topology.plan import Plan

T = TypeVar("T")


@dataclass(frozen=True)
class RunData:
    folder: RunFolder
    manifest: Manifest
    plan: Plan
    fidelity: Fidelity | None
    checks: list[dict[str, Any]]
    faults: list[Fault]
    live: Mapping[str, pandas.DataFrame] | None = None  # tables so far, of a run that goes on
    tables: Mapping[str, pandas.DataFrame] = field(default_factory=dict)
    about: str = ""  # what the topology file says of itself
    problems: list[str] = field(default_factory=list)  # what was there and could not be read

    def table(self, name: str) -> pandas.DataFrame | None:
        """None if the table is not there, or empty."""
        if self.live is not None:
            frame = self.live.get(name)
            return frame if frame is not None and len(frame) else None
        frame = self.tables.get(name)
        return frame if frame is not None and len(frame) else None


def read_run(path: Path) -> RunData:
    folder = RunFolder(path)
    if not folder.manifest.exists():
        raise InputError(
            "this is no run folder: it has no manifest.json", file=path, hint="name results/<name>/<run>"
        )
    if not folder.tables.exists():
        raise InputError("this run has no tables yet", file=path, hint=f"testbed analyze {path}")
    if not folder.plan.exists():
        raise InputError("this run folder has no plan.json", file=path, hint="the plan cannot be made again")
    problems: list[str] = []
    manifest, plan = _read(folder.manifest, folder.read_manifest), _read(folder.plan, folder.read_plan)
    checks = read_checks(folder.verdicts, problems)
    tables = read_tables(folder.tables, problems)
    faults = read_faults(folder.events, manifest.first_us, manifest.last_us)
    return RunData(
        folder,
        manifest,
        plan,
        read_fidelity(folder, problems),
        checks,
        faults,
        None,
        tables,
        read_about(folder.topology),
        problems,
    )


def _read(file: Path, read: Callable[[], T]) -> T:
    try:
        return read()
    except ValueError as error:
        raise InputError(f"cannot be read: {error}", file=file) from None


def read_fidelity(folder: RunFolder, problems: list[str]) -> Fidelity | None:
    try:
        return folder.read_fidelity()
    except ValueError as error:
        problems.append(f"{folder.fidelity.name}: {error}")
        return None


def read_about(topology: Path) -> str:
    """The description in the file that was run; "" where there is none."""
    import yaml

    try:
        found = yaml.safe_load(topology.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return ""
    about = found.get("description", "") if isinstance(found, dict) else ""
    return about if isinstance(about, str) else ""


def read_checks(path: Path, problems: list[str]) -> list[dict[str, Any]]:
    """[] when there are none; a torn file is a problem, and no check passed."""
    try:
        found = json.loads(path.read_bytes()) if path.exists() else []
    except ValueError as error:
        problems.append(f"{path.name}: {error}; testbed analyze makes it again")
        return []
    return [c for c in found if isinstance(c, dict) and {"name", "verdict"} <= c.keys()]


def read_tables(folder: Path, problems: list[str]) -> dict[str, pandas.DataFrame]:
    """Every table that is there and can be read."""
    found = {}
    for path in sorted(folder.glob("*.parquet")):
        try:
            found[path.stem] = pandas.read_parquet(path)
        except Exception as error:  # whatever is wrong with one table, the others can be shown
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            problems.append(f"tables/{path.name}: {reason}; testbed analyze makes it again")
    return found


def read_faults(events: Path, first_us: int, last_us: int) -> list[Fault]:
    """Windows of the harness's log."""
    return drawn_faults(_fault_events(events), first_us, last_us)


def drawn_faults(events: Iterable[LogEvent], first_us: int, last_us: int) -> list[Fault]:
    """Fault windows as charts draw them; one without an end lasts to the end of the run."""
    return [
        Fault(
            (window.start_us - first_us) / 1e6,
            ((last_us if window.end_us is None else window.end_us) - first_us) / 1e6,
            f"{window.action} {window.target}".strip(),
        )
        for window in fault_windows(events)
    ]


def _fault_events(events: Path) -> list[LogEvent]:
    """Torn lines are passed over."""
    found: list[bytes] = []
    for name in ("harness.jsonl", "simulation.jsonl"):
        if (events / name).exists():
            with (events / name).open("rb") as lines:
                found += [line for line in lines if b'"FAULT_' in line]
    return decode(found)
