"""Points that are done, taken from rows, compared and lost; without Spark, which only does what is left."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import msgspec
import pandas
import pytest
from msgspec.structs import replace as replace_fields

from testbed.errors import InputError
from testbed.reproduction.checks import near
from testbed.reproduction.claim import Claim, Finding, judge, resting
from testbed.reproduction.collect import Found, Groups, whole
from testbed.reproduction.point import Point, computed
from testbed.reproduction.reading import Reading
from testbed.reproduction.reproduce import reproduce
from testbed.reproduction.request import Request
from testbed.reproduction.results import is_dirty
from testbed.reproduction.rows import KeptRows, Measured, points_table, read_table, table_of, write_table
from testbed.reproduction.study import Ask, Case, Part, Scale, Study
from testbed.sweep.computation import Computation
from testbed.sweep.point import Done, Task
from testbed.sweep.wanted import Wanted

FUNCTION = "experiments.shadow_tco.computations:law"  # never called here


def point(system: str, seed: int, **settings: float) -> Point:
    labels = {"system": system, "seed": seed}
    return computed("sizes", f"{system}-{seed}", FUNCTION, {"system": system, **settings}, seed, labels)


def found_all(ask: Ask[None], found: Found) -> list[Case]:
    claim: Claim[Found] = Claim("C1", "1", "ten", "2", "10", lambda f: near(f.table("t").y.mean(), 10, 1))
    return [Case([claim], found, "here", rests_on=() if found.measured else ("every point",))]


def study(groups: Groups) -> Study:
    part = Part({"smoke": Scale(None), "full": Scale(None)}, ("1", "2"), lambda ask: groups, found_all)
    return Study("tiny", "nobody", [part])


def leave(folder: Path, points: list[Point], commit: str = "c" * 40) -> None:
    """As a reproduction leaves it, of a point with two rows each."""
    rows = [{**p.labels, "x": x, "y": 10.0 + 0.1 * x + p.seed / 3} for p in points for x in (0, 1)]
    (folder / "tables").mkdir(parents=True)
    write_table(folder / "tables" / "t.csv", table_of(rows))
    points_table([Measured(p, {}, commit, p.code) for p in points], []).to_csv(
        folder / "points.csv", index=False
    )


def request(results: Path, **more: object) -> Request:
    return Request("tiny", "smoke", results, report=lambda line: None, master="no such master", **more)  # type: ignore[arg-type]


def test_a_fresh_folder_goes_on_from_rows_alone(tmp_path: Path) -> None:
    points = [point(system, seed) for system in ("a", "b") for seed in (1, 2)]
    leave(tmp_path / "tiny" / "smoke", points)
    before = (tmp_path / "tiny" / "smoke" / "tables" / "t.csv").read_bytes()
    said: list[str] = []
    verdicts = reproduce(study({"all": points}), replace(request(tmp_path), report=said.append))
    assert [v.outcome for v in verdicts] == ["pass"]
    assert said == [f"4 points are taken from the rows in {tmp_path / 'tiny' / 'smoke'} (commit {'c' * 12})"]
    assert (tmp_path / "tiny" / "smoke" / "tables" / "t.csv").read_bytes() == before
    assert set(pandas.read_csv(tmp_path / "tiny" / "smoke" / "points.csv").commit) == {"c" * 40}


def test_the_manifest_names_the_commits_of_all_rows(tmp_path: Path) -> None:
    """Of those that nobody asked for this time too: they are in the tables. This commit is none of them."""
    folder = tmp_path / "tiny" / "smoke"
    points = [point("a", seed) for seed in (1, 2, 3, 4)]
    leave(folder, points)
    table = pandas.read_csv(folder / "points.csv", dtype=str)
    table.assign(commit=["d" * 40, "c" * 40, "c" * 40, ""]).to_csv(folder / "points.csv", index=False)
    reproduce(study({"all": points[1:]}), request(tmp_path))
    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert manifest["row_commits"] == ["c" * 40, "d" * 40, "unknown"]
    assert manifest["commit"] not in manifest["row_commits"]


@pytest.mark.parametrize(
    "other", [point("a", 2), point("a", 1, rate=2.0), replace(point("a", 1), set="others")]
)
def test_another_seed_setting_or_set_has_no_rows(tmp_path: Path, other: Point) -> None:
    leave(tmp_path, [point("a", 1)])
    kept = KeptRows(tmp_path, (("system", "seed"),))
    assert kept.find(point("a", 1)) is not None
    assert kept.find(other, any_code=True) is None


def test_rows_of_other_code_are_for_those_who_start_nothing(tmp_path: Path) -> None:
    one = point("a", 1)
    leave(tmp_path, [one])
    table = pandas.read_csv(tmp_path / "points.csv").assign(code="of before")
    table.to_csv(tmp_path / "points.csv", index=False)
    kept = KeptRows(tmp_path, (("system", "seed"),))
    assert kept.find(one) is None
    there = kept.find(one, any_code=True)
    assert there is not None
    assert [row["y"] for row in there.rows["t"]] == pytest.approx([10 + 1 / 3, 10.1 + 1 / 3])


def test_rows_keep_the_code_that_made_them(tmp_path: Path) -> None:
    """To judge what other code computed does not make it this code's."""
    folder = tmp_path / "tiny" / "smoke"
    leave(folder, [point("a", 1)])
    table = pandas.read_csv(folder / "points.csv").assign(code="of before")
    table.to_csv(folder / "points.csv", index=False)
    old = replace(point("b", 1), what=replace_fields(point("b", 1).what, code="older"))
    computed_by_a_sweep(folder / "runs", old)
    [verdict] = reproduce(study({"all": [point("a", 1), point("b", 1)]}), request(tmp_path, only_done=True))
    assert verdict.outcome == "pass"
    known = pandas.read_csv(folder / "points.csv", keep_default_na=False).set_index("point")
    assert dict(known.code) == {"a-1": "of before", "b-1": "older"}
    assert dict(known.commit) == {"a-1": "c" * 40, "b-1": ""}


