"""What this run made on the machine, written down before it is made, so that it can be removed exactly.

`created.json` in the run folder: namespaces (paths), processes (pid and start time, so that a number used
again by another process is never mistaken), folders. Interfaces and bridges live in those namespaces and
disappear with them; they are listed for the reader. Nothing is ever removed by a name pattern.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from testbed.emulation.network import namespaces
from testbed.run.folder import write_atomically

FILE = "created.json"


class CreatedProcess(msgspec.Struct):
    what: str
    pid: int
    started: int  # clock ticks after boot, field 22 of /proc/PID/stat


class Created(msgspec.Struct):
    boot: str = ""
    namespaces: list[str] = []
    processes: list[CreatedProcess] = []
    folders: list[str] = []
    interfaces: list[str] = []
    bridges: list[str] = []


class Record:
    """The growing list of one run; every change is on disk before the call returns."""

    def __init__(self, run_folder: Path) -> None:
        self.path = run_folder / FILE
        self.created = read(run_folder) or Created(boot=boot_id())

    def namespaces(self, paths: list[Path]) -> None:
        self.created.namespaces += [str(path) for path in paths]
        self._save()

    def process(self, what: str, pid: int) -> None:
        self.created.processes.append(CreatedProcess(what, pid, start_time(pid) or 0))
        self._save()

    def processes(self, started: Iterable[tuple[str, int]]) -> None:
        self.created.processes += [CreatedProcess(what, pid, start_time(pid) or 0) for what, pid in started]
        self._save()

    def folder(self, path: Path) -> None:
        self.created.folders.append(str(path))
        self._save()

    def interfaces(self, names: list[str], bridges: list[str]) -> None:
        self.created.interfaces += names
        self.created.bridges += bridges
        self._save()

    def done(self) -> None:
        """Everything was removed."""
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        self.created = Created(boot=boot_id())

    def _save(self) -> None:
        write_atomically(self.path, msgspec.json.format(msgspec.json.encode(self.created), indent=1))


def read(run_folder: Path) -> Created | None:
    path = run_folder / FILE
    return msgspec.json.decode(path.read_bytes(), type=Created) if path.exists() else None


def remove_created(run_folder: Path, grace_seconds: float = 5) -> list[str]:
    """Remove what a run recorded and left behind; answers what was still there.

    After a reboot (or in another guest) nothing of it exists any more, and nothing is touched.
    """
    created = read(run_folder)
    if created is None:
        return []
    removed: list[str] = []
    if created.boot == boot_id():
        removed += _end_processes(created.processes, grace_seconds)
        removed += _remove_paths(created)
    (run_folder / FILE).unlink()
    return removed


def _remove_paths(created: Created) -> list[str]:
    removed = []
    for name in created.namespaces:
        if Path(name).exists():
            namespaces.remove(Path(name))
            removed.append(f"namespace {name}")
    for name in created.folders:
        if Path(name).exists():
            shutil.rmtree(name, ignore_errors=True)
            removed.append(f"folder {name}")
    return removed


def _end_processes(processes: list[CreatedProcess], grace_seconds: float) -> list[str]:
    alive = [process for process in reversed(processes) if is_running(process)]
    for process in alive:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGTERM)
    deadline = time.monotonic() + grace_seconds
    while any(is_running(process) for process in alive) and time.monotonic() < deadline:
        time.sleep(0.05)
    for process in alive:
        if is_running(process):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
    return [f"process {process.pid} ({process.what})" for process in alive]


def is_running(process: CreatedProcess) -> bool:
    return process.started != 0 and start_time(process.pid) == process.started


def start_time(pid: int) -> int | None:
    """When the process started, or None when there is no such process (or only its zombie)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat[stat.rindex(")") + 2 :].split()
    return None if fields[0] == "Z" else int(fields[19])


def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
