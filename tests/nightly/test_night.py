"""Nights with real reproductions where they are quick, and around them history, budget and retention."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas
import pytest

from testbed.cli.app import main
from testbed.cli.nightly import only_one
from testbed.errors import InputError
from testbed.nightly.bounded_process import State, reproduce
from testbed.nightly.choice import Choice, Reproduction, read_choice
from testbed.nightly.history import Row, append_history, read_history
from testbed.nightly.judge import Comparison
from testbed.nightly.measures import failed_invariants, result_folders
from testbed.nightly.night import Means, Night, Ran, longest_waiting_first, run_night, tidy
from testbed.nightly.page import nightly_page
from testbed.nightly.unfinished import Unfinished, read_unfinished, write_unfinished

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
@pytest.mark.spark
def test_two_nights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "set.yaml").write_text(SMALL)
    words = ("--set", tmp_path / "set.yaml", "--results", tmp_path, "--budget", "10m")
    assert nightly(*words) == 0
    history = read_history(tmp_path / "nightly" / "history.jsonl")
    rounds = pandas.read_csv(next(tmp_path.glob("**/shadow_tco/**/tables/rounds.csv")))
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
    from testbed.reproduction.papers import papers

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


def stopped() -> float:
    """A clock: no machine is so slow that some of the budget is gone."""
    return 0.0


def test_no_time_left_is_said_and_no_failure(tmp_path: Path) -> None:
    choice = Choice(reproductions=(Reproduction(paper="shadow-tco"),))
    append_history(
        tmp_path / "history.jsonl",
        [Row("20260101T030000", "shadow-tco/smoke", "wall time", 100, seconds=True)],
    )
    said: list[str] = []
    night = run_night(tmp_path, choice, 60, said.append, means=Means(clock=stopped))
    assert [r.state for r in night.ran] == ["not started"]
    assert night.code == 0
    assert said == ["shadow-tco/smoke: not started", "  60 s left; it took 100 s the last time"]


def test_a_reproduction_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    ticks: list[str] = []
    wanted = Reproduction(paper="shadow-tco", scale="full")
    state, detail = reproduce(wanted, tmp_path, 2.5, lambda name, seconds, line: ticks.append(line))
    assert state == "out of time"
    assert detail.startswith("ended after 2 s, at: ")
    assert ticks


PART = "pop_grape/smoke/part"


class Fake:
    """Stands for the reproduction's process: leaves a part, and is done when it finds one."""

    def __init__(self, *states: State, clock: Callable[[], float] = time.monotonic) -> None:
        self.states = list(states)
        self.found: list[bool] = []
        self.commit = "c0ffee"
        self.means = Means(self, lambda: self.commit, clock)

    def __call__(self, wanted: Reproduction, root: Path, left: float, tick: object) -> tuple[State, str]:
        state = self.states.pop(0)
        self.found.append((root / PART).exists())
        (root / PART).mkdir(parents=True, exist_ok=True)
        if state == "done":
            (root / PART).with_name("manifest.json").write_text('{"commit": "c0ffee"}')
            (root / PART).with_name("verdicts.json").write_text("[]")
        return state, "said"

    def night(self, folder: Path, at: float, *papers: str, budget_s: float = 600) -> Night:
        wanted = tuple(Reproduction(paper=paper) for paper in papers)
        choice = Choice(reproductions=wanted)
        return run_night(folder, choice, budget_s, lambda line: None, at * 86400, means=self.means)


def test_what_was_ended_goes_on_the_next_night(tmp_path: Path) -> None:
    fake = Fake("out of time", "out of time", "done")
    first = fake.night(tmp_path, 1, "pop-grape")
    assert first.code == 0
    assert "the next night goes on" in first.ran[0].detail
    assert [r.state for r in fake.night(tmp_path, 2, "pop-grape").ran] == ["out of time"]
    third = fake.night(tmp_path, 3, "pop-grape")
    assert fake.found == [False, True, True]
    assert third.ran[0].folders == ("19700104T000000/pop-grape-smoke/pop_grape/smoke",)
    assert (tmp_path / third.ran[0].folders[0] / "part").exists()
    assert read_unfinished(tmp_path) == {}
    assert not (tmp_path / "19700102T000000" / "pop-grape-smoke").exists()  # moved, not copied


@pytest.mark.parametrize("commit", ["another", ""])
def test_other_code_starts_anew(tmp_path: Path, commit: str) -> None:
    fake = Fake("out of time", "done")
    fake.night(tmp_path, 1, "pop-grape")
    fake.commit = commit
    fake.night(tmp_path, 2, "pop-grape")
    assert fake.found == [False, False]


