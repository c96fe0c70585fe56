"""The sweep file: which topology, which parameters, which seeds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from testbed.errors import InputError
from testbed.topology.file.document import Document, Path_, read_document
from testbed.topology.file.problems import InvalidTopology
from testbed.topology.file.schema_errors import explain


class SweepFile(BaseModel):
    """Every key of a sweep file, its default and meaning."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,40}$", description="of the sweep's folder")]
    topology: Annotated[str, Field(description="topology file, relative to the sweep file")]
    engine: Annotated[Literal["auto", "host", "guest", "simulate"], Field(description="where points run")] = (
        "simulate"
    )
    clock: Annotated[Literal["", "virtual", "real"], Field(description="empty = the engine's own")] = ""
    seeds: Annotated[list[int], Field(min_length=1, description="each point runs once per seed")] = [1]
    grid: Annotated[
        dict[str, Annotated[list[Any], Field(min_length=1)]],
        Field(description="dotted place in the topology file -> values; all combinations are run"),
    ] = {}
    points: Annotated[
        list[dict[str, Any]],
        Field(
            min_length=1, description="instead of, or multiplied with, a grid: settings that belong together"
        ),
    ] = [{}]
    retries: Annotated[int, Field(ge=0, description="further tries of a point that failed")] = 1
    timeout_s: Annotated[float, Field(gt=0, description="wall time of one try")] = 3600.0


@dataclass(frozen=True)
class Lines:
    """Where everything stands in the sweep file; a sweep that a program made has none."""

    document: Document | None = None

    def error(self, path: Path_, message: str, hint: str = "", key: bool = False) -> InputError:
        if self.document is None:
            return InputError(message, hint=hint or None)
        return InvalidTopology([self.document.problem(path, message, hint, key)])

    @staticmethod
    def key_of(path: Path_) -> Path_:
        """Of a value in the grid, its name there."""
        return path[:2] if path[0] == "grid" else path


def load_sweep(path: Path) -> SweepFile:
    """Raises InvalidTopology (an InputError) with file, line and column of every mistake."""
    return read_sweep(path)[0]


def read_sweep(path: Path) -> tuple[SweepFile, Lines]:
    document = read_document(path)
    try:
        return SweepFile.model_validate(document.data), Lines(document)
    except ValidationError as error:
        raise InvalidTopology(explain(error, SweepFile, document)) from None


def sweep_of(**fields: Any) -> SweepFile:
    """A sweep that a program describes. Raises InputError."""
    try:
        return SweepFile.model_validate(fields)
    except ValidationError as error:
        said = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise InputError(f"this is no sweep: {said}") from None
