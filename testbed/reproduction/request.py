"""What `testbed reproduce` asks of a study."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

ScaleName = Literal["smoke", "full"]


@dataclass(frozen=True)
class Request:
    paper: str
    scale: ScaleName
    results: Path
    figures: tuple[str, ...] = ()  # empty = all
    engine: str = ""  # empty = what the study does by default
    seeds: int = 0  # 0 = the scale's default
    report: Callable[[str], None] = print
    master: str = "local[*]"  # where Spark runs
    only_done: bool = False  # judge the points that are there, start none
    again: bool = False  # rows that an earlier reproduction left are not taken for done points
    failed: list[str] = field(default_factory=list)  # points of all sweeps, as they fail

    @property
    def folder(self) -> Path:
        return self.results / self.paper.replace("-", "_") / folder_name(self.scale, self.engine)

    def wants(self, figure: str) -> bool:
        return not self.figures or figure in self.figures

    def fail(self, point: str, reason: str, log: Path) -> None:
        """Told at once; the others go on, and the command ends with 1."""
        self.failed.append(point)
        self.report(f"{point} failed: {reason}\n  log: {log}")


def folder_name(scale: str, engine: str) -> str:
    return f"{scale}-{engine}" if engine else scale


def repeat_command(request: Request) -> str:
    words = ["testbed", "reproduce", request.paper, "--scale", request.scale]
    for figure in request.figures:
        words += ["--figure", figure]
    if request.engine:
        words += ["--engine", request.engine]
    if request.seeds:
        words += ["--seeds", str(request.seeds)]
    if request.only_done:
        words += ["--only-done"]
    return " ".join(words)
