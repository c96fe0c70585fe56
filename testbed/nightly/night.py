"""One night: run what fits into the budget, measure, compare, keep, tidy."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from testbed.figures.reproduction import folder_name
from testbed.nightly.choice import Choice, Reproduction
from testbed.nightly.history import Row, append_history, read_history
from testbed.nightly.judge import Comparison, judge
from testbed.nightly.measures import failed_invariants, measured

State = Literal["done", "failed", "out of time", "not started"]
NIGHT = re.compile(r"\d{8}T\d{6}")
SPARE = 1.2  # a reproduction is not begun when its last time and a fifth would not fit
PATIENCE_S = 20.0  # between asking and forcing


@dataclass(frozen=True)
class Ran:
    name: str
    state: State
    seconds: float = 0.0
    folder: str = ""  # relative to the nightly folder
    invariants: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True)
class Night:
    id: str
    ran: list[Ran] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)

    @property
    def code(self) -> int:
        """1 for a regression, a failed invariant or a failed reproduction. No time left is no failure."""
        bad = any(r.state == "failed" or r.invariants for r in self.ran)
        return 1 if bad or any(c.regression for c in self.comparisons) else 0


Say = Callable[[str], None]


def run_night(folder: Path, choice: Choice, budget_s: float, say: Say, now: float | None = None) -> Night:
    """`folder` is results/nightly."""
    folder.mkdir(parents=True, exist_ok=True)
    history = read_history(folder / "history.jsonl")
    night = Night(time.strftime("%Y%m%dT%H%M%S", time.gmtime(now)))
    deadline = time.monotonic() + budget_s
    tonight: list[Row] = []
    for reproduction in longest_waiting_first(choice.reproductions, history):
        left = deadline - time.monotonic()
        ran, rows = _run_one(
            folder, reproduction, night.id, left, last_seconds(reproduction.name, history), say
        )
        say(f"{ran.name}: {ran.state} {ran.detail}".rstrip())
        night.ran.append(ran)
        tonight += rows
        append_history(folder / "history.jsonl", rows)
    night.comparisons.extend(judge(tonight, history, [r.name for r in night.ran if r.state == "done"]))
    return night


def longest_waiting_first(choice: Sequence[Reproduction], history: Sequence[Row]) -> list[Reproduction]:
    """So that a small budget still reaches all of them in turn."""
    last: dict[str, str] = {}
    for row in history:
        last[row.reproduction] = max(row.night, last.get(row.reproduction, ""))
    return sorted(choice, key=lambda r: last.get(r.name, ""))


def last_seconds(name: str, history: Sequence[Row]) -> float:
    took = [row for row in history if row.seconds and row.reproduction == name]
    return max(took, key=lambda row: row.night).value if took else 0.0


def _run_one(
    folder: Path, reproduction: Reproduction, night: str, left: float, expected: float, say: Say
) -> tuple[Ran, list[Row]]:
    if left < SPARE * expected or left <= 0:
        return Ran(reproduction.name, "not started", detail=f"{max(left, 0):.0f} s left"), []
    say(f"{reproduction.name}: started")
    begun = time.monotonic()
    state, detail = reproduce(reproduction, folder / night, left)
    seconds = time.monotonic() - begun
    name = folder_name(reproduction.scale, reproduction.engine)
    where = folder / night / reproduction.paper.replace("-", "_") / name
    if state != "done" or not (where / "manifest.json").exists():
        return Ran(reproduction.name, "failed" if state == "done" else state, seconds, detail=detail), []
    rows = measured(where, reproduction, night)
    rows.append(Row(night, reproduction.name, "wall time", seconds, seconds=True))
    bad = tuple(failed_invariants(where))
    return Ran(reproduction.name, "done", seconds, str(where.relative_to(folder)), bad), rows


def reproduce(reproduction: Reproduction, results: Path, timeout_s: float) -> tuple[State, str]:
    """In a process group of its own, so that all of it ends when the time is over."""
    results.mkdir(parents=True, exist_ok=True)
    start = [sys.executable, "-c", "from testbed.cli import main; main()", "reproduce"]
    log = results / f"{reproduction.name.replace('/', '-')}.log"
    with log.open("wb") as out:
        child = subprocess.Popen(
            [*start, *reproduction.words(), "--results", str(results)],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
        )  # fmt: skip
        try:
            code = child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            _end(child)
            return "out of time", f"after {timeout_s:.0f} s; see {log.name}"
        except BaseException:
            _end(child)
            raise
    return ("done", "") if code == 0 else ("failed", f"code {code}: {last_line(log)}")


def _end(child: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
            child.wait(PATIENCE_S)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue


def last_line(log: Path) -> str:
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"


def tidy(folder: Path, keep: int) -> list[str]:
    """Removes all but the newest `keep` nights; the history keeps their numbers."""
    nights = sorted(p.name for p in folder.iterdir() if p.is_dir() and NIGHT.fullmatch(p.name))
    old = nights[: max(0, len(nights) - keep)]
    for name in old:
        shutil.rmtree(folder / name)
    return old
