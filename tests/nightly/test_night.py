"""Nights with real reproductions where they are quick, and around them history, budget and retention."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas
import pytest

from testbed.cli.app import main
from testbed.errors import InputError
from testbed.nightly import night as nights
from testbed.nightly.choice import Choice, Reproduction, read_choice
from testbed.nightly.history import Row, append_history, read_history
from testbed.nightly.judge import Comparison
from testbed.nightly.measures import failed_invariants
from testbed.nightly.night import Night, Ran, longest_waiting_first, run_night, tidy
from testbed.nightly.page import nightly_page

SMALL = """
reproductions:
  - paper: shadow-tco
    measures:
      - {table: rounds, column: average_degree, by: [popularity, system], better: lower}
"""


def nightly(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["nightly", *map(str, words)])
    return int(ended.value.code or 0)


@pytest.mark.slow
def test_two_nights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "set.yaml").write_text(SMALL)
    words = ("--set", tmp_path / "set.yaml", "--results", tmp_path, "--budget", "10m")
    assert nightly(*words) == 0
    history = read_history(tmp_path / "nightly" / "history.jsonl")
    rounds = pandas.read_parquet(next(tmp_path.glob("**/shadow_tco/**/tables/rounds.parquet")))
    pairs = rounds.dropna(subset="average_degree").groupby(["popularity", "system"]).ngroups
    assert len({r.measure for r in history if not r.claim and not r.seconds}) == pairs >= 9
    assert any(r.claim for r in history)
    spoil(tmp_path / "nightly" / "history.jsonl")
    capsys.readouterr()
    assert nightly(*words) == 1
    told = capsys.readouterr().out
    assert "worse: shadow-tco/smoke: rounds.average_degree popularity=uniform system=naive" in told
    page = (tmp_path / "nightly" / "index.html").read_text()
    assert "something is wrong" in page
    for link in set(re.findall(r'<a href="([^"#]+)"', page)):
        assert (tmp_path / "nightly" / link).exists()


def spoil(path: Path) -> None:
    """Two earlier nights in which the naive system was twice as good."""
    rows = [r for r in read_history(path) if "uniform system=naive" in r.measure]
    path.write_bytes(b"")
    for at in ("20200101T030000", "20200102T030000"):
        append_history(path, [Row(at, r.reproduction, r.measure, r.value / 2, r.seed) for r in rows])


def test_the_default_set_names_papers_and_columns_that_exist() -> None:
    from testbed.figures.papers import papers

    for reproduction in read_choice().reproductions:
        assert reproduction.paper in papers()
        assert reproduction.measures


def test_a_wrong_set_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "set.yaml"
    path.write_text("reproductions: [{paper: x, scale: huge}]")
    with pytest.raises(InputError, match=r"reproductions\.0\.scale"):
        read_choice(path)
    assert nightly("--set", path) == 2
    assert nightly("--set", tmp_path / "none.yaml") == 2
    assert nightly("--budget", "soon") == 2


def test_no_time_left_is_said_and_no_failure(tmp_path: Path) -> None:
    choice = Choice(reproductions=(Reproduction(paper="shadow-tco"),))
    append_history(
        tmp_path / "history.jsonl",
        [Row("20260101T030000", "shadow-tco/smoke", "wall time", 100, seconds=True)],
    )
    said: list[str] = []
    night = run_night(tmp_path, choice, 60, said.append)
    assert [r.state for r in night.ran] == ["not started"]
    assert night.code == 0
    assert said == ["shadow-tco/smoke: not started 60 s left"]


def test_a_reproduction_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    state, detail = nights.reproduce(Reproduction(paper="shadow-tco", scale="full"), tmp_path, 1.0)
    assert state == "out of time"
    assert "shadow-tco-full.log" in detail


def test_a_reproduction_that_fails(tmp_path: Path) -> None:
    choice = Choice(reproductions=(Reproduction(paper="no-such-paper"),))
    night = run_night(tmp_path, choice, 600, lambda line: None)
    assert night.ran[0].state == "failed"
    assert "code 2" in night.ran[0].detail
    assert night.code == 1


def test_who_waited_longest_comes_first() -> None:
    a, b, c = (Reproduction(paper=name) for name in "abc")
    history = [Row("20260102", "a/smoke", "m", 1), Row("20260101", "b/smoke", "m", 1)]
    assert longest_waiting_first([a, b, c], history) == [c, b, a]


def test_exit_code() -> None:
    assert Night("n", [Ran("p", "done")], [Comparison("p", "m", "better")]).code == 0
    assert Night("n", [Ran("p", "done")], [Comparison("p", "m", "worse")]).code == 1
    assert Night("n", [Ran("p", "done", invariants=("no missing delivery",))]).code == 1
    assert Night("n", [Ran("p", "out of time")]).code == 0


def test_failed_invariants_of_the_runs_below(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "sweep" / "points" / "p1" / "run1"
    run.mkdir(parents=True)
    checks = [{"name": "no missing delivery", "verdict": "fail", "reason": "3 pairs"}]
    (run / "verdicts.json").write_text(json.dumps([*checks, {"name": "x", "verdict": "pass", "reason": ""}]))
    (run / "plan.json").write_text("{}")
    assert failed_invariants(tmp_path) == ["run1: no missing delivery: 3 pairs"]


def test_a_torn_history(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    append_history(path, [Row("n1", "p", "m", 1.0)])
    with path.open("ab") as file:
        file.write(b'{"night":"n2","repro')
    append_history(path, [Row("n3", "p", "m", 2.0)])
    assert [r.night for r in read_history(path)] == ["n1", "n3"]


def test_retention(tmp_path: Path) -> None:
    for name in ("20260101T030000", "20260102T030000", "20260103T030000", "mine"):
        (tmp_path / name).mkdir()
    (tmp_path / "history.jsonl").write_text("")
    assert tidy(tmp_path, 2) == ["20260101T030000"]
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "20260102T030000", "20260103T030000", "history.jsonl", "mine",
    ]  # fmt: skip
    assert tidy(tmp_path, 5) == []


def test_page_shows_the_course_of_what_changed() -> None:
    history = [Row(f"2026010{n}T030000", "p", "delay <ms>", 10.0 + n, 1) for n in range(1, 5)]
    night = Night("x", [Ran("p", "done")], [Comparison("p", "delay <ms>", "worse", 12, 14, 1, 3, 1, 3)])
    page = nightly_page(night, history)
    assert page.count("<figure>") == 1
    assert "delay &lt;ms&gt;" in page
    assert "delay <ms>" not in page
