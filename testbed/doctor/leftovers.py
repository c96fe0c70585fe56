"""What earlier deployments recorded and did not remove: namespaces, processes and the interfaces in them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from testbed.doctor.finding import Finding, State

if TYPE_CHECKING:
    from testbed.emulation.network.created import Created

NAME = "leftovers"


def leftovers(results: Path | None = None) -> Finding:
    """Read the records of all runs and look which of the things in them still exist. Names prove nothing."""
    remains = {run: found for run in recorded_runs(results or Path("results")) if (found := still_there(run))}
    if not remains:
        return Finding(NAME, State.OK, "no run has left anything on this machine")
    detail = "; ".join(f"{run}: {found}" for run, found in remains.items())
    fix = " && ".join(f"testbed clean {run}" for run in remains)
    return Finding(NAME, State.MISSING, f"still here (running, or left behind): {detail}", fix)


def recorded_runs(results: Path) -> list[Path]:
    from testbed.emulation.network.created import FILE

    return sorted(path.parent for path in results.glob(f"*/*/{FILE}") if not path.parent.is_symlink())


def still_there(run: Path) -> str | None:
    """What of a run's record exists now; None when nothing does, or when it was another boot (or a guest)."""
    from testbed.emulation.network import created

    record = created.read(run)
    if record is None or record.boot != created.boot_id():
        return None
    return describe(record)


def describe(record: Created) -> str | None:
    from testbed.emulation.network.created import is_running

    alive = [process for process in record.processes if is_running(process)]
    spaces = [name for name in record.namespaces if Path(name).exists()]
    counts = [
        f"{len(spaces)} namespaces with up to {len(record.interfaces)} interfaces" if spaces else "",
        f"{len(alive)} processes" if alive else "",
    ]
    return " and ".join(filter(None, counts)) or None
