"""The page of a reproduction, made from a drawn figure and two verdicts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from testbed.cli.report import write_page
from testbed.reproduction.figures.plot import Figure, Series, Stated, draw
from testbed.reproduction.verdict import Verdict, write_verdicts
from tests.report.webdriver import Browser


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    folder = tmp_path / "some_paper" / "smoke"
    for number in ("2", "3"):
        series = [Series("ours", [1, 2], [3, 4])]
        draw(Figure(f"fig{number}", "Degrees", "x", "y", series, [Stated("paper: 5", 5)]), folder / "figures")
    verdicts = [
        Verdict("C1", "pass", "2, 3", "it is <linear>", "VI", "linear", "r = 0.99"),
        Verdict("C2", "unknown", "3", "it is small", "VI", "1 %", "", "only the full scale can tell"),
    ]
    write_verdicts(folder / "verdicts.json", verdicts)
    manifest = {
        "paper": "some-paper",
        "scale": "smoke",
        "command": "testbed reproduce some-paper --scale smoke",
    }
    manifest |= {"commit": "0" * 40, "started": "2026-01-01T00:00:00+00:00"}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def test_claims_figures_and_command(paper: Path) -> None:
    page = write_page(paper).read_text()
    assert "testbed reproduce some-paper --scale smoke" in page
    assert '<span class="badge unknown">unknown</span>' in page
    assert "only the full scale can tell" in page
    assert "it is &lt;linear&gt;" in page
    assert "it is <linear>" not in page
    words = "y over x. ours: from 3 at 1 to 4 at 2. The paper states: paper: 5."
    assert page.count(f'role="img" aria-label="{words}"') == 2
    third = page[page.index('<section id="figure-3">') : page.index('<section id="repeat">')]
    assert "C1: it is &lt;linear&gt;" in third
    assert "C2: it is small" in third
    assert "not measured" in third


def test_figures_without_a_number_are_shown(paper: Path) -> None:
    """The deployed part of shadow-tco draws degree-guest and degree-simulate, with the same title."""
    part = paper.rename(paper.with_name("smoke-emulated"))
    for engine in ("guest", "simulate"):
        drawn = Figure(f"degree-{engine}", "Deployed degree", "x", "y", [Series("ours", [1, 2], [3, 4])], [])
        draw(drawn, part / "figures")
    write_verdicts(
        part / "verdicts.json", [Verdict("E1", "pass", "emulated", "nothing is lost", "-", "0", "0")]
    )
    page = write_page(part).read_text()
    assert "<h1>some-paper, smoke scale, emulated</h1>" in page
    for engine in ("guest", "simulate"):
        section = page[page.index(f'<section id="figure-degree-{engine}">') :].partition("</section>")[0]
        assert f"Deployed degree (degree-{engine})" in section
        assert '<svg role="img"' in section
    assert page.index("E1: nothing is lost") > page.index("degree-simulate.svg")


def test_a_claim_stands_beside_the_figure_of_its_law(paper: Path) -> None:
    series = [Series("ours", [1, 2], [3, 4])]
    draw(Figure("fig2-zipf", "Degrees", "x", "y", series, []), paper / "figures")
    verdicts = [Verdict(name, "pass", "2", "it is small", "VI", "1 %", "1 %") for name in ("C1", "C1-zipf")]
    write_verdicts(paper / "verdicts.json", verdicts)
    page = write_page(paper).read_text()
    starts = {n: page.index(f'<section id="figure-{n}">') for n in ("2", "2-zipf")}
    sections = {n: page[at:].partition("</section>")[0] for n, at in starts.items()}
    assert "C1: it is small" in sections["2"]
    assert "C1-zipf: it is small" not in sections["2"]
    assert "C1-zipf: it is small" in sections["2-zipf"]
    assert "Degrees (zipf)" in sections["2-zipf"]


def test_a_reproduction_that_did_not_finish_says_so(paper: Path) -> None:
    (paper / "manifest.json").unlink()
    assert "This reproduction did not finish" in write_page(paper).read_text()


@pytest.mark.browser
def test_in_the_browser(browser: Browser, paper: Path, artifacts: Path) -> None:
    browser.size(360, 740, phone=True)
    browser.media()
    browser.open(write_page(paper).as_uri())
    assert browser.console() == []
    assert browser.run("return document.documentElement.scrollWidth - innerWidth;") <= 0
    sizes = browser.run("return [...document.querySelectorAll('figure svg')].map(s => s.clientWidth);")
    assert len(sizes) == 2
    assert all(200 < size <= 360 for size in sizes)
    ids = browser.run("return [...document.querySelectorAll('[id]')].map(e => e.id);")
    assert len(ids) == len(set(ids))
    browser.screenshot(artifacts / "paper-phone.png")
