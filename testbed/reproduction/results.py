"""The folder that a reproduction leaves.

results/<paper>/<scale>/, or <scale>-<engine>/ when an engine was asked for: provenances are not mixed
  manifest.json  what ran, from which commit, from rows of which commits, with which seeds, and the command
                 that repeats it; `--only-done` runs nothing and leaves that as it was: `judged` says by which
                 commit the verdicts are, when they are not the same any more
  points.csv     what each finished point is: a later reproduction takes its rows instead of doing it again
  runs.json      manifests of the runs
  tables/<name>.csv      figures/<id>.svg      verdicts.json
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
from typing import Any

import pandas

from testbed.reproduction.collect import Found, tables_of
from testbed.reproduction.figures.page import Page, draw_page
from testbed.reproduction.figures.plot import Figure, draw
from testbed.reproduction.request import Request, repeat_command
from testbed.reproduction.rows import FILE, RECORDS, KeptRows, points_table, table_of, write_table
from testbed.reproduction.verdict import Verdict, write_verdicts
from testbed.run.folder import write_atomically

UNKNOWN = "unknown"  # the commit of a point that nobody wrote down
DOING = ("figures", "command", "commit", "dirty", "started", "wall_seconds", "python", "versions")


def folder_of(request: Request, part: str) -> Path:
    base = request.folder
    return base.with_name(f"{base.name}-{part}") if part else base


def is_begun(folder: Path) -> bool:
    """Whether there is anything to judge in it: rows of points, or points."""
    return (folder / FILE).exists() or (folder / "runs").is_dir()


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
    row_commits: list[str] = field(default_factory=list)  # that made the points in the tables

    def __post_init__(self) -> None:
        self.path = folder_of(self.request, self.part)
        self._made: set[Path] = set()
        (self.path / "tables").mkdir(parents=True, exist_ok=True)
        self._before = read(self.path / "manifest.json"), read(self.path / "verdicts.json")
        (self.path / "manifest.json").unlink(missing_ok=True)

    def rows(self, found: Found, kept: KeptRows, tables: Sequence[str] = ()) -> None:
        """The rows of all points that are done, those that nobody asked for this time among them."""
        done = [*found.measured, *found.unjudged]
        replaced = [one.point for one in done] if self.request.only_done else found.asked
        asked, made = {point.row_key for point in replaced}, tables_of(done)
        others = {name: kept.others(asked, name) for name in dict.fromkeys([*made, *kept.names()])}
        points = points_table(done, kept.other_points(replaced))
        records = [*(one.record for one in done if one.record), *kept.other_records(asked)]
        for name, rest in others.items():
            own = made.get(name, pandas.DataFrame())
            if (not tables or name in tables) and (len(own) or rest):
                self.table(name, pandas.concat([own, table_of(rest)], ignore_index=True) if rest else own)
        self.row_commits = sorted({commit or UNKNOWN for commit in points.commit})
        if len(points):
            points.to_csv(self.path / FILE, index=False)
        if records:
            write_atomically(self.path / RECORDS, (json.dumps(records, indent=1) + "\n").encode())

    def table(self, name: str, frame: pandas.DataFrame) -> None:
        file = self.path / "tables" / f"{name}.csv"
        write_table(file, frame)
        self._made.add(file)

    def asked(self, figure: str) -> bool:
        """Whether a drawn figure of this id was asked for."""
        return self.whole or self.request.wants(self.figure_of(figure))

    def figure(self, figure: Figure | Page) -> None:
        folder = self.path / "figures"
        self._made.add(draw_page(figure, folder) if isinstance(figure, Page) else draw(figure, folder))

    def close(self, verdicts: Sequence[Verdict]) -> None:
        self._remove_old()
        write_verdicts(self.path / "verdicts.json", list(verdicts))
        manifest = self._manifest()
        if self.request.only_done and self._before[0]:
            manifest = self._judged(manifest, json.loads(self._before[0]))
        write_atomically(self.path / "manifest.json", (json.dumps(manifest, indent=1) + "\n").encode())

    def _manifest(self) -> dict[str, Any]:
        return {
            "paper": self.request.paper,
            "scale": self.request.scale,
            "figures": list(self.request.figures) or "all",
            "engine": self.request.engine,
            "command": repeat_command(self.request),
            "commit": git("rev-parse", "HEAD"),
            "row_commits": self.row_commits,
            "dirty": is_dirty(self.request.results),
            "started": datetime.fromtimestamp(self.started, UTC).isoformat(timespec="seconds"),
            "wall_seconds": round(time.time() - self.started, 1),
            "python": platform.python_version(),
            "versions": {name: version(name) for name in ("numpy", "pandas", "matplotlib")},
            **self.extra,
        }

    def _judged(self, now: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
        """What was done stays told as it was done; nothing was done now but to judge it."""
        made = now | {key: before[key] for key in DOING if key in before}
        judged = {key: now[key] for key in ("command", "commit", "dirty")}
        same = read(self.path / "verdicts.json") == self._before[1] and made == without(before, "judged")
        return before if same else made | {"judged": judged}

    def _remove_old(self) -> None:
        """What an earlier reproduction made and this one did not, though asked: a picture of other runs would
        stand beside these verdicts. Figures that were not asked for stay."""
        whole = self.whole or not self.request.figures
        tables = [] if self.request.only_done else (self.path / "tables").glob("*")
        for file in [*(self.path / "figures").glob("*"), *tables]:
            asked = file.parent.name == "figures" and self.figure_of(file.stem) in self.request.figures
            if (whole or asked) and file.is_file() and file not in self._made:
                file.unlink()


def read(file: Path) -> bytes:
    return file.read_bytes() if file.exists() else b""


def without(mapping: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if name != key}


def is_dirty(results: Path) -> bool:
    """Whether what is checked out differs from its commit, beside the results that are being written."""
    top = git("rev-parse", "--show-toplevel")
    inside = top and results.resolve().is_relative_to(top)
    others = [f":(top,exclude){results.resolve().relative_to(top)}"] if inside else []
    return bool(git("status", "--porcelain", "--untracked-files=no", "--", ":(top)", *others))


def git(*arguments: str) -> str:
    """Output of git in the project, or "" outside a checkout."""
    root = Path(__file__).parent
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
