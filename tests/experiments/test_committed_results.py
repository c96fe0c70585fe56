"""The committed results are what their tables say: every claim is judged again from the committed rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from testbed.reproduction.claim import judge, undecided
from testbed.reproduction.collect import Collector, Groups, points_of
from testbed.reproduction.papers import study_of
from testbed.reproduction.reading import Reading
from testbed.reproduction.reproduce import ask_of
from testbed.reproduction.request import Request
from testbed.reproduction.results import git
from testbed.reproduction.rows import KeptRows
from testbed.reproduction.study import Case, Part
from testbed.reproduction.verdict import Verdict, read_verdicts
from testbed.reproduction.workshop import Workshop
from testbed.sweep.run import Effort

RESULTS = Path(__file__).parents[2] / "results"
TIMED = {"G15", "G15-linear"}  # measured while it is judged
OURS = {"G19"}  # counts the lines of our own code, which go on changing
FOLDERS = [  # folder, paper, part, scale, engine, seeds
    ("pop_grape/full-guest", "pop-grape", 0, "full", "guest", 1),
    ("pop_grape/full-simulate", "pop-grape", 0, "full", "simulate", 3),
    ("pop_grape/full-simulate-sensitivity", "pop-grape", 1, "full", "simulate", 1),
    ("pop_grape/full-simulate-readings", "pop-grape", 3, "full", "simulate", 3),
    ("pop_grape/full-simulate-loaded", "pop-grape", 4, "full", "simulate", 1),
    ("pop_grape/smoke-state", "pop-grape", 5, "smoke", "", 1),
    ("pop_grape/full-guest-memory", "pop-grape", 2, "full", "guest", 1),
    ("shadow_tco/full", "shadow-tco", 0, "full", "", 5),
    ("shadow_tco/full-emulated", "shadow-tco", 1, "full", "", 1),
    ("shadow_tco/full-sensitivity", "shadow-tco", 2, "full", "", 1),
    ("shadow_tco/full-larger", "shadow-tco", 3, "full", "", 1),
    ("shadow_tco/smoke-guest-emulated", "shadow-tco", 1, "smoke", "guest", 1),
    ("ci/full", "ci", 0, "full", "", 25),
    ("ci/smoke-emulated", "ci", 3, "smoke", "", 1),
    ("dynatops/full", "dynatops", 0, "full", "", 5),
    ("dynatops/full-simulate-emulated", "dynatops", 3, "full", "simulate", 1),
    ("tamara/full", "tamara", 0, "full", "", 5),
    ("tamara/full-sensitivity", "tamara", 1, "full", "", 1),
    ("tamara/full-trees", "tamara", 2, "full", "", 2),
    ("tamara/full-checkpoint", "tamara", 3, "full", "", 1),
    ("tamara/full-emulated", "tamara", 4, "full", "", 1),
]
# Points that are planned, that have rows of this code, and that have rows of any code. A reproduction takes
# the second from the rows and does the rest again; `--only-done` judges the third.
POINTS = {
    "pop_grape/full-guest": (28, 28, 28),
    "pop_grape/full-simulate": (255, 255, 255),
    "pop_grape/full-simulate-sensitivity": (68, 68, 68),
    "pop_grape/full-simulate-readings": (192, 125, 125),  # four variants with one seed
    "pop_grape/full-simulate-loaded": (20, 4, 4),  # one matching time of five
    "pop_grape/smoke-state": (4, 0, 4),  # computed by an older text of the code
    "pop_grape/full-guest-memory": (4, 3, 3),  # nobody made that of delay100
    "shadow_tco/full": (315, 3, 3),  # five seeds of each law, and LOW-ODA at every round: a seed of each
    "shadow_tco/full-emulated": (6, 6, 6),
    "shadow_tco/full-sensitivity": (27, 0, 27),  # computed by an older text of the code
    "shadow_tco/full-larger": (14, 11, 11),  # the guest's three runs are not made yet
    "shadow_tco/smoke-guest-emulated": (3, 3, 3),
    "ci/smoke-emulated": (4, 4, 4),
    "ci/full": (150, 22, 22),  # figure 4 of 18 and 3 networks by law, figure 5 of one
    "dynatops/full": (225, 0, 6),  # computed by an older text of the code: some of the Poisson model
    "dynatops/full-simulate-emulated": (1, 1, 1),
    "tamara/full-trees": (6, 0, 6),  # computed by an older text of the code
    "tamara/full": (85, 51, 85),  # 34 computed by an older text of the code
    "tamara/full-sensitivity": (14, 14, 14),
    "tamara/full-checkpoint": (1, 0, 1),  # computed by an older text of the code
    "tamara/full-emulated": (4, 2, 2),  # keep-alives batched are not run yet
}


def request_of(paper: str, scale: str, engine: str, seeds: int) -> Request:
    return Request(paper, scale, RESULTS, (), engine, seeds, lambda line: None, only_done=True)  # type: ignore[arg-type]


def kept_rows(folder: Path, groups: Groups) -> KeptRows:
    return KeptRows(folder, tuple(dict.fromkeys(tuple(point.labels) for point in points_of(groups))))


def judged_again(folder: Path, paper: str, number: int, request: Request) -> list[Verdict]:
    """As `testbed reproduce --only-done` would, without drawing and writing; of a set that is not whole, what
    there is of it."""
    study = study_of(paper)
    part: Part[object] = study.parts[number]
    ask = ask_of(part, request)
    groups = part.points(ask)
    shop = Workshop(folder / "runs", request, Effort())
    found = Collector(shop, kept_rows(folder, groups), part.measures, False, "").collect(groups)
    assert len(found.measured) + len(found.unjudged) == POINTS[f"{folder.parent.name}/{folder.name}"][2]
    return [verdict for case in part.cases(ask, found) for verdict in _verdicts(case, study.readings)]


def _verdicts(case: Case, readings: Sequence[Reading]) -> list[Verdict]:
    if case.rests_on:
        return undecided(case.claims, case.rests_on, case.provenance)
    return judge(case.claims, case.data, case.provenance, readings)


@pytest.mark.parametrize(("where", "paper", "part", "scale", "engine", "seeds"), FOLDERS)
def test_the_verdicts_are_those_of_the_tables(
    where: str, paper: str, part: int, scale: str, engine: str, seeds: int
) -> None:
    folder = RESULTS / where
    again = judged_again(folder, paper, part, request_of(paper, scale, engine, seeds))
    committed = read_verdicts(folder / "verdicts.json")
    assert [v.claim for v in again] == [v.claim for v in committed]
    for now, before in zip(again, committed, strict=True):
        measured = now.measured if now.claim not in TIMED | OURS else before.measured
        told = (now.outcome, measured, now.reason, now.readings)
        assert told == (before.outcome, before.measured, before.reason, before.readings), now.claim


@pytest.mark.parametrize(("where", "paper", "number", "scale", "engine", "seeds"), FOLDERS)
def test_how_many_points_have_rows_is_known(
    where: str, paper: str, number: int, scale: str, engine: str, seeds: int
) -> None:
    part: Part[object] = study_of(paper).parts[number]
    groups = part.points(ask_of(part, request_of(paper, scale, engine, seeds)))
    points, kept = points_of(groups), kept_rows(RESULTS / where, groups)
    of_this_code = sum(kept.find(point) is not None for point in points)
    of_any_code = sum(kept.find(point, any_code=True) is not None for point in points)
    assert (len(points), of_this_code, of_any_code) == POINTS[where]


def test_the_points_of_every_committed_folder_are_counted() -> None:
    """What a clone without git has beside them is its own affair."""
    files = [Path(file) for file in git("ls-files", "--full-name", str(RESULTS)).splitlines()]
    folders = {str(f.parent.relative_to("results")) for f in files if f.name == "manifest.json"}
    assert not files or folders == set(POINTS)


def test_tables_and_figures_are_there_once() -> None:
    endings = {p.suffix for kind in ("tables", "figures") for p in RESULTS.glob(f"*/*/{kind}/*")}
    assert endings == {".csv", ".svg"}


def test_every_run_says_which_commit_made_it() -> None:
    for path in RESULTS.glob("*/*/runs.json"):
        assert all(len(run["commit"]) == 40 for run in json.loads(path.read_bytes())), path
