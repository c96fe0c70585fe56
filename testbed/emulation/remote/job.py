"""What the near side asks for: one line of JSON."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec.structs import replace

from testbed.run.inputs import FOLDER, files, name_of, named, placed
from testbed.topology.plan import Plan


class Carried(msgspec.Struct):
    """A file that the plan names."""

    name: str  # below the folder of the run
    mode: int
    data: bytes


class Job(msgspec.Struct):
    plan: Plan
    topology: str  # the file as given, for the run folder
    engine: str
    clock: str
    memory_mb: int
    command: str  # for the manifest
    files: list[Carried] = []


def packed(job: Job) -> Job:
    """With the files that its plan names, and named as they will be there."""
    carried = [
        Carried(name_of(path), path.stat().st_mode & 0o777, path.read_bytes()) for path in files(job.plan)
    ]
    return replace(job, plan=named(job.plan), files=carried)


def unpacked(job: Job, folder: Path) -> Plan:
    """The plan, with its files in this folder."""
    for file in job.files:
        path = folder / FOLDER / Path(file.name).name  # whatever the other side says, below our own
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(file.data)
        path.chmod(file.mode)
    return placed(job.plan, folder)
