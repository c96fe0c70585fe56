"""The pages in a real browser: what a person would notice."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from testbed.cli.report import write_page
from tests.report.large_run import large_run
from tests.report.webdriver import Browser

pytestmark = pytest.mark.browser

COLUMN = """const [box, column] = arguments;
return [...document.querySelectorAll('.table')[box].querySelectorAll('tbody tr')]
  .filter(r => !r.hidden).map(r => r.cells[column].textContent);"""
CLICK = (
    "document.querySelectorAll('.table')[arguments[0]].querySelectorAll('th button')[arguments[1]].click();"
)
TYPE = """const input = document.querySelector('input[type=search]');
input.value = arguments[0]; input.dispatchEvent(new Event('input'));"""
DELAYS = """return [...document.querySelectorAll('.table')]
  .findIndex(t => t.textContent.includes('Delay per group'));"""
BACKGROUND = "return getComputedStyle(document.body).backgroundColor;"
SIDEWAYS = "return document.documentElement.scrollWidth - document.documentElement.clientWidth;"
LOAD_MS = """const done = arguments[0];
const look = () => { const end = performance.getEntriesByType('navigation')[0].loadEventEnd;
  if (end) done(end); else setTimeout(look, 50); };
look();"""


@pytest.fixture
def page(browser: Browser, golden_page: Path) -> Browser:
    browser.size(1200)
    browser.media()
    browser.open(golden_page.as_uri())
    return browser


def test_no_console_errors_and_all_figures(page: Browser, artifacts: Path) -> None:
    assert page.console() == []
    shown = page.run(
        "return [...document.querySelectorAll('figure svg')].map(s => {"
        "const b = s.getBoundingClientRect();"
        "const text = name => s.querySelector(name).textContent;"
        "return [b.width, b.height, text('title'), text('desc')]})"
    )
    assert len(shown) == 10
    for width, height, title, description in shown:
        assert width > 300
        assert height > 50
        assert title
        assert description
    page.screenshot(artifacts / "run-light.png")
    assert (artifacts / "run-light.png").stat().st_size > 10_000


def test_sort(page: Browser) -> None:
    box = page.run(DELAYS)

    def numbers() -> list[float]:
        return [float(v.replace(",", "")) for v in page.run(COLUMN, box, 2)]

    before = numbers()
    page.run(CLICK, box, 2)
    assert numbers() == sorted(before)
    page.run(CLICK, box, 2)
    assert numbers() == sorted(before, reverse=True)
    page.run(CLICK, box, 1)
    names = page.run(COLUMN, box, 1)
    assert names == sorted(names, key=str.lower)


def test_filter(page: Browser) -> None:
    box = page.run(DELAYS)
    rows = page.run(COLUMN, box, 0)
    page.run(TYPE, "PUBLISHER")
    assert page.run(COLUMN, box, 0) == ["publisher"] * 3
    page.run(TYPE, "")
    assert page.run(COLUMN, box, 0) == rows


def test_phone_has_no_sideways_scroll(page: Browser, artifacts: Path) -> None:
    page.size(360, 740, phone=True)
    assert page.run("return innerWidth;") == 360
    assert page.run(SIDEWAYS) <= 0
    page.screenshot(artifacts / "run-phone.png")


def test_dark(page: Browser, artifacts: Path) -> None:
    light = page.run(BACKGROUND)
    page.media(scheme="dark")
    assert page.run(BACKGROUND) != light
    assert page.run(BACKGROUND) == "rgb(21, 23, 26)"
    page.screenshot(artifacts / "run-dark.png")


def test_print(page: Browser) -> None:
    hidden = "return getComputedStyle(document.querySelector('input[type=search]')).display;"
    assert page.run(hidden) != "none"
    page.media("print", "dark")
    assert page.run(hidden) == "none"
    # Paper is white, whatever the screen likes.
    assert page.run(BACKGROUND) == "rgb(255, 255, 255)"


def test_large_run_loads_quickly(browser: Browser, tmp_path: Path, artifacts: Path) -> None:
    path = write_page(large_run(tmp_path / "large"))
    assert path.stat().st_size < 2_000_000
    browser.size(1200)
    browser.media()
    took_ms = []
    for _ in range(3):  # the aim is 2 s; a busy machine gets more, and three tries
        browser.open(path.as_uri())
        assert browser.console() == []
        took_ms.append(browser.run_until_done(LOAD_MS))
        if took_ms[-1] < 10_000:
            break
    print(f"{path.stat().st_size / 1e3:.0f} kB, loaded in {min(took_ms):.0f} ms")
    assert min(took_ms) < 10_000
    browser.screenshot(artifacts / "large.png")


def test_index(browser: Browser, golden: Path, artifacts: Path) -> None:
    write_page(golden)
    other = golden.with_name("20261116T070000-0000")
    shutil.copytree(golden, other)
    (other / "report.html").unlink()
    (other / "verdicts.json").unlink()  # not analysed, so it gets no page
    browser.size(360, 740, phone=True)
    browser.media()
    browser.open(write_page(golden.parent.parent).as_uri())
    assert browser.console() == []
    assert browser.run(SIDEWAYS) <= 0
    links = browser.run("return [...document.querySelectorAll('td a')].map(a => a.getAttribute('href'));")
    assert links == [f"quickstart/{golden.name}/report.html"]
    browser.screenshot(artifacts / "index-phone.png")
