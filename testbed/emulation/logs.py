"""What the processes of a run wrote: which logs there are, their lines of errors, and all of it packed."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from testbed.errors import InputError, TestbedError, did_you_mean
from testbed.run.folder import RunFolder

ERROR = re.compile(r"\b(ERROR|CRITICAL|FATAL|EMER)\b|^Traceback \(|^[\w.]*(Error|Exception|Exit)\b(:|$)")
# Of the network's own daemons; they complain about what they then do without.
DAEMONS = ("ovs-vswitchd", "ovsdb-server", "tcpdump-", "console")
PACKED = {".gz": "w:gz", ".tgz": "w:gz", ".xz": "w:xz", ".tar": "w"}


@dataclass(frozen=True)
class LogLine:
    file: str
    number: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.number}: {self.text}"


def log_files(folder: RunFolder) -> dict[str, Path]:
    """Log files by process."""
    found = [path for path in sorted(folder.logs.glob("*")) if path.suffix in (".log", ".err")]
    return {path.stem: path for path in found}


def log_of(folder: RunFolder, process: str) -> Path:
    """The log of a process; a client's is that of the driver on its host."""
    files = log_files(folder)
    if process in files:
        return files[process]
    driver = next((f"clients-{c.node}" for c in folder.required().read_plan().clients if c.id == process), "")
    if driver in files:
        return files[driver]
    raise InputError(f"there is no log of {process!r} in {folder.path}", hint=did_you_mean(process, files))


def errors(folder: RunFolder) -> Iterator[LogLine]:
    """Lines of processes' logs that tell of an error, each with the place where it stands."""
    for name, path in log_files(folder).items():
        if name.startswith(DAEMONS):
            continue
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                if ERROR.search(line):
                    yield LogLine(f"logs/{path.name}", number, line.rstrip())


def pack(folder: RunFolder, out: Path) -> int:
    """The whole run folder in one archive, compressed by its suffix; returns its bytes."""
    mode = PACKED.get(out.suffix)
    if mode is None:
        raise InputError(f"no archive of the kind {out.suffix!r}", hint="name it .tar.gz, .tar.xz or .tar")
    if out.exists():
        raise InputError(f"{out} exists", hint="remove it, or choose another name")
    if out.resolve().is_relative_to(folder.path):
        raise InputError(f"{out} would be packed into itself", hint="choose a place outside the run folder")
    part = out.with_name(out.name + ".part")
    try:
        with tarfile.open(part, mode) as archive:  # type: ignore[call-overload]
            archive.add(folder.path, arcname=f"{folder.path.parent.name}-{folder.path.name}")
        part.replace(out)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise TestbedError(f"cannot write {out}: {error.strerror}", hint="choose another place") from None
    return out.stat().st_size
