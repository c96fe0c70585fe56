"""One night: run what fits into the budget, measure, compare, keep, tidy."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from testbed.nightly.bounded_process import State, Tick, reproduce
from testbed.nightly.choice import Choice, Reproduction
from testbed.nightly.history import Row, append_history, read_history
from testbed.nightly.judge import Comparison, judge
from testbed.nightly.measures import failed_invariants, measured, result_folders
from testbed.nightly.unfinished import (
    Unfinished,
    commit_of_code,
    read_unfinished,
    take_over,
    write_unfinished,
)

NIGHT = re.compile(r"\d{8}T\d{6}")
SPARE = 1.2  # a reproduction is not begun when its last time and a fifth would not fit
AGAIN = 0.9  # one that was ended is begun anew only with about the time it had; less would end the same way
INTERRUPTED = 130


@dataclass(frozen=True)
class Ran:
    name: str
    state: State
    seconds: float = 0.0
    folders: tuple[str, ...] = ()  # relative to the nightly folder; the main one first
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
        if bad or any(c.regression for c in self.comparisons):
            return 1
        return INTERRUPTED if any(r.state == "interrupted" for r in self.ran) else 0


Say = Callable[[str], None]


@dataclass(frozen=True)
class Means:
    """What a night takes from outside."""

    reproduce: Callable[[Reproduction, Path, float, Tick], tuple[State, str]] = reproduce
    commit_of_code: Callable[[], str] = commit_of_code
    clock: Callable[[], float] = time.monotonic  # seconds


def run_night(
    folder: Path,
    choice: Choice,
    budget_s: float,
    say: Say,
    now: float | None = None,
    tick: Tick = lambda *_: None,
    means: Means | None = None,
) -> Night:
    """`folder` is results/nightly."""
    folder.mkdir(parents=True, exist_ok=True)
    history = read_history(folder / "history.jsonl")
    night = Night(time.strftime("%Y%m%dT%H%M%S", time.gmtime(now)))
    means = means or Means()
    deadline = means.clock() + budget_s
    shift = NightShift(folder, night.id, history, deadline, say, tick, means.commit_of_code(), means)
    tonight: list[Row] = []
    for reproduction in longest_waiting_first(choice.reproductions, history, shift.unfinished):
        ran, rows = shift.run(reproduction)
        say(f"{ran.name}: {ran.state}{f' in {ran.seconds:.0f} s' if ran.state == 'done' else ''}")
        if ran.detail:
            say(f"  {ran.detail}")
        night.ran.append(ran)
        tonight += rows
        append_history(folder / "history.jsonl", rows)
        if ran.state == "interrupted":
            break
    night.comparisons.extend(judge(tonight, history, [r.name for r in night.ran if r.state == "done"]))
    return night


def longest_waiting_first(
    choice: Sequence[Reproduction], history: Sequence[Row], unfinished: dict[str, Unfinished]
) -> list[Reproduction]:
    """So that a small budget reaches all of them in turn. A try that was ended was a turn, too; of one night,
    it comes before those that were done."""
    last = {name: one.night for name, one in unfinished.items()}
    for row in history:
        last[row.reproduction] = max(row.night, last.get(row.reproduction, ""))
    return sorted(choice, key=lambda r: (last.get(r.name, ""), r.name not in unfinished))


def last_seconds(name: str, history: Sequence[Row]) -> float:
    took = [row for row in history if row.seconds and row.reproduction == name]
    return max(took, key=lambda row: row.night).value if took else 0.0


@dataclass
class NightShift:
    """Reproductions one after the other, as long as the night's time lasts."""

    folder: Path
    night: str
    history: list[Row]
    deadline: float
    say: Say
    tick: Tick
    commit: str
    means: Means
    unfinished: dict[str, Unfinished] = field(init=False)

    def __post_init__(self) -> None:
        self.unfinished = read_unfinished(self.folder)

    def run(self, wanted: Reproduction) -> tuple[Ran, list[Row]]:
        left = self.deadline - self.means.clock()
        before = self.unfinished.get(wanted.name)
        goes_on = before is not None and (before.commit, before.words) == (self.commit, wanted.words())
        lacking = "" if goes_on and left > 0 else self._lacking(wanted, before, left)
        if lacking:
            return Ran(wanted.name, "not started", detail=lacking), []
        goes_on = take_over(self.folder, before, wanted, self.night, self.commit)
        how = f"goes on where {before.night} ended" if goes_on and before else "started"
        self.say(f"{wanted.name}: {how}, {left:.0f} s left")
        began = self.means.clock()
        root = self.folder / self.night / wanted.folder
        state, detail = self.means.reproduce(wanted, root, left, self.tick)
        seconds = self.means.clock() - began
        spent = seconds + (before.seconds if goes_on and before else 0.0)
        if state in ("out of time", "interrupted"):
            return self._keep(wanted, state, seconds, spent, detail), []
        if self.unfinished.pop(wanted.name, None):
            write_unfinished(self.folder, self.unfinished.values())
        folders = result_folders(root)
        if state != "done" or not folders:
            return Ran(wanted.name, "failed", seconds, detail=detail or "it left no results"), []
        return self._done(wanted, folders, spent)

    def _lacking(self, wanted: Reproduction, before: Unfinished | None, left: float) -> str:
        """Why there is not enough time to begin; empty when there is."""
        took = last_seconds(wanted.name, self.history)
        if left <= 0:
            return "no time left"
        if left < SPARE * took:
            return f"{left:.0f} s left; it took {took:.0f} s the last time"
        if before is not None and left < AGAIN * before.last_seconds:
            return f"{left:.0f} s left; {before.last_seconds:.0f} s did not do the last time"
        return ""

    def _keep(self, wanted: Reproduction, state: State, seconds: float, spent: float, detail: str) -> Ran:
        """Nothing of it is lost: the next night with the same code goes on from here."""
        self.unfinished[wanted.name] = Unfinished(
            wanted.name, self.night, wanted.words(), self.commit, spent, seconds
        )
        write_unfinished(self.folder, self.unfinished.values())
        said = "the next night goes on from here if the code is the same"
        if not self.commit:
            said = "the next night starts anew, for the code has no commit or changes to it"
        return Ran(wanted.name, state, seconds, detail=f"{detail}; {said}")

    def _done(self, wanted: Reproduction, folders: list[Path], spent: float) -> tuple[Ran, list[Row]]:
        rows = [row for where in folders for row in measured(where, wanted, self.night)]
        rows.append(Row(self.night, wanted.name, "wall time", spent, seconds=True))
        bad = tuple(line for where in folders for line in failed_invariants(where))
        names = tuple(str(where.relative_to(self.folder)) for where in folders)
        return Ran(wanted.name, "done", spent, names, bad), rows


def tidy(folder: Path, keep: int) -> list[str]:
    """Removes all but the newest `keep` nights; the history keeps their numbers."""
    nights = nights_in(folder)
    old = nights[: max(0, len(nights) - keep)]
    for name in old:
        shutil.rmtree(folder / name)
    return old


def nights_in(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if p.is_dir() and NIGHT.fullmatch(p.name))


def disk_use(folder: Path) -> int:
    """Bytes on the disk, as du counts them."""
    return sum(p.lstat().st_blocks * 512 for p in folder.rglob("*"))
