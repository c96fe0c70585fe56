"""Computations as points of a sweep."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from testbed.errors import InputError
from testbed.sweep.computation import Computation, computation
from testbed.sweep.lock import only_sweep
from testbed.sweep.point import Done, Task
from testbed.sweep.run import Effort, run_computations
from testbed.sweep.tables import computed
from testbed.sweep.tasks import attempt, how_it_ended, last_words
from testbed.sweep.wanted import Wanted

LAW = "experiments.shadow_tco.computations:law"
SETTING = {"nodes": 12, "topics": 4, "smallest": 1, "largest": 2, "rounds": 2}


def law(seed: int, system: str = "naive") -> Computation:
    return computation(LAW, {"setting": SETTING, "seed": seed, "systems": [system], "low_every": 2})


@pytest.mark.parametrize(
    ("value", "said"),
    [({1, 2}, "type set"), ((1, 2), "type tuple"), (float("nan"), "nan"), ({1: 2}, "key of type int"),
     ([{"deep": object()}], "deep: a value of type object")],
)  # fmt: skip
def test_what_a_file_would_not_give_back_is_refused(value: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        computation(LAW, {"number": value})
    assert said in str(error.value)
    assert "number" in str(error.value)


@pytest.mark.parametrize("function", ["experiments.shadow_tco.points:laws", "no.such:thing", "nothing"])
def test_a_function_that_is_not_there_is_refused(function: str) -> None:
    with pytest.raises(InputError, match="no function"):
        computation(function, {})


def test_other_arguments_or_another_code_are_another_point(tmp_path: Path) -> None:
    task, made = Task("p", "", "", "", 0, {}), law(3)
    wanted = Wanted(task, made)
    wanted.prepare(tmp_path)
    done = attempt(tmp_path, retries=0, timeout_s=600)
    assert (done.code, done.reason) == (0, "")
    assert wanted.finished(tmp_path) == done
    assert Wanted(task, law(4)).finished(tmp_path) is None
    assert Wanted(task, Computation(made.function, made.arguments, "changed")).finished(tmp_path) is None
    assert "churn round 2 of 2" in (tmp_path / "log.txt").read_text()


SECOND = """
import os
from pathlib import Path
import pandas

def second(report, mark):
    if not Path(mark).exists():
        Path(mark).touch()
        raise OSError("not yet")
    return {"numbers": pandas.DataFrame({"n": [1]})}

def killed(report, mark, times):
    said = Path(mark).read_text() if Path(mark).exists() else ""
    if len(said) < times:
        Path(mark).write_text(said + "x")
        os.kill(os.getpid(), 9)
    return {"numbers": pandas.DataFrame({"n": [1]})}
"""


def test_a_point_that_fails_once_is_done_at_its_second_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fails_once.py").write_text(SECOND)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    wanted = Wanted(
        Task("p", "", "", "", 0, {}),
        Computation("fails_once:second", {"mark": str(tmp_path / "mark")}, "code"),
    )
    place = tmp_path / "p"
    wanted.prepare(place)
    done = attempt(place, retries=2, timeout_s=600)
    assert (done.code, done.reason) == (0, "")
    assert wanted.finished(place) == done
    log = (place / "log.txt").read_text()
    assert log.count("--- try") == 2  # the third was not needed
    assert "OSError: not yet" in log


@pytest.mark.parametrize(("times", "reason"), [(1, ""), (2, "killed by signal 9 (SIGKILL)")])
def test_a_point_that_was_killed_is_tried_again_and_the_signal_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int, reason: str
) -> None:
    (tmp_path / "dies.py").write_text(SECOND)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    arguments = {"mark": str(tmp_path / "mark"), "times": times}
    wanted = Wanted(Task("p", "", "", "", 0, {}), Computation("dies:killed", arguments, "code"))
    wanted.prepare(tmp_path / "p")
    done = attempt(tmp_path / "p", retries=1, timeout_s=600)
    assert (done.code == 0, done.reason) == (times == 1, reason)
    assert (tmp_path / "p" / "log.txt").read_text().count("--- try") == 2


def test_how_a_process_ended_is_said_in_words(tmp_path: Path) -> None:
    assert [how_it_ended(code) for code in (3, -15, -40)] == [
        "exit code 3", "killed by signal 15 (SIGTERM)", "killed by signal 40",
    ]  # fmt: skip
    log = tmp_path / "log.txt"
    log.write_text("--- try 1\nold\n--- try 2\noverlay: ready\nlast\n")
    assert last_words(log) == "overlay: ready | last"


def test_a_second_sweep_in_the_folder_is_refused_while_the_first_is_at_work(tmp_path: Path) -> None:
    wanted = {"a": law(3)}
    with (
        only_sweep(tmp_path / "squares"),
        pytest.raises(InputError, match="another sweep is at work in this folder"),
    ):
        run_computations("squares", wanted, tmp_path, "local[2]", lambda line: None)
    with only_sweep(tmp_path / "squares"):
        pass


def test_a_point_whose_result_did_not_arrive_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a cluster without a shared folder."""
    spark = SimpleNamespace(stop=lambda: None)
    monkeypatch.setattr("testbed.analysis.spark.session.start", lambda master: spark)
    monkeypatch.setattr(
        "testbed.sweep.run._run",
        lambda spark, folders, say, effort: [Done(f.name, 0, "tables", "", 1.0) for f in folders],
    )
    result = run_computations("laws", {"one": law(1)}, tmp_path, "local[2]", lambda line: None)
    assert result.done == {}
    assert "is the folder shared" in result.failed["one"].reason


@pytest.mark.spark
def test_computations_on_spark_fail_alone_and_are_resumed(tmp_path: Path) -> None:
    """On executors in processes of their own."""
    good = {"one": law(1)}
    said: list[str] = []
    first = run_computations(
        "laws", {"bad": law(1, "no-system"), **good}, tmp_path, "local-cluster[2,1,1024]", said.append,
        Effort(1, 600),
    )  # fmt: skip
    assert set(first.done) == set(good)
    assert list(first.failed) == ["bad"]
    assert first.failed["bad"].reason.startswith("ValueError: ")
    log = first.log("bad").read_text()
    assert log.count("--- try") == 2
    assert "Traceback" in log
    assert set(computed(first.folder, first.done, "rounds")["one"].seed) == {1}
    again = run_computations("laws", good, tmp_path, "no such master", said.append)
    assert (again.resumed, set(again.done)) == (1, set(good))  # so Spark was not even started
