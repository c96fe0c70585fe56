"""How things stand: deployments that are up, and runs that were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from testbed.emulation.deployment import DEPLOYMENT_FILE, Deployment
from testbed.errors import InputError, TestbedError
from testbed.run.folder import RunFolder


class Standing(msgspec.Struct):
    """One run. `live` is what its runner says, None when no runner answers."""

    folder: str
    name: str
    engine: str
    clock: str
    status: str
    reason: str = ""
    live: dict[str, Any] | None = None
    left_behind: bool = False  # its runner is dead and things of it may still be there

    def text(self) -> str:
        lines = [f"{self.folder}: {self.name}, {self.engine} engine, {self.clock} time: {self._state()}"]
        if self.reason:
            lines.append(f"  reason: {self.reason.splitlines()[0]}")
        if self.live is not None:
            lines += live_lines(self.live)
        if self.left_behind:
            lines.append("  its runner is gone: 'testbed clean' removes what it left")
        return "\n".join(lines)

    def _state(self) -> str:
        return str(self.live["state"]) if self.live is not None else self.status


def live_lines(live: dict[str, Any]) -> list[str]:
    counts: dict[str, int] = {}
    for state in live["processes"].values():
        counts[state] = counts.get(state, 0) + 1
    where = f"  phase {live['phase']!r} ({live['stage']})" if live["phase"] else f"  {live['stage']}"
    states = ", ".join(f"{number} {state}" for state, number in sorted(counts.items()))
    processes = f"; processes: {states}" if states else ""
    return [f"{where}, run clock {live['clock_us'] / 1e6:.1f} s{processes}"]


def survey(results: Path) -> list[Standing]:
    """Every run below `results` that is up, or whose runner died."""
    folders = sorted({path.parent for path in results.glob(f"*/*/{DEPLOYMENT_FILE}")})
    return [_stand_or_reason(RunFolder(folder)) for folder in folders if folder.name != "latest"]


def standing(run: str, results: Path) -> Standing:
    return stand(locate(run, results))


def locate(run: str, results: Path) -> RunFolder:
    """A run folder by its path, its run id, or its experiment's name (then the latest)."""
    candidates = [Path(run), results / run / "latest", *sorted(results.glob(f"*/{run}"))]
    for candidate in candidates:
        if (candidate / "manifest.json").exists():
            return RunFolder(candidate.resolve())
    raise InputError(
        f"{run!r} is no run folder, run id or experiment", hint=f"'ls {results}' shows what there is"
    )


def _stand_or_reason(folder: RunFolder) -> Standing:
    """One folder that cannot be read does not hide the others."""
    try:
        return stand(folder)
    except InputError as error:
        return Standing(str(folder.path), folder.path.parent.name, "", "", "unreadable", str(error))


def stand(folder: RunFolder) -> Standing:
    manifest = folder.required().read_manifest()
    found = Standing(
        str(folder.path), manifest.name, manifest.engine, manifest.clock, manifest.status, manifest.reason
    )
    if (folder.path / DEPLOYMENT_FILE).exists():
        try:
            found.live = Deployment(folder).status()
        except (TestbedError, msgspec.MsgspecError):
            found.left_behind = True
    return found