def test_a_part_of_the_figures_leaves_the_rows_of_other_points(tmp_path: Path) -> None:
    folder = tmp_path / "tiny" / "smoke"
    leave(folder, [point("a", 1), point("b", 1)])
    reproduce(study({"all": [point("b", 1)]}), request(tmp_path, figures=("1",)))
    assert list(read_table(folder / "tables" / "t.csv").system) == ["b", "b", "a", "a"]
    assert set(pandas.read_csv(folder / "points.csv").point) == {"a-1", "b-1"}


def test_nothing_done_and_nothing_started_takes_nothing_away(tmp_path: Path) -> None:
    folder = tmp_path / "tiny" / "smoke"
    leave(folder, [point("a", 1, rate=1.0)])
    before = {p.name: p.read_bytes() for p in folder.rglob("*.csv")}
    [verdict] = reproduce(study({"all": [point("a", 1, rate=2.0)]}), request(tmp_path, only_done=True))
    assert (verdict.outcome, verdict.reason) == ("unknown", "rests on what failed: every point; here")
    assert {p.name: p.read_bytes() for p in folder.rglob("*.csv")} == before
    assert json.loads((folder / "manifest.json").read_bytes())["planned"] == 1


def test_systems_that_are_compared_have_the_same_seeds() -> None:
    """Of a set that was cut short, a seed is taken for a group when all its points have it."""
    all_ = [point(system, seed) for system in ("a", "b") for seed in (1, 2, 3)]
    done = {"a-1", "a-2", "a-3", "b-1", "b-2"}
    taken = whole({"all": all_}, lambda p: p.id in done)
    assert [p.id for p in taken] == ["a-1", "a-2", "b-1", "b-2"]
    assert [p.id for p in whole({"all": all_}, lambda p: p.id[0] == "a")] == ["a-1", "a-2", "a-3"]
    assert whole({"all": all_}, lambda p: p.id == "a-1") == []


