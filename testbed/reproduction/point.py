"""A point of a study: one run or one computation, with the columns that its rows are found by.

Its settings, seed, engine and `code` say what it is: of a run from a topology file `code` is a hash of that
file, of a plan the plan's, of a computation one of the text that computes. With another of these it is
another point.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from testbed.errors import InputError
from testbed.run.folder import RunFolder
from testbed.sweep.computation import Computation, computation, read_computation
from testbed.sweep.grid import point_id
from testbed.topology.file.document import read_document
from testbed.topology.plan import Plan, dump

Label = str | int | float
RowKey = tuple[tuple[str, Label], ...]
Settings = dict[str, Any]


@dataclass(frozen=True)
class TopologyFile:
    """A run of this file with the point's settings."""

    path: Path


@dataclass(frozen=True)
class Point:
    set: str  # points that are swept together: a folder under runs/
    id: str  # its folder there
    labels: Mapping[str, Label]  # columns of every table: no two points of a part have the same
    settings: Settings
    seed: int
    what: TopologyFile | Plan | Computation
    engine: str = ""  # of a run
    title: str = ""  # how a verdict names it when it failed

    @property
    def key(self) -> tuple[str, str, str]:
        """What is done; two points with other labels may share it."""
        return self.set, self.id, self.engine

    @property
    def row_key(self) -> RowKey:
        """What its rows are found by."""
        return tuple(self.labels.items())

    @property
    def told(self) -> str:
        """Its name when it fails. That of a run with settings says enough by itself."""
        return self.id if isinstance(self.what, TopologyFile) else f"{self.set}/{self.id}"

    @property
    def code(self) -> str:
        if isinstance(self.what, TopologyFile):
            return _hash_of_file(self.what.path)
        return self.what.code if isinstance(self.what, Computation) else _hash(dump(self.what))

    def code_of(self, made: Path) -> str:
        """The same of what is there; empty when it does not tell."""
        try:
            if isinstance(self.what, TopologyFile):
                return _hash_of_file(RunFolder(made).topology)
            if isinstance(self.what, Computation):
                return read_computation(made).code
            return _hash(dump(RunFolder(made).read_plan()))
        except (OSError, ValueError, InputError):
            return ""

    def identity(self) -> tuple[str, str, str, str]:
        return (*self.key, json.dumps(self.settings, sort_keys=True))

    def __str__(self) -> str:
        return self.title or self.id


def run_of_file(
    set_: str, topology: Path, settings: Settings, seed: int, engine: str, labels: Mapping[str, Label],
    title: str = "",
) -> Point:  # fmt: skip
    """`settings` change the topology file, by dotted place."""
    name = point_id(settings, seed)
    return Point(set_, name, labels, settings, seed, TopologyFile(topology), engine, title)


def run_of_plan(
    set_: str, name: str, plan: Plan, settings: Settings, engine: str, labels: Mapping[str, Label],
    title: str = "",
) -> Point:  # fmt: skip
    """A plan that a program made from these settings."""
    return Point(set_, name, labels, settings, plan.seed, plan, engine, title)


def computed(
    set_: str, name: str, function: str, arguments: Settings, seed: int, labels: Mapping[str, Label],
    sources: Iterable[str] = (), title: str = "",
) -> Point:  # fmt: skip
    """`function` (module:function) is called with these arguments and the seed, and returns tables by name.

    `sources`: modules and packages, beside the function's module, that the result hangs on.
    """
    made = computation(function, {**arguments, "seed": seed}, sources)
    return Point(set_, name, labels, arguments, seed, made, "", title)


@cache
def _hash_of_file(path: Path) -> str:
    """Of what it says: a comment changes no run."""
    return _hash(json.dumps(read_document(path).data, sort_keys=True).encode())


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
