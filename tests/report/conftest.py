"""The golden run, a page made from it, and one browser for all tests of pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.cli.report import write_page
from tests.report.webdriver import Browser

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A copy of the committed run, to be written into."""
    return Path(shutil.copytree(GOLDEN, tmp_path / "quickstart" / "20261116T060022-0c17"))


@pytest.fixture(scope="module")
def golden_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "run"
    shutil.copytree(GOLDEN, folder)
    return write_page(folder)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def artifacts(repository: Path) -> Path:
    return repository / "artifacts" / "report"