def test_all_that_is_done_is_written_and_only_what_can_be_compared_is_judged(tmp_path: Path) -> None:
    """A set that was stopped: its rows are for the clone that goes on."""
    all_ = [point(system, seed) for system in ("a", "b") for seed in (1, 2)]
    folder = tmp_path / "tiny" / "smoke"
    for one in all_[:3]:
        computed_by_a_sweep(folder / "runs", one)
    seen: list[int] = []

    def cases(ask: Ask[None], found: Found) -> list[Case]:
        seen.extend(found.table("t").seed)
        return []

    part = Part({"smoke": Scale(None)}, ("1",), lambda ask: {"all": all_}, cases)
    reproduce(Study("tiny", "nobody", [part]), request(tmp_path, only_done=True))
    assert seen == [1, 1]
    assert list(read_table(folder / "tables" / "t.csv").seed) == [1, 1, 2]
    assert set(pandas.read_csv(folder / "points.csv").point) == {"a-1", "a-2", "b-1"}


def computed_by_a_sweep(runs: Path, one: Point) -> None:
    """As its process leaves it."""
    place = runs / one.set / "points" / one.id
    assert isinstance(one.what, Computation)
    Wanted(Task(one.id, "", "", "", 0, {}), one.what).prepare(place)
    (place / "tables").mkdir()
    pandas.DataFrame({"y": [10.0]}).to_parquet(place / "tables" / "t.parquet")
    shutil.copy(place / "computation.json", place / "tables" / "computation.json")
    (place / "done.json").write_bytes(msgspec.json.encode(Done(one.id, 0, "tables", "", 1.0)))


def test_one_thing_that_is_done_may_stand_under_two_labels(tmp_path: Path) -> None:
    """A variant of a setting may be the setting itself."""
    one = point("a", 1)
    twice = [replace(one, labels={"variant": name, **one.labels}) for name in ("ours", "60 per minute")]
    leave(tmp_path / "tiny" / "smoke", twice)
    reproduce(study({"ours": twice[:1], "varied": twice[1:]}), request(tmp_path))
    table = read_table(tmp_path / "tiny" / "smoke" / "tables" / "t.csv")
    assert list(table.variant) == ["ours", "ours", "60 per minute", "60 per minute"]
    assert len(pandas.read_csv(tmp_path / "tiny" / "smoke" / "points.csv")) == 1


def test_what_is_judged_is_what_is_written(tmp_path: Path) -> None:
    rows = [{"a": 1 / 3, "b": None, "c": "", "d": 2}, {"a": 2e-7 / 3, "b": None, "c": "x", "d": 3}]
    made = table_of(rows)
    write_table(tmp_path / "t.csv", made)
    pandas.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), made)


# ---------------------------------------------------------------- readings and figures


def test_a_reading_is_declared_once_with_one_of_its_choices() -> None:
    good = Reading("r", "?", ("a", "b"), "a", "why")
    with pytest.raises(ValueError, match="none of its choices"):
        replace(good, default="c")
    claim: Claim[None] = Claim("C1", "1", "s", "2", "x", lambda _: Finding(None, ""), ("other",))
    with pytest.raises(ValueError, match="'other', which nobody declared"):
        Study("tiny", "nobody", [], [good], [claim])
    with pytest.raises(ValueError, match="declared twice"):
        Study("tiny", "nobody", [], [good, good])


