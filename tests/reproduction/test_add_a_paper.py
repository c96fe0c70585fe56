"""docs/add-a-paper.md, word by word: a package of its own with a paper, done, gone on with and broken."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pandas
import pytest

from testbed.reproduction.verdict import read_verdicts

PAGE = Path(__file__).parents[2] / "docs" / "add-a-paper.md"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's package, as an installation leaves it on the path."""
    root = tmp_path_factory.mktemp("site")
    text = PAGE.read_text(encoding="utf-8")
    for name, code in re.findall(r"```python\n# (\S+\.py)\n(.*?)```", text, re.DOTALL):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(code)
        (root / name).with_name("__init__.py").touch()
    [toml] = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    [(group, entries)] = tomllib.loads(toml)["project"]["entry-points"].items()
    info = root / "birthdays-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: birthdays\nVersion: 1\n")
    lines = [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return root


def reproduce(package: Path, results: Path, *options: str) -> subprocess.CompletedProcess[str]:
    testbed = str(Path(sys.executable).with_name("testbed"))
    words = [testbed, "reproduce", "birthdays", "--results", str(results), *options]
    environment = os.environ | {"PYTHONPATH": str(package), "COLUMNS": "200"}
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)


def outcomes(results: Path) -> dict[str, str]:
    return {v.claim: v.outcome for v in read_verdicts(results / "birthdays" / "smoke" / "verdicts.json")}


@pytest.mark.spark
@pytest.mark.slow
def test_the_paper_of_the_page(package: Path, tmp_path: Path) -> None:
    first = reproduce(package, tmp_path / "a", "--master", "local[2]")
    assert first.returncode == 0, first.stderr
    assert "sizes: 6 points, 0 already done" in first.stderr
    assert "2 pass, 0 fail, 0 unknown" in first.stdout
    folder = tmp_path / "a" / "birthdays" / "smoke"
    assert [v.readings for v in read_verdicts(folder / "verdicts.json")] == [["leap"], ["leap"]]
    made = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if "runs" not in p.parts)
    assert made == [
        "figures", "figures/fig1.svg", "manifest.json", "points.csv", "tables", "tables/shares.csv",
        "verdicts.json",
    ]  # fmt: skip
    goes_on(package, folder, tmp_path / "b")
    a_changed_computation_is_done_again(package, folder, tmp_path / "c")


def goes_on(package: Path, folder: Path, results: Path) -> None:
    """A clone has what is committed and no runs: four points are there, one size is missing."""
    clone = results / "birthdays" / "smoke"
    shutil.copytree(folder, clone, ignore=shutil.ignore_patterns("runs", "figures"))
    for name in ("points.csv", "tables/shares.csv"):
        lines = (clone / name).read_text().splitlines(keepends=True)
        (clone / name).write_text("".join(x for x in lines if not x.startswith(("sizes,40-", "40,"))))
    judged = reproduce(package, results, "--only-done", "--master", "no such master")
    assert judged.returncode == 0, judged.stderr
    assert outcomes(results) == {"B1": "pass", "B2": "pass"}
    done = reproduce(package, results, "--master", "local[2]")
    assert done.returncode == 0, done.stderr
    assert "4 points are taken from the rows in" in done.stderr
    assert "sizes: 2 points, 0 already done" in done.stderr
    assert (clone / "tables" / "shares.csv").read_bytes() == (folder / "tables" / "shares.csv").read_bytes()
    assert json.loads((clone / "manifest.json").read_bytes())["failed"] == []


def a_changed_computation_is_done_again(package: Path, folder: Path, results: Path) -> None:
    """And fails here for one size: what rests on it is unknown, the others' rows are written."""
    clone = results / "birthdays" / "smoke"
    shutil.copytree(folder, clone, ignore=shutil.ignore_patterns("runs"))
    broken = shutil.copytree(package, results / "site")
    points = broken / "birthdays" / "points.py"
    points.write_text(
        points.read_text().replace("    hits = 0\n", "    hits = 0 if people != 40 else 1 / 0\n")
    )
    ended = reproduce(broken, results, "--master", "local[2]")
    assert ended.returncode == 1
    assert "taken from the rows" not in ended.stderr
    assert "sizes/40-1 failed: ZeroDivisionError: division by zero" in ended.stderr
    assert outcomes(results) == {"B1": "unknown", "B2": "unknown"}
    [first, _] = read_verdicts(clone / "verdicts.json")
    assert first.reason == "rests on what failed: 40 people, seed 1; 40 people, seed 2; 200 groups, 2 seed(s)"
    assert set(pandas.read_csv(clone / "tables" / "shares.csv").people) == {10, 23}
    assert set(pandas.read_csv(clone / "points.csv").point) == {"10-1", "10-2", "23-1", "23-2"}


def test_a_paper_that_nobody_installed_is_told(tmp_path: Path) -> None:
    done = reproduce(tmp_path, tmp_path)
    assert done.returncode == 2
    assert "no experiment named 'birthdays'" in done.stderr
    assert list(tmp_path.iterdir()) == []
