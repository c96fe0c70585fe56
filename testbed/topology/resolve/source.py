"""A topology file that fits the schema, on its way to a plan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testbed.topology.file.schema import TopologyFile
from testbed.topology.resolve.report import Report


@dataclass(frozen=True)
class Source:
    file: TopologyFile
    data: dict[str, Any]  # as it was written, for what the schema's defaults would hide
    folder: Path  # to which paths in it are relative
    report: Report
