"""What `testbed reproduce` asks of an experiment, and the folder it leaves.

results/<paper>/<scale>/, or <scale>-<engine>/ when an engine was asked for: provenances are not mixed
  manifest.json  what ran, from which commit, with which seeds, and the command that repeats it
  tables/<name>.csv and .parquet      figures/<id>.svg and .png      verdicts.json
"""

from __future__ import annotations

import json
import platform
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import pandas

from testbed.figures.plot import Figure, draw
from testbed.figures.verdict import Verdict, write_verdicts
from testbed.run.folder import write_atomically

Scale = Literal["smoke", "full"]


@dataclass(frozen=True)
class Request:
    paper: str
    scale: Scale
    results: Path
    figures: tuple[str, ...] = ()  # empty = all
    engine: str = ""  # empty = what the experiment does by default
    seeds: int = 0  # 0 = the scale's default
    report: Callable[[str], None] = print
    master: str = "local[*]"  # where Spark runs
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


@dataclass
class ResultFolder:
    """Collects what one reproduction makes; `close` writes the manifest last, so its presence says done."""

    request: Request
    part: str = ""  # results that are kept apart, beside the others: <scale>-<part>
    whole: bool = False  # all figures of the folder are made, though the request names some
    figure_of: Callable[[str], str] = str  # from a drawn figure's id to the name that asks for it
    path: Path = field(init=False)
    started: float = field(default_factory=time.time)
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        base = self.request.folder
        self.path = base.with_name(f"{base.name}-{self.part}") if self.part else base
        self._made: set[Path] = set()
        (self.path / "tables").mkdir(parents=True, exist_ok=True)
        (self.path / "manifest.json").unlink(missing_ok=True)

    def table(self, name: str, frame: pandas.DataFrame) -> None:
        files = [self.path / "tables" / f"{name}.{kind}" for kind in ("csv", "parquet")]
        frame.to_csv(files[0], index=False, float_format="%.9g")
        frame.to_parquet(files[1], index=False)
        self._made.update(files)

    def figure(self, figure: Figure) -> None:
        self._made.update(draw(figure, self.path / "figures"))

    def close(self, verdicts: Sequence[Verdict]) -> None:
        self._remove_old()
        write_verdicts(self.path / "verdicts.json", list(verdicts))
        manifest = {
            "paper": self.request.paper,
            "scale": self.request.scale,
            "figures": list(self.request.figures) or "all",
            "engine": self.request.engine,
            "command": repeat_command(self.request),
            "commit": git("rev-parse", "HEAD"),
            "dirty": bool(git("status", "--porcelain", "--untracked-files=no")),
            "started": datetime.fromtimestamp(self.started, UTC).isoformat(timespec="seconds"),
            "wall_seconds": round(time.time() - self.started, 1),
            "python": platform.python_version(),
            "versions": {name: version(name) for name in ("numpy", "pandas", "matplotlib")},
            **self.extra,
        }
        write_atomically(self.path / "manifest.json", (json.dumps(manifest, indent=1) + "\n").encode())

    def _remove_old(self) -> None:
        """What an earlier reproduction made and this one did not, though asked: a picture of other runs would
        stand beside these verdicts. Figures that were not asked for stay."""
        whole = self.whole or not self.request.figures
        for file in [*(self.path / "figures").glob("*"), *(self.path / "tables").glob("*")]:
            asked = file.parent.name == "figures" and self.figure_of(file.stem) in self.request.figures
            if (whole or asked) and file.is_file() and file not in self._made:
                file.unlink()


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
    return " ".join(words)


def git(*arguments: str) -> str:
    """Output of git in the project, or "" outside a checkout."""
    root = Path(__file__).parent
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
