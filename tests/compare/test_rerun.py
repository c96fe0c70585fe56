"""`testbed rerun`: the simulator repeats itself exactly, so its diff is empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.cli.app import main

pytestmark = pytest.mark.spark


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return int(ended.value.code or 0)


def test_a_simulation_repeats_itself(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topology = repository / "topologies" / "quickstart.yaml"
    assert run("deploy", topology, "--engine", "simulate", "--results", tmp_path) == 0
    first = (tmp_path / "quickstart" / "latest").resolve()
    capsys.readouterr()
    # `latest` is the first run now, and will be the second one when they are compared.
    assert run("rerun", tmp_path / "quickstart" / "latest", "--results", tmp_path) == 0
    second = (tmp_path / "quickstart" / "latest").resolve()
    assert second != first
    told = capsys.readouterr().out.splitlines()
    assert f"A {first}" in told
    assert f"B {second}" in told
    assert told[-1].startswith("same: ")
