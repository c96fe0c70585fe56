"""The page of the committed run, read as text."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas
import pytest

from testbed.cli.report import write_page
from testbed.errors import InputError
from testbed.report.run_page import checks_badge


def page_of(folder: Path) -> str:
    return write_page(folder).read_text(encoding="utf-8")


def test_says_what_ran(golden: Path) -> None:
    page = page_of(golden)
    manifest = json.loads((golden / "manifest.json").read_bytes())
    for text in (manifest["run"], "2026-11-16 06:00 UTC", "guest, virtual time", manifest["commit"][:12]):
        assert text in page
    for name, version in manifest["versions"].items():
        assert f"{name} {version}" in page
    assert f"testbed rerun {golden}" in page


def test_the_command_that_repeats_it_is_as_one_would_type_it(
    golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(golden.parent.parent)
    latest = golden.with_name("latest")
    latest.symlink_to(golden.name)
    assert f"<code>testbed rerun quickstart/{golden.name}</code>" in page_of(latest)


def test_every_figure_has_a_text_alternative(golden: Path) -> None:
    page = page_of(golden)
    drawings = re.findall(r'<svg class="chart" role="img"[^>]*aria-labelledby="(t\d+) (d\d+)"', page)
    assert len(drawings) == page.count("<svg") == page.count("<figure") == 10
    for title, description in drawings:
        assert re.search(rf'<title id="{title}">[^<]+</title><desc id="{description}">[^<]+</desc>', page)


def test_needs_nothing_from_elsewhere(golden: Path) -> None:
    page = page_of(golden)
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert "@import" not in page
    assert "url(http" not in page


def test_agreement_of_log_and_wire_is_stated(golden: Path) -> None:
    assert "Both witnesses agree: all 212 messages" in page_of(golden)
    path = golden / "tables" / "overhead.parquet"
    table = pandas.read_parquet(path)
    table.loc[table.type == "publication", "difference"] = -3
    table.to_parquet(path)
    assert "The witnesses differ for publication: " in page_of(golden)
    table["wire_messages"] = float("nan")
    table.to_parquet(path)
    assert "No capture to compare with" in page_of(golden)


def test_faults_are_bands_of_the_timeline(golden: Path) -> None:
    first = json.loads((golden / "manifest.json").read_bytes())["first_us"]
    lines = [
        {"t_us": first + 10_000_000, "kind": "FAULT_STARTED", "type": "link_down", "detail": "l1"},
        {"t_us": first + 20_000_000, "kind": "FAULT_ENDED", "type": "link_down", "detail": "l1"},
        {"t_us": first + 30_000_000, "kind": "FAULT_STARTED", "type": "kill", "detail": "B2"},
    ]
    with (golden / "events" / "harness.jsonl").open("a") as log:
        log.writelines(json.dumps(line) + "\n" for line in lines)
    page = page_of(golden)
    assert page.count('class="band"') == 4  # in deliveries and in delays over time
    assert "link_down l1 from 10.0 to 20.0 s." in page
    assert "kill B2 from 30.0 to 47.1 s." in page  # to the end of the run


def test_failed_checks_and_warnings_are_shown(golden: Path) -> None:
    checks = json.loads((golden / "verdicts.json").read_bytes())
    checks[0] |= {"verdict": "fail", "reason": "<B7> is silent"}
    (golden / "verdicts.json").write_text(json.dumps(checks))
    manifest = json.loads((golden / "manifest.json").read_bytes())
    (golden / "manifest.json").write_text(json.dumps(manifest | {"warnings": ["the disk is nearly full"]}))
    page = page_of(golden)
    assert "8 of 9 checks pass" in page
    assert "&lt;B7&gt; is silent" in page
    assert "the disk is nearly full" in page


def test_links_are_ranked_by_bytes(golden: Path) -> None:
    page = page_of(golden)
    part = page[page.index("Network links: the 32 busiest") : page.index('<section id="checks">')]
    rows = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", part)[1:]]
    sizes = [int((r[5] if r[5] != "-" else r[3]).replace(",", "")) for r in rows]
    assert len(sizes) == 32
    assert sizes == sorted(sizes, reverse=True)


def test_a_run_without_tables_says_what_to_do(tmp_path: Path, golden: Path) -> None:
    for table in (golden / "tables").iterdir():
        table.unlink()
    (golden / "tables").rmdir()
    with pytest.raises(InputError, match="no tables"):
        write_page(golden)


def test_a_run_with_nothing_delivered_still_has_a_page(golden: Path) -> None:
    for table in (golden / "tables").iterdir():
        table.unlink()
    assert "Nothing was delivered." in page_of(golden)


def test_an_unknown_check_is_not_a_pass() -> None:
    assert checks_badge(["pass", "unknown"]) == '<span class="badge unknown">1 of 2 checks pass</span>'
    assert checks_badge(["pass", "unknown", "fail"]) == '<span class="badge fail">1 of 3 checks pass</span>'
    assert checks_badge(["pass"]) == '<span class="badge pass">1 of 1 checks pass</span>'


def test_torn_files_are_said_and_hide_nothing_else(golden: Path) -> None:
    (golden / "verdicts.json").write_text('[{"name": "every br')
    (golden / "tables" / "load.parquet").write_bytes(b"PAR1 torn")
    with (golden / "events" / "harness.jsonl").open("a") as log:
        log.write('{"t_us": 1, "kind": "FAULT_STA')
    page = page_of(golden)
    assert "Could not be read" in page
    assert "verdicts.json: " in page
    assert "tables/load.parquet: " in page
    assert "checks pass" not in page  # what cannot be read has not passed
    assert "Half of 115 deliveries" in page


def test_an_empty_results_folder_and_torn_results(tmp_path: Path) -> None:
    assert "No results yet" in write_page(tmp_path).read_text()
    paper = tmp_path / "some_paper" / "smoke"
    (paper / "figures").mkdir(parents=True)
    (paper / "verdicts.json").write_text('[{"claim": "C1"')
    with pytest.raises(InputError, match="cannot be read"):
        write_page(paper)
    assert "cannot be read" in write_page(tmp_path).read_text()


def test_the_index_comes_with_the_pages_that_are_missing(golden: Path) -> None:
    (golden.parent / "latest").symlink_to(golden.name)
    index = write_page(golden.parent.parent)
    assert f'href="quickstart/{golden.name}/report.html"' in index.read_text(encoding="utf-8")
    assert "fidelity" in (golden / "report.html").read_text(encoding="utf-8")
