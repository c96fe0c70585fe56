"""The folder that a reproduction leaves, and how the command ends."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from testbed.cli import reproduce as verb
from testbed.reproduction.figures.plot import Figure, Series
from testbed.reproduction.request import Request
from testbed.reproduction.results import ResultFolder
from testbed.reproduction.verdict import Verdict

OLD = ("fig1.svg", "fig1.png", "fig2.svg", "fig2-zipf.svg")


def figure(id_: str) -> Figure:
    return Figure(id_, "delay", "X", "ms", [Series("POP", [1, 2], [3.0, 5.0])])


def remade(results: Path, figures: tuple[str, ...], whole: bool = False) -> set[str]:
    """The figures of a folder that had old ones, after figure 1 was drawn again and no other could be."""
    request = Request("paper", "smoke", results, figures)
    drawn = request.folder / "figures"
    (request.folder / "tables").mkdir(parents=True)
    drawn.mkdir()
    for name in OLD:
        (drawn / name).write_text("old")
    (request.folder / "tables" / "gone.csv").write_text("old")
    folder = ResultFolder(
        request, whole=whole, figure_of=lambda id_: id_.removeprefix("fig").partition("-")[0]
    )
    folder.figure(figure("fig1"))
    folder.close([])
    assert (drawn / "fig1.svg").read_text() != "old"
    assert (request.folder / "tables" / "gone.csv").exists() == (bool(figures) and not whole)
    return {path.name for path in drawn.iterdir()} - {"fig1.svg"}


@pytest.mark.parametrize(
    ("figures", "whole", "left"),
    [
        ((), False, set()),
        (("1",), True, set()),
        (("1", "2"), False, set()),
        (("1",), False, {"fig2.svg", "fig2-zipf.svg"}),
    ],
)
def test_figures_that_were_asked_for_and_not_drawn_again_are_removed(
    tmp_path: Path, figures: tuple[str, ...], whole: bool, left: set[str]
) -> None:
    assert remade(tmp_path, figures, whole) == left


def command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *options: str, fails: bool = False, outcome: str = "pass"
) -> Result:
    def reproduce(study: object, request: Request) -> list[Verdict]:
        if fails:
            request.fail("laws/zipf", "out of memory", tmp_path / "log.txt")
        return [Verdict("S1", outcome, "2", "few links", "VI", "few", "3")]  # type: ignore[arg-type]

    monkeypatch.setattr("testbed.reproduction.reproduce.reproduce", reproduce)
    words = ["shadow-tco", "--results", str(tmp_path), *options]
    return CliRunner().invoke(verb.command, words, standalone_mode=False)


def test_a_point_that_failed_is_told_and_the_command_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ended = command(monkeypatch, tmp_path, fails=True)
    assert ended.return_value == 1
    assert f"laws/zipf failed: out of memory\n  log: {tmp_path / 'log.txt'}\n" in ended.stderr
    assert "1 point failed: laws/zipf" in ended.stderr


def test_a_claim_that_failed_is_no_error_unless_it_should_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert command(monkeypatch, tmp_path, outcome="fail").return_value == 0
    assert command(monkeypatch, tmp_path, "--strict", outcome="fail").return_value == 1
    assert command(monkeypatch, tmp_path, "--strict", outcome="unknown").return_value == 0


def test_no_seeds_at_all_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ended = command(monkeypatch, tmp_path, "--seeds", "0")
    assert isinstance(ended.exception, click.UsageError)  # exit code 2
    assert "'--seeds': 0 is not in the range" in ended.exception.format_message()
