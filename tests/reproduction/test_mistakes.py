"""Mistakes in a paper's own code: told with their file and line as the paper's, never as the testbed's."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from testbed.errors import InputError
from testbed.reproduction.mistakes import told_as_the_papers
from testbed.reproduction.papers import load
from testbed.reproduction.reproduce import reproduce
from testbed.reproduction.request import Request

PAPER = """
from testbed.reproduction.study import Part, Scale, Study

def points(ask):
    return {POINTS}

def cases(ask, found):
    return CASES

STUDY = Study("odd", "nobody", [Part({"smoke": Scale(1)}, ("1",), points, cases)])
"""


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> EntryPoint:
    """A module of another package with this text; each test has a name of its own, as imports are kept."""
    name = f"odd_{abs(hash(request.node.nodeid))}"
    (tmp_path / f"{name}.py").write_text(request.param)
    monkeypatch.syspath_prepend(tmp_path)
    return EntryPoint("odd", f"{name}:STUDY", "pubsub_testbed.papers")


def refused(paper: EntryPoint, results: Path) -> InputError:
    with pytest.raises(InputError) as told:
        reproduce(load(paper), Request("odd", "smoke", results, report=lambda line: None))
    return told.value


@pytest.mark.parametrize(
    ("paper", "line", "said"),
    [
        ("x = 1\nSTUDY = 1 / 0\n", 2, "cannot be imported: ZeroDivisionError: division by zero"),
        ("STUDY = (\n", 1, "cannot be imported: SyntaxError"),
        ("import no_such_module\n", 1, "cannot be imported: ModuleNotFoundError: No module named"),
        ("from testbed.reproduction.reading import Reading\nR = Reading('a', 'b', ('c',), 'd', 'e')\n", 2,
         "cannot be imported: ValueError: reading a: 'd' is none of its choices"),
        (PAPER.replace("{POINTS}", "{'all': nothing}"), 5, "cannot say its points: NameError"),
        (PAPER.replace("{POINTS}", "{}").replace("CASES", "found.no_such"), 8,
         "cannot judge and draw: AttributeError"),
    ],
    indirect=["paper"],
)  # fmt: skip
def test_a_mistake_is_told_with_its_place(paper: EntryPoint, line: int, said: str, tmp_path: Path) -> None:
    error = refused(paper, tmp_path / "results")
    assert (Path(str(error.file)).parent, error.line) == (tmp_path, line)
    assert said in error.message
    assert error.exit_code == 2


@pytest.mark.parametrize(
    ("paper", "said"),
    [(PAPER.replace("{POINTS}", "{'all': [7]}"), "its points are Points, not int"),
     (PAPER.replace("{POINTS}", "{}").replace("CASES", "[7]"), "its cases are Cases, not int")],
    indirect=["paper"],
)  # fmt: skip
def test_what_it_returns_is_checked(paper: EntryPoint, said: str, tmp_path: Path) -> None:
    assert said in refused(paper, tmp_path / "results").message


@pytest.mark.parametrize("paper", ["STUDY = 7\n"], indirect=True)
def test_an_entry_point_to_something_else_is_told(paper: EntryPoint) -> None:
    with pytest.raises(InputError, match="leads to no Study"):
        load(paper)


@pytest.mark.parametrize("paper", ["study = 7\n"], indirect=True)
def test_an_entry_point_to_nothing_is_told(paper: EntryPoint) -> None:
    with pytest.raises(InputError, match=r"cannot be imported: module .* has no attribute 'STUDY'"):
        load(paper)


def test_a_defect_of_the_testbed_stays_one() -> None:
    with pytest.raises(InputError, match="said by the testbed"), told_as_the_papers("odd", "be imported"):
        raise InputError("said by the testbed")
