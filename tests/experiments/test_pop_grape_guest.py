"""The smoke scale with real brokers: 15 of them in the guest, four systems at two values of X, one seed."""

from __future__ import annotations

import json
from pathlib import Path

import pandas
import pytest

from testbed.reproduction.verdict import read_verdicts
from tests.emulation import deployments


@pytest.mark.guest
@pytest.mark.spark
@pytest.mark.slow
def test_the_smoke_scale_on_the_guest(tmp_path: Path) -> None:
    arguments = ("--scale", "smoke", "--engine", "guest", "--figure", "5a", "--figure", "6c")
    done = deployments.run("reproduce", "pop-grape", *arguments, "--results", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / "pop_grape" / "smoke-guest"
    runs = pandas.read_csv(folder / "tables" / "runs.csv")
    assert sorted(set(runs.system)) == ["POP", "baseline", "delay100", "load100"]
    assert sorted(set(runs.spread)) == [1, 8]
    assert set(runs.engine) == {"guest"}
    assert (runs.memory_mb > 1).all()  # of real processes
    outcome = {v.claim: v.outcome for v in read_verdicts(folder / "verdicts.json")}
    # What no setting can change: publishers move, and nothing is lost or doubled.
    assert outcome["G22"] == "pass"
    moves = pandas.read_csv(folder / "tables" / "relocations.csv")
    assert set(moves[moves.event == "migrated"].system) == {"POP", "load100", "delay100"}
    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert manifest["runs"] == 8
    assert manifest["failed"] == []
    for figure in ("fig5a", "fig6c"):
        assert (folder / "figures" / f"{figure}.svg").stat().st_size > 1000