def test_a_claim_by_which_a_reading_was_chosen_is_not_confirmed_by_it() -> None:
    claims: list[Claim[float]] = resting(
        [Claim(name, "1", "s", "2", "x", lambda y: near(y, 1, 1)) for name in ("C1", "C2-zipf")],
        {"r": ("C1", "C2"), "s": ("C2",)},
    )
    chosen = Reading("r", "?", ("a", "b"), "a", "it gives 1", calibrated_on=("C1",))
    first, second = judge(claims, 1.0, "here", [chosen])
    assert (first.outcome, first.measured) == ("unknown", "1")
    assert first.reason == "within 1; the reading r was chosen by what it gives here; here"
    assert (second.outcome, second.readings) == ("pass", ["r", "s"])


def test_a_figure_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="tiny has no figure '3'"):
        reproduce(study({}), request(tmp_path, figures=("3",)))
    assert list(tmp_path.iterdir()) == []


def test_only_done_where_nothing_is_done_writes_nothing_and_says_what_there_is(tmp_path: Path) -> None:
    asked = request(tmp_path, only_done=True)
    (asked.folder.parent / "full").mkdir(parents=True)
    (asked.folder.parent / "full" / "points.csv").write_text("set,point\n")
    with pytest.raises(InputError, match="is done at this scale") as caught:
        reproduce(study({"all": [point("a", 1)]}), asked)
    assert "full" in str(caught.value.hint)
    assert not asked.folder.exists()


def test_only_done_leaves_a_manifest_as_it_was_while_nothing_is_judged_otherwise(tmp_path: Path) -> None:
    """What ran, when and for how long is not told anew by who only looks."""
    points = [point("a", 1)]
    folder = tmp_path / "tiny" / "smoke"
    leave(folder, points)
    reproduce(study({"all": points}), request(tmp_path))
    manifest = json.loads((folder / "manifest.json").read_bytes()) | {
        "commit": "c" * 40,
        "wall_seconds": 77.7,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    reproduce(study({"all": points}), request(tmp_path, only_done=True))
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    (folder / "verdicts.json").write_text("[]\n")  # as if other checks had judged
    reproduce(study({"all": points}), request(tmp_path, only_done=True))
    now = json.loads((folder / "manifest.json").read_bytes())
    assert (now["commit"], now["wall_seconds"], now["command"]) == ("c" * 40, 77.7, manifest["command"])
    assert now["judged"]["command"].endswith("--only-done")


def test_results_that_are_being_written_make_no_checkout_dirty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*words: str) -> str:
        who = ["-c", "user.name=n", "-c", "user.email=e"]
        done = subprocess.run(["git", *who, *words], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    (tmp_path / "results").mkdir()
    for name in ("code.py", "results/table.csv"):
        (tmp_path / name).write_text("1")
    run("init", "-q")
    run("add", ".")
    run("commit", "-qm", "all")
    monkeypatch.setattr("testbed.reproduction.results.git", run)
    (tmp_path / "results" / "table.csv").write_text("2")
    assert not is_dirty(tmp_path / "results")
    assert is_dirty(tmp_path / "elsewhere")
    (tmp_path / "code.py").write_text("2")
    assert is_dirty(tmp_path / "results")


def test_rows_of_points_with_more_labels_than_others_are_found(tmp_path: Path) -> None:
    """A point that stands for a part of another one has that one's labels and one more."""
    whole_one = point("a", 1)
    part_of_it = replace(point("a", 1, first=5.0), id="a-1-5", labels={**whole_one.labels, "first": 5})
    folder = tmp_path / "tiny" / "smoke"
    leave(folder, [whole_one])
    rows = [{**part_of_it.labels, "z": 3.0}]
    write_table(folder / "tables" / "u.csv", table_of(rows))
    made = [Measured(p, {}, "c" * 40, p.code) for p in (whole_one, part_of_it)]
    points_table(made, []).to_csv(folder / "points.csv", index=False)
    kept = KeptRows(folder, tuple(tuple(p.labels) for p in (whole_one, part_of_it)))
    found = [kept.find(p) for p in (whole_one, part_of_it)]
    assert [sorted(one.rows) for one in found if one is not None] == [["t"], ["u"]]
