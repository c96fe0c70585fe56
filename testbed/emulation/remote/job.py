"""What the near side asks for: one line of JSON."""

from __future__ import annotations

import msgspec

from testbed.topology.plan import Plan


class Job(msgspec.Struct):
    plan: Plan
    topology: str  # the file as given, for the run folder
    engine: str
    clock: str
    memory_mb: int
    command: str  # for the manifest
