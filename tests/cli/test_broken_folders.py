"""A run folder that lacks something, or has what cannot be read: every verb says so in a clear word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from testbed.analysis.sample.run_folder import make_run
from testbed.cli.app import main

Spoil = Callable[[Path], object]
SPOILED: dict[str, Spoil] = {
    "no plan": lambda run: (run / "plan.json").unlink(),
    "torn plan": lambda run: (run / "plan.json").write_text("{"),
    "torn manifest": lambda run: (run / "manifest.json").write_text('{"run": '),
    "no manifest": lambda run: (run / "manifest.json").unlink(),
}
VERBS: dict[str, tuple[str, ...]] = {
    "analyze": (),
    "report": (),
    "rerun": ("--engine", "simulate", "--no-diff"),
    "status": (),
    "logs": ("c2",),
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results" / "sample" / "r1"
    make_run(folder, 3, 5, run="r1")
    (folder / "tables").mkdir()
    return folder


def said(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out + err


@pytest.mark.parametrize("spoil", SPOILED)
@pytest.mark.parametrize("verb", VERBS)
def test_what_is_missing_or_torn_is_named(
    run: Path, verb: str, spoil: str, capsys: pytest.CaptureFixture[str]
) -> None:
    SPOILED[spoil](run)
    code, text = said(capsys, verb, run, *VERBS[verb])
    assert code == 2, text
    assert text.startswith("error: ")
    assert str(run) in text
    assert "defect" not in text
    assert "claim" not in text, "it is no paper's folder"


@pytest.mark.parametrize("verb", ["events", "report"])
def test_a_link_to_itself_is_no_log(run: Path, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "events" / "loop.jsonl").symlink_to("loop.jsonl")
    code, text = said(capsys, verb, run)
    assert code == 0, text


def test_one_broken_folder_does_not_hide_the_others(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_run(run.with_name("r2"), 3, 5, run="r2")
    (run / "manifest.json").write_text("{")
    for kept in ("r1", "r2"):
        (run.with_name(kept) / "deployment.json").write_text("{")
    code, text = said(capsys, "status")
    assert code == 0, text
    assert "unreadable" in text
    assert "r2" in text