def test_a_long_one_does_not_starve_the_others(tmp_path: Path) -> None:
    fake = Fake("out of time", "done", "done")
    fake.night(tmp_path, 1, "long")  # it used up all the time
    assert [r.name for r in fake.night(tmp_path, 2, "long", "short").ran] == ["short/smoke", "long/smoke"]


def test_of_one_night_what_was_ended_comes_before_what_was_done() -> None:
    done, ended = Reproduction(paper="done"), Reproduction(paper="ended")
    history = [Row("20260102", "done/smoke", "m", 1)]
    left = {"ended/smoke": Unfinished("ended/smoke", "20260102", [], "", 1.0, 1.0)}
    assert longest_waiting_first([done, ended], history, left) == [ended, done]


def test_with_other_code_it_is_begun_only_with_the_time_it_had(tmp_path: Path) -> None:
    fake = Fake(clock=stopped)
    old = Unfinished("long/smoke", "19700101T000000", ["long", "--scale", "smoke"], "old", 900.0, 500.0)
    write_unfinished(tmp_path, [old])
    (ran,) = fake.night(tmp_path, 2, "long", budget_s=300).ran
    assert (ran.state, ran.detail) == ("not started", "300 s left; 500 s did not do the last time")


def test_an_interrupted_night_keeps_what_is_done(tmp_path: Path) -> None:
    fake = Fake("done", "interrupted")
    night = fake.night(tmp_path, 1, "a", "b", "c")
    assert [(r.name, r.state) for r in night.ran] == [("a/smoke", "done"), ("b/smoke", "interrupted")]
    assert night.code == 130
    assert {row.reproduction for row in read_history(tmp_path / "history.jsonl")} == {"a/smoke"}
    assert list(read_unfinished(tmp_path)) == ["b/smoke"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_night_that_is_ended_leaves_nothing_running(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "set.yaml").write_text("reproductions: [{paper: shadow-tco, scale: full}]")
    words = ["nightly", "--set", str(tmp_path / "set.yaml"), "--results", str(tmp_path)]
    start = [sys.executable, "-c", "from testbed.cli import main; main()", *words]
    with subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as night:
        assert night.stderr is not None
        assert "shadow-tco/full: started" in night.stderr.readline()
        (child,) = children_of(night.pid)
        night.send_signal(number)
        out, _ = night.communicate(timeout=300)
    assert night.returncode == 130
    assert "interrupted: shadow-tco/full: ended after" in out
    assert not Path(f"/proc/{child}").exists()
    assert "interrupted" in (tmp_path / "nightly" / "index.html").read_text()
    assert list(read_unfinished(tmp_path / "nightly")) == ["shadow-tco/full"]


def children_of(pid: int) -> list[int]:
    """Waits for the first."""
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    while not (found := [int(word) for word in listed.read_text().split()]):
        time.sleep(0.01)
    return found


def test_one_night_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with only_one(tmp_path / "nightly"):
        assert nightly("--results", tmp_path) == 1
    assert "another night is running" in capsys.readouterr().err


def test_the_parts_of_a_reproduction_are_looked_at(tmp_path: Path) -> None:
    for name in ("smoke-emulated", "smoke"):
        (tmp_path / "shadow_tco" / name).mkdir(parents=True)
        (tmp_path / "shadow_tco" / name / "manifest.json").write_text("{}")
    assert [p.name for p in result_folders(tmp_path)] == ["smoke", "smoke-emulated"]
    page = nightly_page(Night("n", [Ran("s", "done", 5, ("n/s/x/smoke", "n/s/x/smoke-emulated"))]), [])
    assert 'href="n/s/x/smoke-emulated/report.html"' in page


def test_a_reproduction_that_fails(tmp_path: Path) -> None:
    choice = Choice(reproductions=(Reproduction(paper="no-such-paper"),))
    night = run_night(tmp_path, choice, 600, lambda line: None)
    assert night.ran[0].state == "failed"
    assert "code 2" in night.ran[0].detail
    assert night.code == 1


def test_who_waited_longest_comes_first() -> None:
    a, b, c = (Reproduction(paper=name) for name in "abc")
    history = [Row("20260102", "a/smoke", "m", 1), Row("20260101", "b/smoke", "m", 1)]
    assert longest_waiting_first([a, b, c], history, {}) == [c, b, a]


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
