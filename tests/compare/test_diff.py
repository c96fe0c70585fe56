"""`testbed diff` on copies of the committed run, and on made-up reproductions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas
import pytest

from testbed.cli.app import main
from testbed.compare.page import diff_page
from testbed.compare.results import compare
from testbed.compare.text import as_text
from testbed.errors import InputError

GOLDEN = Path(__file__).parents[1] / "report" / "golden"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return Path(shutil.copytree(GOLDEN, tmp_path / "other"))


def edit_json(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_bytes()) | changes))


def slower(run: Path) -> None:
    path = run / "tables" / "delay.parquet"
    table = pandas.read_parquet(path)
    table.assign(mean_us=table.mean_us * 1.5).to_parquet(path)


def reproduction(path: Path, edges: int, outcome: str) -> Path:
    (path / "tables").mkdir(parents=True)
    frame = pandas.DataFrame({"system": ["naive"], "seed": [1], "round": [0], "edges": [edges]})
    frame.to_csv(path / "tables" / "rounds.csv", index=False)
    (path / "verdicts.json").write_text(json.dumps([{"claim": "C1", "outcome": outcome}]))
    (path / "manifest.json").write_text(json.dumps({"paper": "p", "commit": "1" * 40}))
    return path


def test_a_copy_is_the_same_even_if_made_elsewhere(other: Path) -> None:
    edit_json(other / "manifest.json", kernel="another")
    found = compare(GOLDEN, other)
    assert found.same
    assert [(f.what, f.b) for f in found.facts] == [("kernel", "another")]
    assert "same: 11 tables, no difference" in as_text(found)


def test_a_slower_run(other: Path) -> None:
    slower(other)
    found = compare(GOLDEN, other)
    assert not found.same
    assert [t.table for t in found.tables if not t.same] == ["delay"]
    assert "different: 1 of 11 tables differ" in as_text(found)
    page = diff_page(found)
    assert "<h2>delay</h2>" in page
    assert "mean_us" in page
    assert "<h2>The same in both</h2><p>deliveries, fidelity" in page


def test_a_missing_table_and_a_changed_verdict(other: Path) -> None:
    (other / "tables" / "wire.parquet").unlink()
    checks = json.loads((other / "verdicts.json").read_bytes())
    checks[3]["verdict"] = "unknown"
    (other / "verdicts.json").write_text(json.dumps(checks))
    text = as_text(compare(GOLDEN, other))
    assert "tables only in A: wire" in text
    assert "wire agrees with logs: pass -> unknown" in text


def test_reproductions(tmp_path: Path) -> None:
    a, b = reproduction(tmp_path / "a", 10, "pass"), reproduction(tmp_path / "b", 12, "fail")
    text = as_text(compare(a, b))
    assert "C1: pass -> fail" in text
    assert "edges: 1 rows differ, most 10 -> 12 at naive, 1, 0 (+2, 16.67%)" in text


def test_a_run_is_not_compared_with_a_paper(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one is a run, the other a paper"):
        compare(GOLDEN, reproduction(tmp_path / "paper", 1, "pass"))


def diff_command(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["diff", *map(str, words)])
    return int(ended.value.code or 0)


def test_exit_codes(other: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert diff_command(GOLDEN, other) == 0
    slower(other)
    assert diff_command(GOLDEN, other, "--page", tmp_path / "diff.html") == 1
    assert "mean_us" in capsys.readouterr().out
    assert (tmp_path / "diff.html").read_text().startswith("<!doctype html>")
    assert diff_command(GOLDEN, other, "--tolerance", "0.5") == 0
    assert diff_command(GOLDEN, other, "--within", "10s") == 0
    assert diff_command(GOLDEN, other, "--within", "soon") == 2
    assert diff_command(GOLDEN, tmp_path / "nowhere") == 2
    assert diff_command(GOLDEN) == 2
