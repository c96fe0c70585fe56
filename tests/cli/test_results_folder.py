"""A results folder that cannot be made: told as the user's mistake, before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.cli import app as application

TOPOLOGY = Path(__file__).parents[2] / "topologies" / "quickstart.yaml"


@pytest.mark.parametrize(
    "verb",
    [
        ["simulate", str(TOPOLOGY)],
        ["deploy", str(TOPOLOGY), "--engine", "simulate"],
        ["deploy", str(TOPOLOGY), "--on", "nobody@127.0.0.1"],
        ["sweep", "sweep.yaml", "--master", "local[1]"],
    ],
    ids=["simulate", "deploy", "deploy on", "sweep"],
)
@pytest.mark.parametrize("where", ["/proc/x", "plain/x"])
def test_it_is_named_with_the_reason(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verb: list[str],
    where: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain").write_text("no folder")
    (tmp_path / "sweep.yaml").write_text(f"name: s\ntopology: {TOPOLOGY}\n")
    with pytest.raises(SystemExit) as ended:
        application.main([*verb, "--results", where])
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert f"{where}/" in said
    assert "the folder for results cannot be made: " in said
    assert "\nfix: --results DIR" in said
