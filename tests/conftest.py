"""Shared by all tests: where the repository is, and honest skips for what this machine lacks.

A test marked `guest`, `spark` or `browser` is skipped with the reason where it cannot run. `make test` sets
the machine up first and then forbids these skips (TESTBED_NO_SKIP=1), so nothing is left out without a word.
"""

from __future__ import annotations

import os
import shutil
import signal
from functools import cache
from pathlib import Path

import hypothesis
import pytest

# No test asserts a time: on a busy machine any example may take long.
hypothesis.settings.register_profile(
    "testbed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("testbed")

ROOT = Path(__file__).resolve().parent.parent

# A shell starts background jobs with Ctrl-C ignored, and children inherit that: tests of it could not work.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite", action="store_true", help="scenario files and golden traces say what is said now"
    )


@pytest.fixture
def rewrite(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--rewrite"))


@pytest.fixture(scope="session")
def repository() -> Path:
    return ROOT


@cache
def without_guest() -> str | None:
    from testbed.emulation import kernel
    from testbed.errors import TestbedError

    try:
        kernel.require()
    except TestbedError as missing:
        return f"{missing}: make kernel"
    return None


@cache
def without_spark() -> str | None:
    return None if shutil.which("java") or os.environ.get("JAVA_HOME") else "no Java: make system-packages"


def without_browser() -> str | None:
    lacking = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    return f"no {' and no '.join(lacking)}: make system-packages" if lacking else None


NEEDS = {"guest": without_guest, "spark": without_spark, "browser": without_browser}


def pytest_runtest_setup(item: pytest.Item) -> None:
    if os.environ.get("TESTBED_NO_SKIP") == "1":
        return
    for mark, lacking in NEEDS.items():
        if item.get_closest_marker(mark) and (reason := lacking()):
            pytest.skip(reason)
